//! OVSNodes.

use std::sync::Arc;

use c5c3_api::condition::ovs_node::{
    ALL_BONDS_HEALTHY, ALL_BRIDGES_HEALTHY, OVN_CONTROLLER_CONNECTED, OVSDB_CONNECTED, READY, reason,
};
use c5c3_api::ovs_node::BondState;
use c5c3_api::{ConditionStatus, OVSNodeStatus, Severity};
use ovs_client::switch::LinkState;

use super::scene::{Scene, at, condition, silent};
use crate::merge;
use crate::sources::observation::Observation;

fn status(scene: &Scene) -> OVSNodeStatus {
    scene.ovs_node().status.unwrap()
}

#[test]
fn a_healthy_switch_is_ready_in_every_respect() {
    let status = status(&Scene::healthy());
    for type_ in [READY, OVSDB_CONNECTED, OVN_CONTROLLER_CONNECTED, ALL_BRIDGES_HEALTHY, ALL_BONDS_HEALTHY] {
        assert_eq!(condition(&status.conditions, type_).status, ConditionStatus::True, "{type_}");
    }
    assert_eq!(status.issues.unwrap(), []);
    let interfaces = status.interfaces.unwrap();
    let named = |name: &str| interfaces.physical.as_ref().unwrap().iter().any(|found| found.name == name);
    assert!(named("eno1") && named("eno2"));
    assert_eq!(interfaces.tunnels.unwrap()[0].remote_ip.as_deref(), Some("10.0.0.2"));
    assert_eq!(interfaces.bonds.unwrap()[0].status, Some(BondState::Active));
}

#[test]
fn counters_are_sums_over_the_interfaces_and_absent_without_any() {
    let metrics = status(&Scene::healthy()).metrics.unwrap();
    assert_eq!((metrics.packets_received, metrics.drops), (Some(40), Some(12)));
    assert_eq!(metrics.bytes_sent, None, "no interface counts bytes");
}

#[test]
fn flows_are_those_of_the_integration_bridge_by_table() {
    let stats = status(&Scene::healthy()).flow_stats.unwrap();
    assert_eq!(stats.total_flows, Some(12));
    assert_eq!(stats.flows_per_table.unwrap().len(), 2);
}

fn with_members(enabled: &[&str]) -> Scene {
    let enabled = enabled.iter().map(|name| (*name).to_owned()).collect();
    Scene::healthy().with_daemons(|daemons| daemons.bonds.get_mut("bond0").unwrap().enabled = enabled)
}

#[test]
fn a_bond_without_one_member_is_degraded_and_without_any_down() {
    let degraded = status(&with_members(&["eno1"]));
    let bonds = condition(&degraded.conditions, ALL_BONDS_HEALTHY);
    assert_eq!((bonds.status, bonds.reason.as_str()), (ConditionStatus::False, reason::BOND_DEGRADED));
    assert_eq!(condition(&degraded.conditions, READY).status, ConditionStatus::True, "traffic still flows");
    let issue = &degraded.issues.unwrap()[0];
    assert_eq!(
        (issue.severity, issue.message.as_str()),
        (Severity::Warning, "bond bond0: 1 of 2 members active")
    );
    let down = status(&with_members(&[]));
    assert_eq!(condition(&down.conditions, READY).reason, reason::BOND_DOWN);
    assert_eq!(down.issues.unwrap()[0].severity, Severity::Critical);
}

#[test]
fn without_the_daemons_a_member_counts_by_its_link() {
    let mut scene = Scene::healthy();
    scene.daemons = Observation::disabled();
    let scene = scene.with_switch(|switch| {
        switch.bridges[0].ports[0].interfaces[1].link_state = Some(LinkState::Down);
    });
    let bond = &status(&scene).interfaces.unwrap().bonds.unwrap()[0];
    assert_eq!((bond.active_members, bond.status), (Some(1), Some(BondState::Degraded)));
    let unknown = scene.with_switch(|switch| switch.bridges[0].ports[0].interfaces[0].link_state = None);
    let bond = &status(&unknown).interfaces.unwrap().bonds.unwrap()[0];
    assert_eq!((bond.active_members, bond.status), (None, None));
}

#[test]
fn a_port_of_a_domain_that_libvirt_does_not_have_is_an_orphan_only_while_libvirt_answers() {
    let mut scene = Scene::healthy().with_libvirt(|libvirt| libvirt.domains = Arc::default());
    assert!(status(&scene).issues.unwrap()[0].message.starts_with("orphan port tap1"));
    scene.libvirt = silent(&scene.libvirt);
    assert_eq!(status(&scene).issues.unwrap(), []);
}

#[test]
fn a_bridge_mapping_needs_its_bridge() {
    let scene = Scene::healthy().with_switch(|switch| {
        let ids = &mut switch.root.as_mut().unwrap().external_ids;
        ids.insert("ovn-bridge-mappings".to_owned(), "physnet1:br-ex,physnet2:br-dc".to_owned());
    });
    let issues = status(&scene).issues.unwrap();
    assert_eq!(issues.len(), 1);
    assert!(issues[0].message.contains("there is no bridge br-dc"), "{issues:?}");
}

#[test]
fn an_issue_keeps_the_moment_it_was_found() {
    let mut scene = with_members(&["eno1"]);
    let first = status(&scene);
    scene.now = at(7_000);
    let later = merge::ovs_node(&scene.view(), "ovn-system", Some(&first)).status.unwrap();
    assert_eq!(later.issues.unwrap()[0].detected_at.0, at(1_000));
}

#[test]
fn a_database_that_falls_silent_leaves_its_rows_and_is_not_ready() {
    let mut scene = Scene::healthy();
    scene.switch = silent(&scene.switch);
    let status = status(&scene);
    assert_eq!(status.bridges.unwrap().len(), 2);
    let ready = condition(&status.conditions, READY);
    let expected = (ConditionStatus::False, reason::OVSDB_NOT_CONNECTED, "connection refused");
    assert_eq!((ready.status, ready.reason.as_str(), ready.message.as_str()), expected);
}

#[test]
fn ovn_is_unknown_unless_its_daemon_says() {
    let disconnected = Scene::healthy().with_daemons(|daemons| daemons.ovn_connected = Some(false));
    let message = &condition(&status(&disconnected).conditions, OVN_CONTROLLER_CONNECTED).message.clone();
    assert_eq!(message, "ovn-controller is not connected to tcp:10.0.0.9:6642");
    let silent = Scene::healthy().with_daemons(|daemons| {
        (daemons.ovn_connected, daemons.ovn_error) = (None, Some("no socket".to_owned()));
    });
    let status = status(&silent);
    let ovn = condition(&status.conditions, OVN_CONTROLLER_CONNECTED);
    assert_eq!((ovn.status, ovn.message.as_str()), (ConditionStatus::Unknown, "no socket"));
    assert_eq!(condition(&status.conditions, READY).status, ConditionStatus::True);
}
