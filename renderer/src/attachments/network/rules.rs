//! Rules of network clusters. What they share with compute clusters is in `rules/networks.rs`.

use std::collections::BTreeMap;

use crate::rules::{Report, Rule, Subject};

pub(crate) const RULES: &[Rule] = &[Rule {
    id: "gateway-mappings",
    summary: "A gateway reaches every physical network that a chassis of its control plane reaches.",
    why: "OVN schedules a router's gateway onto any of them; one that lacks the network drops the traffic without a word.",
    mend: "Map the named physical network to a bridge in `chassis.bridgeMappings` of the gateway cluster.",
    check: gateway_mappings,
}];

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
