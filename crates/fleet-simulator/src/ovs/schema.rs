//! The tables and columns that the simulated database has, with the types and names of the real schema.

use serde_json::{Map, Value as Json, json};

/// Version of the schema; that of Open vSwitch 3.1 to 3.4.
pub(super) const VERSION: &str = "8.3.1";

/// Type of a column; the default value follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integer,
    Boolean,
    OptionalText,
    OptionalInteger,
    OptionalBoolean,
    Texts,
    Integers,
    Uuids(&'static str),
    TextMap,
    CounterMap,
    OptionalUuid(&'static str),
}

/// A table: name, whether its rows live by themselves, columns.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) is_root: bool,
    pub(super) columns: &'static [(&'static str, Kind)],
}

use Kind::{
    Boolean, CounterMap, Integer, Integers, OptionalBoolean, OptionalInteger, OptionalText, OptionalUuid,
    Text, TextMap, Texts, Uuids,
};

/// The database of a switch.
pub(super) const OPEN_VSWITCH: &[Table] = &[
    Table {
        name: "Open_vSwitch",
        is_root: true,
        columns: &[
            ("bridges", Uuids("Bridge")),
            ("cur_cfg", Integer),
            ("datapath_types", Texts),
            ("db_version", OptionalText),
            ("dpdk_initialized", Boolean),
            ("dpdk_version", OptionalText),
            ("external_ids", TextMap),
            ("iface_types", Texts),
            ("manager_options", Uuids("Manager")),
            ("next_cfg", Integer),
            ("other_config", TextMap),
            ("ovs_version", OptionalText),
            ("statistics", TextMap),
            ("system_type", OptionalText),
            ("system_version", OptionalText),
        ],
    },
    Table {
        name: "Bridge",
        is_root: false,
        columns: &[
            ("controller", Uuids("Controller")),
            ("datapath_id", OptionalText),
            ("datapath_type", Text),
            ("datapath_version", Text),
            ("external_ids", TextMap),
            ("fail_mode", OptionalText),
            ("mcast_snooping_enable", Boolean),
            ("name", Text),
            ("other_config", TextMap),
            ("ports", Uuids("Port")),
            ("protocols", Texts),
            ("rstp_enable", Boolean),
            ("status", TextMap),
            ("stp_enable", Boolean),
        ],
    },
    Table {
        name: "Port",
        is_root: false,
        columns: &[
            ("bond_active_slave", OptionalText),
            ("bond_downdelay", Integer),
            ("bond_mode", OptionalText),
            ("bond_updelay", Integer),
            ("external_ids", TextMap),
            ("fake_bridge", Boolean),
            ("interfaces", Uuids("Interface")),
            ("lacp", OptionalText),
            ("mac", OptionalText),
            ("name", Text),
            ("other_config", TextMap),
            ("statistics", CounterMap),
            ("status", TextMap),
            ("tag", OptionalInteger),
            ("trunks", Integers),
            ("vlan_mode", OptionalText),
        ],
    },
    Table {
        name: "Interface",
        is_root: false,
        columns: &[
            ("admin_state", OptionalText),
            ("duplex", OptionalText),
            ("error", OptionalText),
            ("external_ids", TextMap),
            ("ifindex", OptionalInteger),
            ("lacp_current", OptionalBoolean),
            ("link_resets", OptionalInteger),
            ("link_speed", OptionalInteger),
            ("link_state", OptionalText),
            ("mac", OptionalText),
            ("mac_in_use", OptionalText),
            ("mtu", OptionalInteger),
            ("mtu_request", OptionalInteger),
            ("name", Text),
            ("ofport", OptionalInteger),
            ("ofport_request", OptionalInteger),
            ("options", TextMap),
            ("other_config", TextMap),
            ("statistics", CounterMap),
            ("status", TextMap),
            ("type", Text),
        ],
    },
    Table {
        name: "Controller",
        is_root: false,
        columns: &[
            ("external_ids", TextMap),
            ("is_connected", Boolean),
            ("max_backoff", OptionalInteger),
            ("role", OptionalText),
            ("status", TextMap),
            ("target", Text),
        ],
    },
    Table {
        name: "Manager",
        is_root: false,
        columns: &[
            ("external_ids", TextMap),
            ("is_connected", Boolean),
            ("max_backoff", OptionalInteger),
            ("status", TextMap),
            ("target", Text),
        ],
    },
];

/// The database about databases.
pub(super) const SERVER: &[Table] = &[Table {
    name: "Database",
    is_root: true,
    columns: &[
        ("cid", OptionalUuid("")),
        ("connected", Boolean),
        ("index", OptionalInteger),
        ("leader", Boolean),
        ("model", Text),
        ("name", Text),
        ("schema", OptionalText),
        ("sid", OptionalUuid("")),
    ],
}];

impl Kind {
    /// What the column holds when nobody set it.
    pub(super) fn default_value(self) -> Json {
        match self {
            Text => json!(""),
            Integer => json!(0),
            Boolean => json!(false),
            TextMap | CounterMap => json!(["map", []]),
            OptionalText | OptionalInteger | OptionalBoolean | OptionalUuid(_) | Texts | Integers
            | Uuids(_) => {
                json!(["set", []])
            }
        }
    }

    /// The table that the column refers to.
    pub(super) fn refers_to(self) -> Option<&'static str> {
        match self {
            Uuids(table) => Some(table),
            _ => None,
        }
    }

    pub(super) fn is_map(self) -> bool {
        matches!(self, TextMap | CounterMap)
    }

    fn to_json(self) -> Json {
        let many = |key: Json| json!({ "key": key, "min": 0, "max": "unlimited" });
        let optional = |key: &str| json!({ "key": key, "min": 0, "max": 1 });
        match self {
            Text => json!("string"),
            Integer => json!("integer"),
            Boolean => json!("boolean"),
            OptionalText => optional("string"),
            OptionalInteger => optional("integer"),
            OptionalBoolean => optional("boolean"),
            OptionalUuid(_) => optional("uuid"),
            Texts => many(json!("string")),
            Integers => many(json!("integer")),
            Uuids(table) => many(json!({ "type": "uuid", "refTable": table })),
            TextMap => json!({ "key": "string", "value": "string", "min": 0, "max": "unlimited" }),
            CounterMap => json!({ "key": "string", "value": "integer", "min": 0, "max": "unlimited" }),
        }
    }
}

/// The tables of a database.
pub(super) fn database(name: &str) -> Option<&'static [Table]> {
    match name {
        "Open_vSwitch" => Some(OPEN_VSWITCH),
        "_Server" => Some(SERVER),
        _ => None,
    }
}

/// A table of a database.
pub(super) fn table(tables: &'static [Table], name: &str) -> Option<&'static Table> {
    tables.iter().find(|table| table.name == name)
}

impl Table {
    /// The type of a column.
    pub(super) fn column(&self, name: &str) -> Option<Kind> {
        self.columns.iter().find(|(column, _)| *column == name).map(|(_, kind)| *kind)
    }
}

/// The answer to `get_schema`.
pub(super) fn to_json(name: &str, tables: &[Table]) -> Json {
    let column = |(name, kind): &(&str, Kind)| ((*name).to_owned(), json!({ "type": kind.to_json() }));
    let table = |table: &Table| {
        let columns: Map<String, Json> = table.columns.iter().map(column).collect();
        (table.name.to_owned(), json!({ "columns": columns, "isRoot": table.is_root }))
    };
    let tables: Map<String, Json> = tables.iter().map(table).collect();
    json!({ "name": name, "version": VERSION, "cksum": "0 0", "tables": tables })
}
