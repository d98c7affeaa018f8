//! Rows as real servers sent them, and rows nobody should send.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;

const BRIDGE: &str = "35201e3b-0000-4000-8000-000000000001";
const PORT: &str = "bb5110b6-0000-4000-8000-000000000002";
const ONE: &str = "b6322f1e-0000-4000-8000-000000000003";
const TWO: &str = "b6322f1e-0000-4000-8000-000000000004";

fn picture(rows: &Json) -> Switch {
    let tables = ["Open_vSwitch", "Bridge", "Port", "Interface", "Controller", "Manager"];
    let mut replica = Replica::new(tables, 100);
    replica.apply(rows).unwrap();
    decode(&replica, &BTreeMap::new())
}

/// A bridge with one port with one interface, all sets of one and therefore bare.
fn with_interface(interface: &Json) -> Json {
    json!({
        "Bridge": {BRIDGE: {"new": {"name": "br-int", "datapath_type": "", "ports": ["uuid", PORT], "controller": ["set", []]}}},
        "Port": {PORT: {"new": {"name": "p", "interfaces": ["uuid", ONE]}}},
        "Interface": {ONE: {"new": interface}},
    })
}

fn interface(interface: &Json) -> Interface {
    let switch = picture(&with_interface(interface));
    assert_eq!(switch.unreadable, Vec::<String>::new());
    switch.interfaces().next().unwrap().clone()
}

#[test]
fn sets_of_one_are_read_as_sets() {
    let switch = picture(&with_interface(&json!({"name": "tap1", "type": ""})));
    let bridge = switch.bridge("br-int").unwrap();
    assert_eq!((bridge.ports.len(), bridge.ports[0].interfaces.len()), (1, 1));
    assert_eq!(bridge.datapath_type.as_deref(), Some("system"));
    assert_eq!(bridge.ports[0].bond, None);
}

#[test]
fn an_ofport_is_absent_minus_one_or_a_number_bare_or_in_a_set() {
    let ofport = |json: Json| interface(&json!({"name": "i", "ofport": json})).ofport;
    assert_eq!(ofport(json!(["set", []])), None);
    assert_eq!(ofport(json!(3)), Some(3));
    assert_eq!(ofport(json!(["set", [3]])), Some(3));
    assert_eq!(ofport(json!(-1)), Some(-1));
}

#[test]
fn what_a_broken_interface_does_not_say_is_absent() {
    let broken = interface(&json!({
        "name": "tbmiss", "type": "", "ofport": -1, "error": "could not open network device tbmiss (No such device)",
        "admin_state": ["set", []], "link_state": ["set", []], "mac_in_use": ["set", []], "mtu": ["set", []], "ifindex": 0,
    }));
    assert_eq!(broken.error.as_deref(), Some("could not open network device tbmiss (No such device)"));
    assert_eq!((broken.admin_state, broken.link_state, broken.mtu, broken.ifindex), (None, None, None, None));
    assert_eq!((broken.mac_in_use, broken.lacp_current, broken.statistics), (None, None, None));
}

#[test]
fn a_port_with_two_interfaces_is_a_bond_and_its_active_member_is_found_by_mac() {
    let rows = |active: &str| {
        json!({
            "Bridge": {BRIDGE: {"new": {"name": "br-ex", "ports": ["uuid", PORT]}}},
            "Port": {PORT: {"new": {"name": "bond0", "interfaces": ["set", [["uuid", TWO], ["uuid", ONE]]], "bond_mode": "balance-tcp",
                "lacp": ["set", []], "bond_active_slave": active}}},
            "Interface": {ONE: {"new": {"name": "eno1", "mac_in_use": "02:00:00:00:00:01"}}, TWO: {"new": {"name": "eno2", "mac_in_use": "02:00:00:00:00:02"}}},
        })
    };
    let switch = picture(&rows("02:00:00:00:00:02"));
    let bond = switch.bonds().next().unwrap();
    assert_eq!(bond.bond.as_ref().unwrap().mode.as_deref(), Some("balance-tcp"));
    assert_eq!(bond.bond.as_ref().unwrap().lacp, None);
    assert_eq!(bond.active_member().unwrap().name, "eno2");
    assert_eq!(
        bond.interfaces.iter().map(|interface| interface.name.as_str()).collect::<Vec<_>>(),
        ["eno1", "eno2"]
    );
    assert_eq!(picture(&rows(NO_MAC)).bonds().next().unwrap().active_member(), None);
}

