//! Node selectors: not empty, spelled right, satisfiable, and never claiming one node twice.

use c5c3_api::topology::NodeSelector;

use super::names::is_dns_subdomain;
use super::{Report, Rule, Subject};
use crate::conventions::Attachment;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "selector-present",
        summary: "A node selector names at least one label.",
        why: "An empty selector matches every node, also those that run something else.",
        mend: "Leave it out for the usual label.",
        check: present,
    },
    Rule {
        id: "selector-format",
        summary: "Labels are spelled as Kubernetes reads them.",
        why: "Kubernetes refuses the object otherwise.",
        mend: "A label is `[prefix/]name`, both of letters, digits, `-`, `_`, `.`.",
        check: format_of,
    },
    Rule {
        id: "gateway-selector",
        summary: "The selector of gateways does not contradict that of their chassis.",
        why: "No node can carry two values of one label, so there would be no gateway.",
        mend: "Ask for the same value, or for another label.",
        check: gateway,
    },
    Rule {
        id: "pool-within-chassis",
        summary: "Every node of a pool is a chassis.",
        why: "nova-compute waits on each node for the id of its chassis; without one it waits forever.",
        mend: "Add the chassis labels to the pool's selector.",
        check: pool_within_chassis,
    },
    Rule {
        id: "pool-overlap",
        summary: "No node is in two pools.",
        why: "Two nova-computes on one node are a conflict that takes both down.",
        mend: "Let one label differ in value between the pools.",
        check: pool_overlap,
    },
    Rule {
        id: "chassis-overlap",
        summary: "No node of the management cluster is in two chassis.",
        why: "Two ovn-controllers on one node take each other's ports away.",
        mend: "Let one label differ in value, or make one entry do both: a compute cluster may have `gatewayNodeSelector` and `bridgeMappings`.",
        check: chassis_overlap,
    },
];

/// Every selector of the topology with the field that sets it.
fn selectors<'topology>(subject: &Subject<'topology>) -> Vec<(String, &'topology NodeSelector)> {
    let mut all = Vec::new();
    for control_plane in &subject.resolved.control_planes {
        for attachment in control_plane.attachments() {
            all.push((
                format!("{}.chassis.nodeSelector", attachment.field),
                &attachment.chassis.node_selector,
            ));
            if let Some(selector) = &attachment.chassis.gateway_node_selector {
                all.push((format!("{}.chassis.gatewayNodeSelector", attachment.field), selector));
            }
        }
        for pool in control_plane.compute.iter().flat_map(|compute| &compute.pools) {
            all.push((format!("{}.nodeSelector", pool.field), &pool.node_selector));
        }
    }
    all
}

fn present(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (field, selector) in selectors(subject) {
        if selector.is_empty() {
            report.add(
                field,
                "selects every node of the cluster",
                Some("name a label, or leave the field out".to_owned()),
            );
        }
    }
}

fn is_label_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 63
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.ends_with(|last: char| last.is_ascii_alphanumeric())
}

fn is_label_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => is_dns_subdomain(prefix) && is_label_name(name),
        None => is_label_name(key),
    }
}

fn format_of(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (field, selector) in selectors(subject) {
        for (key, value) in selector {
            if !is_label_key(key) {
                report.add(field.clone(), format!("{key:?} cannot be a label"), None);
            } else if !value.is_empty() && !is_label_name(value) {
                report.add(field.clone(), format!("{value:?} cannot be the value of the label {key}"), None);
            }
        }
    }
}

/// A label on which two selectors ask for different values.
fn contradiction<'selector>(left: &'selector NodeSelector, right: &NodeSelector) -> Option<&'selector str> {
    left.iter()
        .find(|(key, value)| right.get(*key).is_some_and(|other| other != *value))
        .map(|(key, _)| key.as_str())
}

fn gateway(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (_, Attachment { field, chassis, .. }) in subject.resolved.attachments() {
        if let Some(selector) = &chassis.gateway_node_selector
            && let Some(key) = contradiction(selector, &chassis.node_selector)
        {
            let message =
                format!("asks for another value of {key} than the chassis, so no node is a gateway");
            report.add(format!("{field}.chassis.gatewayNodeSelector"), message, None);
        }
    }
}

fn pool_within_chassis(subject: &Subject<'_>, report: &mut Report<'_>) {
    for compute in subject.resolved.control_planes.iter().flat_map(|control_plane| &control_plane.compute) {
        let chassis = &compute.attachment.chassis.node_selector;
        for pool in &compute.pools {
            let absent: Vec<String> = chassis
                .iter()
                .filter(|(key, value)| pool.node_selector.get(*key) != Some(value))
                .map(|(key, value)| format!("{key}: {value:?}"))
                .collect();
            if !absent.is_empty() {
                report.add(
                    format!("{}.nodeSelector", pool.field),
                    "selects nodes that are no chassis, whose instances would have no network",
                    Some(format!("add {}", absent.join(", "))),
                );
            }
        }
    }
}

fn pool_overlap(subject: &Subject<'_>, report: &mut Report<'_>) {
    for compute in subject.resolved.control_planes.iter().flat_map(|control_plane| &control_plane.compute) {
        for (index, pool) in compute.pools.iter().enumerate() {
            for other in compute.pools.iter().take(index) {
                if contradiction(&pool.node_selector, &other.node_selector).is_none() {
                    report.add(
                        format!("{}.nodeSelector", pool.field),
                        format!("a node can be in this pool and in {:?} at once", other.pool),
                        Some("let one label differ in value between them".to_owned()),
                    );
                }
            }
        }
    }
}

fn chassis_overlap(subject: &Subject<'_>, report: &mut Report<'_>) {
    let local: Vec<&Attachment> = subject
        .resolved
        .attachments()
        .map(|(_, attachment)| attachment)
        .filter(|entry| entry.local)
        .collect();
    for (index, attachment) in local.iter().enumerate() {
        for other in local.iter().take(index) {
            if contradiction(&attachment.chassis.node_selector, &other.chassis.node_selector).is_none() {
                report.add(
                    format!("{}.chassis.nodeSelector", attachment.field),
                    format!("a node can be a chassis of this entry and of {:?} at once", other.cluster),
                    None,
                );
            }
        }
    }
}
