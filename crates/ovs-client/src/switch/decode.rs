//! From rows to the picture. Pure: the same rows give the same picture, whatever else happens.
//!
//! A value of an unexpected shape is left out and named in [`Switch::unreadable`]; nothing makes the picture fail.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::ovsdb::{Atom, Replica, Row};

use super::picture::{Bond, Bridge, Controller, Interface, LinkState, Manager, OpenVSwitch, Port, Switch};

/// The MAC that stands for "no active member".
const NO_MAC: &str = "00:00:00:00:00:00";

/// Makes the picture. `counters` are the statistics of interfaces, by row.
pub fn decode(replica: &Replica, counters: &BTreeMap<Uuid, BTreeMap<String, i64>>) -> Switch {
    let mut decoder = Decoder { replica, counters, unreadable: Vec::new() };
    let root = decoder.rows("Open_vSwitch").next().map(|(_, row)| decoder.root(row));
    let mut bridges: Vec<_> = decoder.rows("Bridge").map(|(uuid, row)| decoder.bridge(uuid, row)).collect();
    bridges.sort_by(|a, b| (&a.name, a.uuid).cmp(&(&b.name, b.uuid)));
    let mut managers: Vec<_> =
        decoder.rows("Manager").map(|(uuid, row)| decoder.manager(uuid, row)).collect();
    managers.sort_by(|a, b| (&a.target, a.uuid).cmp(&(&b.target, b.uuid)));
    Switch { schema_version: String::new(), root, bridges, managers, unreadable: decoder.unreadable }
}

struct Decoder<'a> {
    replica: &'a Replica,
    counters: &'a BTreeMap<Uuid, BTreeMap<String, i64>>,
    unreadable: Vec<String>,
}

impl<'a> Decoder<'a> {
    fn rows(&self, table: &str) -> impl Iterator<Item = (Uuid, &'a Row)> + use<'a> {
        self.replica.rows(table).collect::<Vec<_>>().into_iter()
    }

    fn root(&mut self, row: &Row) -> OpenVSwitch {
        let mut columns = Columns::new("Open_vSwitch", row);
        let root = OpenVSwitch {
            ovs_version: columns.text("ovs_version"),
            db_version: columns.text("db_version"),
            system_type: columns.text("system_type"),
            system_version: columns.text("system_version"),
            dpdk_initialized: columns.truth("dpdk_initialized"),
            dpdk_version: columns.text("dpdk_version").filter(|version| version != "none"),
            datapath_types: columns.texts("datapath_types"),
            iface_types: columns.texts("iface_types"),
            external_ids: columns.map("external_ids"),
            next_cfg: columns.integer("next_cfg"),
            cur_cfg: columns.integer("cur_cfg"),
        };
        self.unreadable.extend(columns.unreadable());
        root
    }

    fn bridge(&mut self, uuid: Uuid, row: &Row) -> Bridge {
        let mut columns = Columns::new("Bridge", row);
        let name = columns.text("name").unwrap_or_default();
        let datapath_type = columns.raw_text("datapath_type");
        let bridge = Bridge {
            uuid,
            datapath_type: datapath_type.map(|kind| if kind.is_empty() { "system".to_owned() } else { kind }),
            datapath_id: columns.text("datapath_id"),
            datapath_version: columns.text("datapath_version"),
            fail_mode: columns.text("fail_mode"),
            protocols: columns.texts("protocols"),
            external_ids: columns.map("external_ids"),
            ports: self.referred("Port", &mut columns, "ports", Self::port, |port| port.name.clone()),
            controllers: self.referred(
                "Controller",
                &mut columns,
                "controller",
                Self::controller,
                |controller| controller.target.clone(),
            ),
            name,
        };
        self.unreadable.extend(columns.unreadable());
        bridge
    }

    fn port(&mut self, uuid: Uuid, row: &Row) -> Port {
        let mut columns = Columns::new("Port", row);
        let interfaces =
            self.referred("Interface", &mut columns, "interfaces", Self::interface, |interface| {
                interface.name.clone()
            });
        let bond = Bond {
            mode: columns.text("bond_mode"),
            lacp: columns.text("lacp"),
            active_member_mac: columns.text("bond_active_slave").filter(|mac| mac != NO_MAC),
        };
        let port = Port {
            uuid,
            name: columns.text("name").unwrap_or_default(),
            tag: columns.integer("tag"),
            trunks: columns.integers("trunks"),
            bond: (interfaces.len() > 1).then_some(bond),
            external_ids: columns.map("external_ids"),
            interfaces,
        };
        self.unreadable.extend(columns.unreadable());
        port
    }

    fn interface(&mut self, uuid: Uuid, row: &Row) -> Interface {
        let mut columns = Columns::new("Interface", row);
        let interface = Interface {
            uuid,
            name: columns.text("name").unwrap_or_default(),
            kind: columns.raw_text("type").unwrap_or_default(),
            ofport: columns.integer("ofport"),
            admin_state: columns.link_state("admin_state"),
            link_state: columns.link_state("link_state"),
            link_speed: columns.unsigned("link_speed"),
            duplex: columns.text("duplex"),
            mtu: columns.unsigned("mtu"),
            mac_in_use: columns.text("mac_in_use"),
            ifindex: columns.unsigned("ifindex").filter(|index| *index > 0),
            error: columns.text("error"),
            external_ids: columns.map("external_ids"),
            options: columns.map("options"),
            status: columns.map("status"),
            lacp_current: columns.truth("lacp_current"),
            statistics: self.counters.get(&uuid).cloned(),
        };
        self.unreadable.extend(columns.unreadable());
        interface
    }

    fn controller(&mut self, uuid: Uuid, row: &Row) -> Controller {
        let mut columns = Columns::new("Controller", row);
        let controller = Controller {
            uuid,
            target: columns.text("target").unwrap_or_default(),
            is_connected: columns.truth("is_connected"),
            role: columns.text("role"),
            status: columns.map("status"),
        };
        self.unreadable.extend(columns.unreadable());
        controller
    }

    fn manager(&mut self, uuid: Uuid, row: &Row) -> Manager {
        let mut columns = Columns::new("Manager", row);
        let manager = Manager {
            uuid,
            target: columns.text("target").unwrap_or_default(),
            is_connected: columns.truth("is_connected"),
            status: columns.map("status"),
        };
        self.unreadable.extend(columns.unreadable());
        manager
    }

    /// The rows that a column refers to, decoded, in the order of their names.
    fn referred<T>(
        &mut self,
        table: &str,
        columns: &mut Columns<'_>,
        column: &'static str,
        one: impl Fn(&mut Self, Uuid, &Row) -> T,
        name: impl Fn(&T) -> String,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for uuid in columns.uuids(column) {
            match self.replica.row(table, uuid) {
                Some(row) => found.push(one(self, uuid, row)),
                None if self.replica.has_table(table) => columns.wrong.push(format!("{column} {uuid}")),
                None => {}
            }
        }
        found.sort_by_cached_key(name);
        found
    }
}

/// Typed access to the columns of one row; remembers what did not have the expected shape.
struct Columns<'a> {
    table: &'static str,
    row: &'a Row,
    wrong: Vec<String>,
}

