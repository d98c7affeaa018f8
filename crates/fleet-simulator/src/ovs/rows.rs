//! The model's switch as rows. Pure: what a client sees is computed from the model each time, never kept beside it.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

use crate::model::{Bridge, Interface, InterfaceKind, Port, Switch};

use super::schema::{OPEN_VSWITCH, SERVER, Table, VERSION};

/// A row: columns by name, as on the wire.
pub(super) type Row = Map<String, Json>;

/// Rows by table and identity.
pub(super) type Tables = BTreeMap<&'static str, BTreeMap<Uuid, Row>>;

/// The MAC that stands for "no active member".
const NO_MAC: &str = "00:00:00:00:00:00";

/// Identity of the root row.
pub(super) const ROOT: Uuid = Uuid::from_u128(0x6f70_656e_7673_4769_8463_6800_0000_0001);

/// All rows of the switch's database.
pub(super) fn switch_tables(switch: &Switch) -> Tables {
    let mut tables: Tables = OPEN_VSWITCH.iter().map(|table| (table.name, BTreeMap::new())).collect();
    let mut put = |table: &'static str, uuid: Uuid, columns: Vec<(&str, Json)>| {
        tables.entry(table).or_default().insert(uuid, row(OPEN_VSWITCH, table, columns));
    };
    put("Open_vSwitch", ROOT, root(switch));
    for one in &switch.bridges {
        put("Bridge", one.uuid, bridge(one));
        for one in &one.ports {
            put("Port", one.uuid, port(one));
            for interface in &one.interfaces {
                put("Interface", interface.uuid, interface_columns(interface, one));
            }
        }
    }
    tables
}

/// Identity and counters of every interface.
pub(super) fn counter_rows(switch: &Switch) -> Vec<Row> {
    let row = |interface: &Interface| {
        let identity = ("_uuid".to_owned(), json!(["uuid", interface.uuid.to_string()]));
        Row::from_iter([identity, ("statistics".to_owned(), counters(&interface.statistics))])
    };
    switch.ports().flat_map(|port| &port.interfaces).map(row).collect()
}

/// All rows of `_Server`.
pub(super) fn server_tables() -> Tables {
    let database = |(number, name): (u128, &str)| {
        let columns = vec![
            ("name", json!(name)),
            ("model", json!("standalone")),
            ("connected", json!(true)),
            ("leader", json!(true)),
        ];
        (Uuid::from_u128(number), row(SERVER, "Database", columns))
    };
    BTreeMap::from([("Database", (1..).zip(["Open_vSwitch", "_Server"]).map(database).collect())])
}

/// A row with the defaults of its table.
pub(super) fn row(tables: &'static [Table], name: &str, columns: Vec<(&str, Json)>) -> Row {
    let known = super::schema::table(tables, name).map(|table| table.columns).unwrap_or_default();
    let mut row: Row = known.iter().map(|(name, kind)| ((*name).to_owned(), kind.default_value())).collect();
    row.extend(columns.into_iter().map(|(name, value)| (name.to_owned(), value)));
    row
}

fn root(switch: &Switch) -> Vec<(&'static str, Json)> {
    vec![
        ("bridges", refer(switch.bridges.iter().map(|bridge| bridge.uuid))),
        ("cur_cfg", json!(1)),
        ("next_cfg", json!(1)),
        ("datapath_types", json!(["set", ["netdev", "system"]])),
        ("iface_types", json!(["set", ["geneve", "internal", "patch", "system", "tap"]])),
        ("db_version", switch.ovs_version.as_ref().map_or_else(none, |_| json!(VERSION))),
        ("dpdk_initialized", json!(switch.dpdk_initialized)),
        ("dpdk_version", json!(switch.dpdk_version.as_deref().unwrap_or("none"))),
        ("external_ids", map(&switch.external_ids)),
        ("ovs_version", optional(switch.ovs_version.as_ref())),
    ]
}

