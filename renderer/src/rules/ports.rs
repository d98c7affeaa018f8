//! Node ports of the OVN databases: inside the range, and each used once on a cluster.

use std::collections::BTreeMap;

use super::{Report, Rule, Subject};
use crate::conventions::ResolvedOvn;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "ovn-replicas",
        summary: "An OVN database has 1, 3 or 5 members, a relay at least one.",
        why: "The databases agree by majority.",
        mend: "Use 3; 1 for a lab.",
        check: replicas,
    },
    Rule {
        id: "node-port-range",
        summary: "Node ports lie between 30000 and 32767.",
        why: "Kubernetes opens no other node ports.",
        mend: "Choose a base from 30000, with room for all members below 32767.",
        check: range,
    },
    Rule {
        id: "node-port-overlap",
        summary: "A node port is used once on a cluster.",
        why: "Node ports belong to the whole cluster: the second Service is refused.",
        mend: "Set `nodePortBase` of one of them to a free range.",
        check: overlap,
    },
];

/// Ports of one thing: the field that sets them, the first and the last.
fn port_ranges(ovn: &ResolvedOvn) -> Vec<(String, u32, u32)> {
    let span = |replicas: u32| replicas.clamp(1, 5) - 1;
    let store = |name: &str, base: u32, replicas: u32| {
        (format!("{}.{name}.nodePortBase", ovn.field), base, base.saturating_add(span(replicas)))
    };
    let mut ranges = vec![
        store("northbound", ovn.northbound.node_port_base, ovn.northbound.replicas),
        store("southbound", ovn.southbound.node_port_base, ovn.southbound.replicas),
    ];
    if let Some(relay) = &ovn.relay {
        ranges.push((format!("{}.relay.nodePort", ovn.field), relay.node_port, relay.node_port));
    }
    ranges
}

fn replicas(subject: &Subject<'_>, report: &mut Report<'_>) {
    for ovn in subject.resolved.control_planes.iter().map(|control_plane| &control_plane.ovn) {
        for (name, store) in [("northbound", &ovn.northbound), ("southbound", &ovn.southbound)] {
            if ![1, 3, 5].contains(&store.replicas) {
                let message =
                    format!("{} members cannot agree by majority as well as 1, 3 or 5", store.replicas);
                report.add(format!("{}.{name}.replicas", ovn.field), message, None);
            }
        }
        if ovn.relay.as_ref().is_some_and(|relay| relay.replicas == 0) {
            report.add(
                format!("{}.relay.replicas", ovn.field),
                "a relay without replicas relays nothing",
                None,
            );
        }
    }
}

fn range(subject: &Subject<'_>, report: &mut Report<'_>) {
    for ovn in subject.resolved.control_planes.iter().map(|control_plane| &control_plane.ovn) {
        for (field, first, last) in port_ranges(ovn) {
            if first < 30_000 || last > 32_767 {
                report.add(field, format!("ports {first} to {last} leave the range 30000 to 32767"), None);
            }
        }
    }
}

fn overlap(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut by_cluster: BTreeMap<&str, Vec<(String, u32, u32)>> = BTreeMap::new();
    let management = subject.resolved.management.name.as_str();
    for ovn in subject.resolved.control_planes.iter().map(|control_plane| &control_plane.ovn) {
        if !ovn.externally_reachable {
            continue;
        }
        let taken = by_cluster.entry(ovn.cluster.as_deref().unwrap_or(management)).or_default();
        for (field, first, last) in port_ranges(ovn) {
            if let Some((other, from, to)) = taken.iter().find(|(_, from, to)| first <= *to && *from <= last)
            {
                let hint =
                    format!("choose ports outside of {from} to {to}, which {} uses", report.place(other));
                report.add(
                    field.clone(),
                    format!("ports {first} to {last} are taken on that cluster"),
                    Some(hint),
                );
            }
            taken.push((field, first, last));
        }
    }
}