impl<'a> Columns<'a> {
    fn new(table: &'static str, row: &'a Row) -> Self {
        Self { table, row, wrong: row.unreadable().map(str::to_owned).collect() }
    }

    /// What could not be read, each with table and row.
    fn unreadable(mut self) -> Vec<String> {
        let wrong = std::mem::take(&mut self.wrong);
        if wrong.is_empty() {
            return wrong;
        }
        let name = self.text("name").or_else(|| self.text("target")).unwrap_or_default();
        wrong.into_iter().map(|column| format!("{} {name}: {column}", self.table)).collect()
    }

    /// The elements of a set, as far as `read` knows them.
    fn set<T>(&mut self, column: &str, read: impl Fn(&Atom) -> Option<T>) -> Vec<T> {
        let Some(value) = self.row.get(column) else { return Vec::new() };
        let found: Vec<T> = value.atoms().iter().filter_map(read).collect();
        if found.len() < value.atoms().len() || !value.pairs().is_empty() {
            self.wrong.push(column.to_owned());
        }
        found
    }

    /// The element of an optional; more than one is as unreadable as one of the wrong type.
    fn one<T>(&mut self, column: &str, read: impl Fn(&Atom) -> Option<T>) -> Option<T> {
        let mut found = self.set(column, read);
        if found.len() > 1 {
            self.wrong.push(column.to_owned());
            return None;
        }
        found.pop()
    }

    /// A text that may be empty.
    fn raw_text(&mut self, column: &str) -> Option<String> {
        self.one(column, text)
    }

    /// A text; an empty one says nothing.
    fn text(&mut self, column: &str) -> Option<String> {
        self.raw_text(column).filter(|text| !text.is_empty())
    }

    fn texts(&mut self, column: &str) -> Vec<String> {
        let mut texts = self.set(column, text);
        texts.sort_unstable();
        texts
    }

    fn integer(&mut self, column: &str) -> Option<i64> {
        self.one(column, integer)
    }

    fn integers(&mut self, column: &str) -> Vec<i64> {
        self.set(column, integer)
    }

    fn unsigned(&mut self, column: &str) -> Option<u64> {
        self.one(column, |atom| integer(atom).and_then(|integer| u64::try_from(integer).ok()))
    }

    fn truth(&mut self, column: &str) -> Option<bool> {
        self.one(column, |atom| match atom {
            Atom::Boolean(truth) => Some(*truth),
            _ => None,
        })
    }

    fn uuids(&mut self, column: &str) -> Vec<Uuid> {
        self.set(column, |atom| match atom {
            Atom::Uuid(uuid) => Some(*uuid),
            _ => None,
        })
    }

    fn link_state(&mut self, column: &str) -> Option<LinkState> {
        self.one(column, |atom| match atom {
            Atom::String(state) if state == "up" => Some(LinkState::Up),
            Atom::String(state) if state == "down" => Some(LinkState::Down),
            _ => None,
        })
    }

    fn map(&mut self, column: &str) -> BTreeMap<String, String> {
        let Some(value) = self.row.get(column) else { return BTreeMap::new() };
        let pairs = value.pairs().iter();
        let map: BTreeMap<_, _> = pairs.filter_map(|(key, value)| Some((text(key)?, text(value)?))).collect();
        if map.len() < value.pairs().len() || !value.atoms().is_empty() {
            self.wrong.push(column.to_owned());
        }
        map
    }
}

fn text(atom: &Atom) -> Option<String> {
    match atom {
        Atom::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn integer(atom: &Atom) -> Option<i64> {
    match atom {
        Atom::Integer(integer) => Some(*integer),
        _ => None,
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