fn bridge(bridge: &Bridge) -> Vec<(&'static str, Json)> {
    let (high, _) = bridge.uuid.as_u64_pair();
    vec![
        ("name", json!(bridge.name)),
        ("datapath_id", json!(format!("{:016x}", high >> 16))),
        ("datapath_type", json!(bridge.datapath_type)),
        ("datapath_version", json!("<unknown>")),
        ("fail_mode", optional(bridge.fail_mode.as_ref())),
        ("ports", refer(bridge.ports.iter().map(|port| port.uuid))),
    ]
}

fn port(port: &Port) -> Vec<(&'static str, Json)> {
    let mut columns = vec![
        ("name", json!(port.name)),
        ("tag", optional(port.tag)),
        ("interfaces", refer(port.interfaces.iter().map(|interface| interface.uuid))),
    ];
    if let Some(bond) = &port.bond {
        let named = |name: &String| port.interfaces.iter().find(|interface| interface.name == *name);
        let active = bond.active_member.as_ref().and_then(named);
        columns.push(("bond_mode", json!(bond.mode)));
        columns.push(("lacp", optional(bond.lacp.as_ref())));
        columns.push(("bond_active_slave", json!(active.map_or(NO_MAC, |interface| interface.mac.as_str()))));
    }
    columns
}

fn interface_columns(interface: &Interface, port: &Port) -> Vec<(&'static str, Json)> {
    let state = |up: bool| json!(if up { "up" } else { "down" });
    let kind = match interface.kind {
        InterfaceKind::Physical | InterfaceKind::Tap => "",
        InterfaceKind::Internal => "internal",
        InterfaceKind::Geneve => "geneve",
        InterfaceKind::Patch => "patch",
    };
    let driver = match interface.kind {
        InterfaceKind::Physical => Some("ice"),
        InterfaceKind::Tap => Some("tun"),
        InterfaceKind::Internal => Some("openvswitch"),
        InterfaceKind::Geneve | InterfaceKind::Patch => None,
    };
    let mut columns = vec![
        ("name", json!(interface.name)),
        ("type", json!(kind)),
        ("ofport", optional(interface.ofport)),
        ("error", optional(interface.error.as_ref())),
        ("external_ids", map(&interface.external_ids)),
        ("options", map(&interface.options)),
    ];
    if interface.error.is_some() {
        // What could not be opened has no state at all.
        return columns;
    }
    let lacp = port.bond.as_ref().and_then(|bond| bond.lacp.as_deref()).is_some_and(|lacp| lacp != "off");
    columns.extend([
        ("admin_state", state(interface.admin_up)),
        ("link_state", state(interface.link_up)),
        ("link_speed", optional(interface.link_speed)),
        ("mtu", optional(interface.mtu)),
        ("mac_in_use", json!(interface.mac)),
        ("statistics", counters(&interface.statistics)),
        ("lacp_current", optional(lacp.then_some(interface.link_up))),
    ]);
    if interface.link_speed.is_some() {
        columns.push(("duplex", json!("full")));
    }
    if let Some(driver) = driver {
        columns.push(("status", json!(["map", [["driver_name", driver]]])));
    }
    columns
}

/// An absent optional.
fn none() -> Json {
    json!(["set", []])
}

fn optional(value: Option<impl serde::Serialize>) -> Json {
    value.map_or_else(none, |value| json!(value))
}

/// References; a single one is bare.
pub(super) fn refer(uuids: impl Iterator<Item = Uuid>) -> Json {
    let mut atoms: Vec<Json> = uuids.map(|uuid| json!(["uuid", uuid.to_string()])).collect();
    match (atoms.len(), atoms.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            atoms.extend(last);
            json!(["set", atoms])
        }
    }
}

fn map(pairs: &BTreeMap<String, String>) -> Json {
    json!(["map", pairs.iter().map(|(key, value)| json!([key, value])).collect::<Vec<_>>()])
}

fn counters(pairs: &BTreeMap<String, i64>) -> Json {
    json!(["map", pairs.iter().map(|(key, value)| json!([key, value])).collect::<Vec<_>>()])
}
