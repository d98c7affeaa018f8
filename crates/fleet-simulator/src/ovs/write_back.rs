//! From changed rows back to the model: collect what nobody refers to, check, rebuild the switch.
//!
//! What the database does not know (flows, links) stays as it was in the model; what is new starts as a fresh switch
//! would: an internal port opens, a device that the host does not have cannot.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};
use uuid::Uuid;

use crate::model::{Bond, Bridge, Interface, InterfaceKind, Port, Switch};

use super::cells::atoms;
use super::rows::{ROOT, Row, Tables};
use super::schema::OPEN_VSWITCH;

/// Removes rows of non-root tables that no row refers to, again and again until none is left.
pub(super) fn collect(tables: &mut Tables) {
    loop {
        let mut referred: BTreeSet<(&str, Uuid)> = BTreeSet::new();
        for (_, row, column, target) in references(tables) {
            referred.extend(uuids(row, column).into_iter().map(|uuid| (target, uuid)));
        }
        let mut removed = false;
        for table in OPEN_VSWITCH.iter().filter(|table| !table.is_root) {
            if let Some(rows) = tables.get_mut(table.name) {
                let before = rows.len();
                rows.retain(|uuid, _| referred.contains(&(table.name, *uuid)));
                removed |= rows.len() < before;
            }
        }
        if !removed {
            return;
        }
    }
}

/// References lead somewhere, and names are unique.
pub(super) fn check(tables: &Tables) -> Result<(), Json> {
    for (table, row, column, target) in references(tables) {
        for uuid in uuids(row, column) {
            if !tables.get(target).is_some_and(|rows| rows.contains_key(&uuid)) {
                let details = format!(
                    "Table {table} column {column} row references nonexistent row {uuid} in table {target}."
                );
                return Err(json!({ "error": "referential integrity violation", "details": details }));
            }
        }
    }
    for table in ["Bridge", "Port", "Interface"] {
        let mut names = BTreeSet::new();
        for row in tables.get(table).into_iter().flat_map(BTreeMap::values) {
            let name = text(row, "name").unwrap_or_default();
            if !names.insert(name.clone()) {
                let details = format!(
                    "Transaction causes multiple rows in \"{table}\" table to have identical values ({name}) for index on column \"name\"."
                );
                return Err(json!({ "error": "constraint violation", "details": details }));
            }
        }
    }
    Ok(())
}

/// Every column of every row that refers to a table.
fn references(tables: &Tables) -> impl Iterator<Item = (&'static str, &Row, &'static str, &'static str)> {
    OPEN_VSWITCH.iter().flat_map(move |table| {
        let rows = tables.get(table.name).into_iter().flat_map(BTreeMap::values);
        rows.flat_map(move |row| {
            table
                .columns
                .iter()
                .filter_map(move |(column, kind)| Some((table.name, row, *column, kind.refers_to()?)))
        })
    })
}

/// Makes the switch what the rows say.
pub(super) fn write_back(switch: &mut Switch, tables: &Tables) {
    let old = switch.clone();
    let row = |table: &str, uuid: Uuid| tables.get(table).and_then(|rows| rows.get(&uuid));
    let Some(root) = row("Open_vSwitch", ROOT) else { return };
    switch.external_ids = pairs(root, "external_ids");
    switch.ovs_version = text(root, "ovs_version");
    switch.bridges = uuids(root, "bridges")
        .into_iter()
        .filter_map(|uuid| Some((uuid, row("Bridge", uuid)?)))
        .map(|(uuid, columns)| {
            let known = old.bridges.iter().find(|bridge| bridge.uuid == uuid);
            let mut bridge = bridge(uuid, columns, known);
            for (uuid, columns) in
                uuids(columns, "ports").into_iter().filter_map(|uuid| Some((uuid, row("Port", uuid)?)))
            {
                let known = old.ports().find(|port| port.uuid == uuid);
                let interfaces = uuids(columns, "interfaces")
                    .into_iter()
                    .filter_map(|uuid| Some((uuid, row("Interface", uuid)?)));
                let mut fresh = Vec::new();
                for (uuid, columns) in interfaces {
                    let known = old
                        .ports()
                        .flat_map(|port| &port.interfaces)
                        .find(|interface| interface.uuid == uuid);
                    let next = next_ofport(&bridge, &fresh);
                    fresh.push(interface(uuid, columns, known, &bridge.name, next));
                }
                bridge.ports.push(port(uuid, columns, known, fresh));
            }
            bridge
        })
        .collect();
}

