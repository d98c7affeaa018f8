//! Networks: bridges, tunnels, MTU and where OVN lives.

use std::collections::BTreeMap;

use super::names::is_dns_label;
use super::{Report, Rule, Subject};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "bridge-format",
        summary: "Bridges have at most 15 characters, physical networks are DNS labels.",
        check: bridges,
    },
    Rule {
        id: "bridge-unique",
        summary: "On one chassis a physical network has one bridge and a bridge one physical network.",
        check: bridge_unique,
    },
    Rule {
        id: "gateway-mappings",
        summary: "A gateway reaches every physical network that a chassis of its control plane reaches.",
        check: gateway_mappings,
    },
    Rule {
        id: "encapsulation-equal",
        summary: "All chassis of a control plane use one tunnel type.",
        check: encapsulation,
    },
    Rule { id: "mtu-fits", summary: "Neutron's physical network MTU fits below every tunnel.", check: mtu },
    Rule {
        id: "ovn-cluster-attached",
        summary: "OVN lives on the management cluster or a network cluster of its control plane.",
        check: ovn_cluster,
    },
    Rule {
        id: "ovn-issuer-unique",
        summary: "The issuer of OVN certificates serves one control plane.",
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

fn gateway_mappings(subject: &Subject<'_>, report: &mut Report<'_>) {
    for control_plane in &subject.resolved.control_planes {
        let mut used: BTreeMap<&str, &str> = BTreeMap::new();
        for attachment in control_plane.attachments() {
            for mapping in &attachment.chassis.bridge_mappings {
                used.entry(&mapping.physical_network).or_insert(&attachment.cluster);
            }
        }
        for attachment in
            control_plane.attachments().filter(|entry| entry.chassis.gateway_node_selector.is_some())
        {
            let field = format!("{}.chassis.bridgeMappings", attachment.field);
            let mappings = &attachment.chassis.bridge_mappings;
            if mappings.is_empty() {
                let hint = "for example `- {physicalNetwork: physnet1, bridge: br-ex}`";
                report.add(
                    field,
                    "a gateway without a physical network leads nowhere",
                    Some(hint.to_owned()),
                );
                continue;
            }
            for (network, cluster) in &used {
                if !mappings.iter().any(|mapping| mapping.physical_network == *network) {
                    let message = format!("the gateways do not reach {network:?}, which {cluster} does");
                    report.add(field.clone(), message, Some("map it here too".to_owned()));
                }
            }
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
