//! What is true about a virtual switch: the conditions of an OVSNode.

use c5c3_api::condition::ovs_node as names;
use c5c3_api::condition::ovs_node::reason;
use c5c3_api::ovs_node::{BondState, BridgeState, OVSNodeStatus};
use c5c3_api::{Condition, ConditionStatus, SourceState};

use super::HostView;
use super::identity::time;
use super::source_status::{condition, settle};

type Verdict = (ConditionStatus, &'static str, String);

/// The conditions, settled against those shown before.
pub(super) fn conditions(
    host: &HostView<'_>,
    status: &OVSNodeStatus,
    earlier: Option<&OVSNodeStatus>,
) -> Vec<Condition> {
    let bridges = bridges(status);
    let bonds = bonds(status);
    let ovn = ovn(host, status);
    let ready = ready(host, &bridges, &bonds, &ovn);
    let condition_of = |type_: &str, (status, reason, message): Verdict| {
        Condition::new(type_, status, reason, message, time(host.now))
    };
    let list = vec![
        condition_of(names::READY, ready),
        condition(names::OVSDB_CONNECTED, host.switch, host.now),
        condition_of(names::OVN_CONTROLLER_CONNECTED, ovn),
        condition_of(names::ALL_BRIDGES_HEALTHY, bridges),
        condition_of(names::ALL_BONDS_HEALTHY, bonds),
    ];
    let before = earlier.map(|status| status.conditions.as_slice()).unwrap_or_default();
    settle(before, list, status.observed_generation)
}

fn ready(host: &HostView<'_>, bridges: &Verdict, bonds: &Verdict, ovn: &Verdict) -> Verdict {
    match host.switch.state() {
        SourceState::Connected => {}
        SourceState::Connecting | SourceState::Disabled => {
            let message = "the database has not been read yet".to_owned();
            return (ConditionStatus::Unknown, reason::NOT_OBSERVED, message);
        }
        _ => {
            let message = host.switch.message().unwrap_or_default().to_owned();
            return (ConditionStatus::False, reason::OVSDB_NOT_CONNECTED, message);
        }
    }
    let no = |reason, verdict: &Verdict| (ConditionStatus::False, reason, verdict.2.clone());
    if bridges.0 == ConditionStatus::False {
        return no(reason::BRIDGE_INACTIVE, bridges);
    }
    if bonds.1 == reason::BOND_DOWN {
        return no(reason::BOND_DOWN, bonds);
    }
    if ovn.0 == ConditionStatus::False {
        return no(reason::OVN_CONTROLLER_NOT_CONNECTED, ovn);
    }
    (ConditionStatus::True, reason::READY, String::new())
}

fn ovn(host: &HostView<'_>, status: &OVSNodeStatus) -> Verdict {
    let controller = status.ovn_controller.as_ref();
    match controller.and_then(|controller| controller.connected) {
        Some(true) => return (ConditionStatus::True, reason::CONNECTED, String::new()),
        Some(false) => {
            let target = controller
                .and_then(|controller| controller.sb_connection.as_deref())
                .unwrap_or("its database");
            let message = format!("ovn-controller is not connected to {target}");
            return (ConditionStatus::False, reason::NOT_CONNECTED, message);
        }
        None => {}
    }
    if controller.is_some_and(|controller| controller.sb_connection.is_none()) {
        let message = "Open vSwitch has no external_ids:ovn-remote".to_owned();
        return (ConditionStatus::Unknown, reason::NOT_CONFIGURED, message);
    }
    let why = host.daemons.value().and_then(|daemons| daemons.ovn_error.as_deref());
    let why = why.or(host.daemons.message()).unwrap_or("ovn-controller has not been asked");
    (ConditionStatus::Unknown, reason::NOT_OBSERVED, why.to_owned())
}

fn bridges(status: &OVSNodeStatus) -> Verdict {
    let Some(bridges) = &status.bridges else { return not_observed() };
    let inactive: Vec<&str> = bridges
        .iter()
        .filter(|bridge| bridge.status == Some(BridgeState::Inactive))
        .map(|bridge| bridge.name.as_str())
        .collect();
    if inactive.is_empty() {
        return (ConditionStatus::True, reason::HEALTHY, String::new());
    }
    let message = format!("configured but not made by ovs-vswitchd: {}", inactive.join(", "));
    (ConditionStatus::False, reason::BRIDGE_INACTIVE, message)
}

fn bonds(status: &OVSNodeStatus) -> Verdict {
    let bonds = status.interfaces.as_ref().and_then(|interfaces| interfaces.bonds.as_ref());
    let Some(bonds) = bonds else { return not_observed() };
    if bonds.is_empty() {
        return (ConditionStatus::True, reason::NO_BONDS, String::new());
    }
    let named = |state| {
        let names: Vec<&str> =
            bonds.iter().filter(|bond| bond.status == Some(state)).map(|bond| bond.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    if let Some(down) = named(BondState::Down) {
        return (ConditionStatus::False, reason::BOND_DOWN, format!("no active member: {down}"));
    }
    if let Some(degraded) = named(BondState::Degraded) {
        return (
            ConditionStatus::False,
            reason::BOND_DEGRADED,
            format!("a member is not active: {degraded}"),
        );
    }
    (ConditionStatus::True, reason::HEALTHY, String::new())
}

fn not_observed() -> Verdict {
    (ConditionStatus::Unknown, reason::NOT_OBSERVED, "the database has not been read yet".to_owned())
}