fn bridge(uuid: Uuid, row: &Row, known: Option<&Bridge>) -> Bridge {
    Bridge {
        uuid,
        name: text(row, "name").unwrap_or_default(),
        datapath_type: text(row, "datapath_type")
            .filter(|kind| !kind.is_empty())
            .unwrap_or_else(|| "system".to_owned()),
        fail_mode: text(row, "fail_mode"),
        ports: Vec::new(),
        // A new bridge in standalone mode forwards by one flow.
        flows: known.map_or_else(|| BTreeMap::from([(0, 1)]), |bridge| bridge.flows.clone()),
    }
}

fn port(uuid: Uuid, row: &Row, known: Option<&Port>, interfaces: Vec<Interface>) -> Port {
    let kept = known.and_then(|port| port.bond.as_ref());
    let first_up =
        interfaces.iter().find(|interface| interface.link_up).map(|interface| interface.name.clone());
    let active = kept
        .and_then(|bond| bond.active_member.clone())
        .filter(|name| interfaces.iter().any(|one| one.name == *name && one.link_up));
    let bond = Bond {
        mode: text(row, "bond_mode").unwrap_or_else(|| "active-backup".to_owned()),
        lacp: text(row, "lacp"),
        active_member: active.or(first_up),
    };
    Port {
        uuid,
        name: text(row, "name").unwrap_or_default(),
        tag: row.get("tag").and_then(Json::as_u64).and_then(|tag| u16::try_from(tag).ok()),
        bond: (interfaces.len() > 1).then_some(bond),
        interfaces,
    }
}

fn interface(uuid: Uuid, row: &Row, known: Option<&Interface>, bridge: &str, next_ofport: i32) -> Interface {
    let name = text(row, "name").unwrap_or_default();
    let mut interface = known.cloned().unwrap_or_else(|| fresh(uuid, &name, row, bridge, next_ofport));
    interface.external_ids = pairs(row, "external_ids");
    interface.options = pairs(row, "options");
    interface.name = name;
    interface
}

fn fresh(uuid: Uuid, name: &str, row: &Row, bridge: &str, next_ofport: i32) -> Interface {
    let kind = match text(row, "type").as_deref() {
        Some("internal") => InterfaceKind::Internal,
        Some("geneve") => InterfaceKind::Geneve,
        Some("patch") => InterfaceKind::Patch,
        _ => InterfaceKind::Physical,
    };
    let missing = kind == InterfaceKind::Physical;
    let [_, a, b, c, d, e, ..] = *uuid.as_bytes();
    Interface {
        uuid,
        name: name.to_owned(),
        kind,
        ofport: Some(match kind {
            InterfaceKind::Physical => -1,
            _ if name == bridge => 65_534,
            _ => next_ofport,
        }),
        admin_up: kind != InterfaceKind::Internal,
        link_up: kind != InterfaceKind::Internal,
        link_speed: None,
        mtu: (kind == InterfaceKind::Internal).then_some(1_500),
        mac: format!("02:{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}"),
        error: missing.then(|| format!("could not open network device {name} (No such device)")),
        external_ids: BTreeMap::new(),
        options: BTreeMap::new(),
        statistics: BTreeMap::from([("rx_packets".to_owned(), 0), ("tx_packets".to_owned(), 0)]),
    }
}

fn next_ofport(bridge: &Bridge, fresh: &[Interface]) -> i32 {
    let known = bridge.ports.iter().flat_map(|port| &port.interfaces).chain(fresh);
    let taken = known.filter_map(|interface| interface.ofport).filter(|ofport| *ofport < 65_534);
    taken.max().unwrap_or_default().max(0) + 1
}

fn text(row: &Row, column: &str) -> Option<String> {
    row.get(column).and_then(Json::as_str).map(str::to_owned)
}

fn uuids(row: &Row, column: &str) -> Vec<Uuid> {
    let atoms = row.get(column).map(atoms).unwrap_or_default();
    atoms.iter().filter_map(|atom| atom.get(1)?.as_str()?.parse().ok()).collect()
}

fn pairs(row: &Row, column: &str) -> BTreeMap<String, String> {
    let pairs = row.get(column).map(atoms).unwrap_or_default();
    let text = |pair: &Json, index: usize| pair.get(index).and_then(Json::as_str).map(str::to_owned);
    pairs.iter().filter_map(|pair| Some((text(pair, 0)?, text(pair, 1)?))).collect()
}
