//! Networks: bridges, tunnels, MTU and where OVN lives.

use std::collections::BTreeMap;

use super::names::is_dns_label;
use super::{Report, Rule, Subject};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "bridge-format",
        summary: "Bridges have at most 15 characters, physical networks are DNS labels.",
        why: "A bridge is a network interface, which Linux limits to 15 characters; Neutron reads the network's name from a list.",
        mend: "For example `br-ex` and `physnet1`.",
        check: bridges,
    },
    Rule {
        id: "bridge-unique",
        summary: "On one chassis a physical network has one bridge and a bridge one physical network.",
        why: "Open vSwitch would carry two networks as one.",
        mend: "Give each physical network a bridge of its own.",
        check: bridge_unique,
    },
    Rule {
        id: "encapsulation-equal",
        summary: "All chassis of a control plane use one tunnel type.",
        why: "Nodes of mixed types do not reach each other.",
        mend: "Use `geneve` everywhere, or `vxlan` everywhere.",
        check: encapsulation,
    },
    Rule {
        id: "mtu-fits",
        summary: "Neutron's physical network MTU fits below every tunnel.",
        why: "Larger packets are dropped on the way, which looks like connections that hang.",
        mend: "Lower `physicalNetworkMtu`, or raise the MTU of the network below.",
        check: mtu,
    },
    Rule {
        id: "ovn-cluster-attached",
        summary: "OVN lives on the management cluster or a network cluster of its control plane.",
        why: "The operators can put the databases only on a cluster that they may enter and that is there for this control plane.",
        mend: "Declare the cluster under `network`, or leave `ovn.cluster` out.",
        check: ovn_cluster,
    },
    Rule {
        id: "ovn-issuer-unique",
        summary: "The issuer of OVN certificates serves one control plane.",
        why: "Each certificate of that issuer can write everything in OVN.",
        mend: "Leave `ovn.issuer` out: each control plane gets its own.",
        check: issuer,
    },
];

fn bridges(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (_, attachment) in subject.resolved.attachments() {
        for (index, mapping) in attachment.chassis.bridge_mappings.iter().enumerate() {
            let field = format!("{}.chassis.bridgeMappings[{index}]", attachment.field);
            let bridge = &mapping.bridge;
            let characters = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
            if bridge.is_empty() || bridge.len() > 15 || !bridge.bytes().all(characters) {
                let hint = "1 to 15 of letters, digits, `_`, `.`, `-`";
                report.add(
                    format!("{field}.bridge"),
                    format!("{bridge:?} cannot name a bridge"),
                    Some(hint.to_owned()),
                );
            }
            if !is_dns_label(&mapping.physical_network) {
                let message = format!("{:?} is not a DNS label", mapping.physical_network);
                report.add(format!("{field}.physicalNetwork"), message, None);
            }
        }
    }
}

fn bridge_unique(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (_, attachment) in subject.resolved.attachments() {
        let mut seen = Vec::new();
        for (index, mapping) in attachment.chassis.bridge_mappings.iter().enumerate() {
            let field = format!("{}.chassis.bridgeMappings[{index}]", attachment.field);
            if seen.iter().any(|(network, _)| *network == &mapping.physical_network) {
                report.add(
                    format!("{field}.physicalNetwork"),
                    format!("{:?} is mapped twice", mapping.physical_network),
                    None,
                );
            }
            if seen.iter().any(|(_, bridge)| *bridge == &mapping.bridge) {
                report.add(format!("{field}.bridge"), format!("{:?} is mapped twice", mapping.bridge), None);
            }
            seen.push((&mapping.physical_network, &mapping.bridge));
        }
    }
}

fn encapsulation(subject: &Subject<'_>, report: &mut Report<'_>) {
    for control_plane in &subject.resolved.control_planes {
        let mut attachments = control_plane.attachments();
        let Some(first) = attachments.next() else {
            continue;
        };
        for attachment in attachments {
            if attachment.chassis.encapsulation != first.chassis.encapsulation {
                let hint = format!(
                    "{} has another one; nodes of mixed types do not reach each other",
                    first.cluster
                );
                let field = format!("{}.chassis.encapsulation", attachment.field);
                report.add(field, "differs from the other chassis of this control plane", Some(hint));
            }
        }
    }
}

fn mtu(subject: &Subject<'_>, report: &mut Report<'_>) {
    for control_plane in &subject.resolved.control_planes {
        let declared = control_plane.physical_network_mtu;
        if let Some(mtu) = declared
            && !(576..=65_535).contains(&mtu)
        {
            report.add(
                format!("{}.physicalNetworkMtu", control_plane.field),
                format!("{mtu} is not an MTU"),
                None,
            );
        }
        let told = declared.unwrap_or(1500);
        for attachment in control_plane.attachments() {
            let Some(underlay) = attachment.chassis.underlay_mtu else {
                continue;
            };
            if underlay < told {
                let hint = format!(
                    "lower `physicalNetworkMtu` of {} to {underlay}, or raise the underlay",
                    control_plane.name
                );
                let message = format!("{underlay} is below the {told} that Neutron counts on");
                report.add(format!("{}.chassis.underlayMtu", attachment.field), message, Some(hint));
            }
        }
    }
}

fn ovn_cluster(subject: &Subject<'_>, report: &mut Report<'_>) {
    for control_plane in &subject.resolved.control_planes {
        let Some(cluster) = &control_plane.ovn.cluster else {
            continue;
        };
        if !control_plane.network.iter().any(|network| network.attachment.cluster == *cluster) {
            let message = format!("{cluster:?} is not a network cluster of {}", control_plane.name);
            report.add(
                format!("{}.cluster", control_plane.ovn.field),
                message,
                Some("declare it under `network`".to_owned()),
            );
        }
    }
}

fn issuer(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut seen: BTreeMap<(&str, &str, &str, &str), &str> = BTreeMap::new();
    for control_plane in &subject.resolved.control_planes {
        let ovn = &control_plane.ovn;
        let cluster = ovn.cluster.as_deref().unwrap_or(&subject.resolved.management.name);
        let namespace = if ovn.issuer_kind == "Issuer" { control_plane.namespace.as_str() } else { "" };
        let key = (cluster, ovn.issuer_kind, namespace, ovn.issuer_name.as_str());
        if let Some(other) = seen.insert(key, &control_plane.name) {
            let message = format!("{:?} already signs for {other}", ovn.issuer_name);
            let hint = "each of its certificates could write the other's OVN";
            report.add(format!("{}.issuer.name", ovn.field), message, Some(hint.to_owned()));
        }
    }
}
