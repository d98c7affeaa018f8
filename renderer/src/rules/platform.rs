//! The management cluster: what is installed on it, and the addresses that it is told.

use super::formats::is_address;
use super::{Report, Rule, Subject};
use crate::plan::RELEASES;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "release-known",
        summary: "Releases that are named are releases of the platform.",
        why: "A misspelled name changes nothing, and the release that was meant keeps its default.",
        mend: "Use one of the names that the hint lists.",
        check: releases,
    },
    Rule {
        id: "pin-format",
        summary: "A repository is pinned by a commit of 40 hex digits.",
        why: "A branch or tag can be moved, and then something else is installed than what was tested.",
        mend: "Copy the commit from `git ls-remote`.",
        check: pins,
    },
    Rule {
        id: "address-format",
        summary: "Addresses are https or http URLs without credentials.",
        why: "They are written into objects as they are.",
        mend: "For example `https://10.0.0.1:6443`.",
        check: addresses,
    },
    Rule {
        id: "attached-store",
        summary: "A store of one namespace cannot serve attached clusters.",
        why: "ExternalSecrets of an attached cluster live in several namespaces and name the same store.",
        mend: "Use `kind: ClusterSecretStore`, or remove `openbao.externalAddress`.",
        check: store_kind,
    },
];

fn releases(subject: &Subject<'_>, report: &mut Report<'_>) {
    let Some(platform) = &subject.resolved.management.platform else {
        return;
    };
    let names: Vec<&str> = RELEASES.iter().map(|release| release.name).collect();
    let hint = || Some(format!("known: {}", names.join(", ")));
    let field = "spec.management.platform";
    for name in platform.declared.charts.keys().filter(|name| !names.contains(&name.as_str())) {
        report.add(format!("{field}.charts.{name}"), format!("there is no release {name:?}"), hint());
    }
    for (index, name) in platform.declared.without.iter().enumerate() {
        if !names.contains(&name.as_str()) {
            report.add(format!("{field}.without[{index}]"), format!("there is no release {name:?}"), hint());
        }
    }
}

fn pins(subject: &Subject<'_>, report: &mut Report<'_>) {
    let Some(platform) = &subject.resolved.management.platform else {
        return;
    };
    let declared = &platform.declared;
    let pins = [
        ("kOrc", &declared.k_orc),
        ("rabbitmqClusterOperator", &declared.rabbitmq_cluster_operator),
        ("messagingTopologyOperator", &declared.messaging_topology_operator),
    ];
    for (name, pin) in pins {
        if pin.commit.len() != 40 || !pin.commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let field = format!("spec.management.platform.{name}.commit");
            report.add(field, format!("{:?} is not a commit", pin.commit), None);
        }
    }
}

fn addresses(subject: &Subject<'_>, report: &mut Report<'_>) {
    let management = &subject.resolved.management;
    let mut all: Vec<(String, &str)> = Vec::new();
    if let Some(openbao) = &management.openbao {
        all.push(("spec.management.openbao.address".to_owned(), &openbao.address));
        all.extend(
            openbao
                .external_address
                .iter()
                .map(|address| ("spec.management.openbao.externalAddress".to_owned(), address.as_str())),
        );
    }
    let alertmanager = management.observability.as_ref().and_then(|entry| entry.alertmanager.as_deref());
    all.extend(
        alertmanager.map(|address| ("spec.management.observability.alertmanager".to_owned(), address)),
    );
    for plane in &subject.resolved.control_planes {
        let with_chassis = plane.attachments().map(|entry| (&entry.field, &entry.access));
        let services = plane.services.iter().map(|entry| (&entry.field, &entry.access));
        for (field, access) in with_chassis.chain(services) {
            all.extend(
                access.server.iter().map(|server| (format!("{field}.access.server"), server.as_str())),
            );
        }
        for storage in &plane.storage {
            all.extend(
                storage.object_store.iter().map(|store| {
                    (format!("{}.objectStore.endpoint", storage.field), store.endpoint.as_str())
                }),
            );
        }
    }
    for (field, address) in all {
        if let Err(fault) = is_address(address) {
            report.add(field, format!("the URL {fault}"), None);
        }
    }
}

fn store_kind(subject: &Subject<'_>, report: &mut Report<'_>) {
    let management = &subject.resolved.management;
    if management.openbao.as_ref().is_some_and(|entry| entry.external_address.is_some())
        && !management.renders_stores()
    {
        report.add("spec.management.secretStore.kind", "attached clusters could not read from it", None);
    }
}