#[test]
fn a_root_row_as_written_without_start_scripts_has_no_versions() {
    let switch = picture(&json!({"Open_vSwitch": {BRIDGE: {"new": {
        "dpdk_initialized": false, "dpdk_version": "none", "cur_cfg": 1, "next_cfg": 2, "datapath_types": "netdev",
        "ovs_version": ["set", []], "db_version": ["set", []], "system_type": ["set", []],
        "external_ids": ["map", [["system-id", "node-1"], ["ovn-remote", "tcp:10.99.0.1:6642"]]],
    }}}}));
    let root = switch.root.as_ref().unwrap();
    assert_eq!((&root.ovs_version, &root.dpdk_version, root.dpdk_initialized), (&None, &None, Some(false)));
    assert_eq!(root.datapath_types, ["netdev"]);
    assert_eq!(root.is_behind(), Some(true));
    assert_eq!(switch.system_id(), Some("node-1"));
}

#[test]
fn a_database_that_was_never_set_up_has_no_root() {
    let switch = picture(&json!({}));
    assert_eq!(switch, Switch::default());
}

#[test]
fn a_value_of_the_wrong_type_is_left_out_and_named() {
    let rows = with_interface(
        &json!({"name": "eth0", "ofport": "three", "mtu": -5, "status": ["map", [["a", 1]]], "link_state": {"odd": 1}}),
    );
    let switch = picture(&rows);
    let interface = switch.interfaces().next().unwrap();
    assert_eq!((interface.ofport, interface.mtu, interface.link_state), (None, None, None));
    let named: Vec<_> = switch.unreadable.iter().map(String::as_str).collect();
    assert_eq!(
        named,
        [
            "Interface eth0: link_state",
            "Interface eth0: ofport",
            "Interface eth0: mtu",
            "Interface eth0: status"
        ]
    );
}

#[test]
fn a_reference_to_a_row_that_is_not_there_is_named() {
    let switch = picture(&json!({"Bridge": {BRIDGE: {"new": {"name": "br-int", "ports": ["uuid", PORT]}}}}));
    assert_eq!(switch.unreadable, [format!("Bridge br-int: ports {PORT}")]);
}

#[test]
fn taps_tunnels_and_bridge_ports_are_not_physical() {
    let kind = |kind: &str, driver: &str| {
        interface(&json!({"name": "i", "type": kind, "status": ["map", [["driver_name", driver]]]}))
            .is_physical()
    };
    assert!(kind("", "ixgbe") && kind("system", "veth") && kind("dpdk", "net_mlx5"));
    assert!(!kind("", "tun") && !kind("internal", "x") && !kind("geneve", "x") && !kind("patch", "x"));
    assert!(
        !interface(&json!({"name": "i", "type": "", "external_ids": ["map", [["iface-id", "p"]]]}))
            .is_physical()
    );
}

fn any_value() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(json!(["set", []])),
        Just(json!("up")),
        any::<i64>().prop_map(|integer| json!(integer)),
        any::<bool>().prop_map(|truth| json!(truth)),
        Just(json!(["uuid", PORT])),
        Just(json!(["set", [["uuid", PORT], ["uuid", ONE]]])),
        Just(json!(["map", [["a", 1], ["b", "2"]]])),
        Just(json!({"odd": [1]})),
    ]
}

proptest! {
    #![proptest_config(crate::property::few(64))]

    #[test]
    fn no_rows_make_the_picture_fail(values in prop::collection::vec(any_value(), 40)) {
        let mut values = values.into_iter().cycle();
        let mut row = |columns: &[&str]| -> Json { columns.iter().map(|column| (*column, values.next())).collect::<Json2>().0 };
        let rows = json!({
            "Open_vSwitch": {BRIDGE: {"new": row(&["ovs_version", "external_ids", "cur_cfg", "dpdk_initialized"])}},
            "Bridge": {BRIDGE: {"new": row(&["name", "ports", "controller", "datapath_type", "protocols"])}},
            "Port": {PORT: {"new": row(&["name", "interfaces", "tag", "trunks", "bond_mode"])}, ONE: {"new": row(&["name", "interfaces"])}},
            "Interface": {ONE: {"new": row(&["name", "type", "ofport", "status", "mtu"])}, PORT: {"new": row(&["name", "mac_in_use"])}},
        });
        let switch = picture(&rows);
        prop_assert_eq!(switch.bridges.len(), 1);
    }
}

/// A JSON object from pairs.
struct Json2(Json);

impl<'a> FromIterator<(&'a str, Option<Json>)> for Json2 {
    fn from_iter<T: IntoIterator<Item = (&'a str, Option<Json>)>>(pairs: T) -> Self {
        Self(Json::Object(
            pairs.into_iter().map(|(key, value)| (key.to_owned(), value.unwrap_or_default())).collect(),
        ))
    }
}
