//! Names: valid, short enough for everything derived from them, and each used once.

use std::collections::BTreeMap;

use super::{Report, Rule, Subject};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "name-dns-label",
        summary: "Names and namespaces are DNS labels.",
        why: "Names become names of Kubernetes objects, folders in Git and label values.",
        mend: "Lower-case letters, digits and `-` inside, 63 characters at most.",
        check: dns_label,
    },
    Rule {
        id: "name-length",
        summary: "Names leave room for everything derived from them.",
        why: "Operators add suffixes to these names, and Kubernetes cuts none of them: the objects are refused.",
        mend: "Choose a shorter name before the first commit; later a name cannot be changed.",
        check: length,
    },
    Rule {
        id: "cluster-unique",
        summary: "A cluster name stands for one cluster of the whole topology.",
        why: "The name is the name of the registration, of folders and of Kustomizations.",
        mend: "Rename one of the clusters.",
        check: clusters,
    },
    Rule {
        id: "control-plane-unique",
        summary: "A control plane has a name of its own.",
        why: "Every derived name begins with it.",
        mend: "Rename one of the control planes.",
        check: control_planes,
    },
    Rule {
        id: "namespace-unique",
        summary: "A namespace belongs to one control plane and to nothing else.",
        why: "The operators keep database users and stores per namespace, and may enter everything in it.",
        mend: "Give each control plane a namespace of its own, and host certificates another one.",
        check: namespaces,
    },
    Rule {
        id: "pool-unique",
        summary: "A pool has a name of its own, also after its cluster's is put before it.",
        why: "The pool's name, with that of its cluster before it, is the name of the `NovaCompute`.",
        mend: "Rename one of the pools.",
        check: pools,
    },
    Rule {
        id: "secret-reserved",
        summary: "A Secret that an operator delivers is never declared here.",
        why: "A Secret of the same name that the operator did not make blocks the delivery.",
        mend: "Choose another name.",
        check: reserved_secrets,
    },
];

/// Whether a name is a DNS label: lower case, digits, `-`, not at the ends, at most 63.
pub(crate) fn is_dns_label(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 63
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// Whether a name is a DNS subdomain: labels joined by dots, at most 253.
pub(crate) fn is_dns_subdomain(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_dns_label)
}

fn dns_label(subject: &Subject<'_>, report: &mut Report<'_>) {
    let management = &subject.resolved.management;
    let mut names = vec![
        ("metadata.name".to_owned(), subject.resolved.name.as_str()),
        ("spec.management.name".to_owned(), management.name.as_str()),
        ("spec.management.source.namespace".to_owned(), management.flux_namespace.as_str()),
        ("spec.management.clustersNamespace".to_owned(), management.clusters_namespace.as_str()),
    ];
    for control_plane in &subject.resolved.control_planes {
        names.push((format!("{}.name", control_plane.field), &control_plane.name));
        names.push((format!("{}.namespace", control_plane.field), &control_plane.namespace));
        names.push((format!("{}.name", control_plane.ovn.field), &control_plane.ovn.name));
        names.extend(control_plane.clusters().map(|(field, name, _)| (format!("{field}.name"), name)));
        for services in &control_plane.services {
            let namespaces = services.placed.iter();
            names.extend(
                namespaces.map(|placed| (format!("{}.namespace", placed.field), placed.namespace.as_str())),
            );
        }
        for storage in &control_plane.storage {
            names.push((format!("{}.rook.namespace", storage.field), &storage.namespace));
        }
        let shares = control_plane.nfs_shares.iter().enumerate();
        names.extend(shares.map(|(index, share)| {
            (format!("{}.volumes.nfs[{index}].name", control_plane.field), share.name.as_str())
        }));
        for compute in &control_plane.compute {
            let field = format!("{}.libvirt.certificateNamespace", compute.attachment.field);
            names.push((field, &compute.libvirt.certificate_namespace));
            names.extend(
                compute.pools.iter().map(|pool| (format!("{}.name", pool.field), pool.pool.as_str())),
            );
        }
    }
    for (field, name) in names {
        if !is_dns_label(name) {
            let hint = "lower-case letters, digits and `-` inside, 63 characters at most";
            report.add(field, format!("{name:?} is not a DNS label"), Some(hint.to_owned()));
        }
    }
}

fn length(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut limit = |field: String, name: &str, limit: usize, why: &str| {
        if name.len() > limit {
            let message = format!("{name:?} has {} characters, {limit} fit", name.len());
            report.add(field, message, Some(why.to_owned()));
        }
    };
    for control_plane in &subject.resolved.control_planes {
        let field = format!("{}.name", control_plane.field);
        limit(field, &control_plane.name, 32, "the resources of Neutron, Nova and Cinder are named after it");
        let field = format!("{}.name", control_plane.ovn.field);
        limit(field, &control_plane.ovn.name, 45, "the pods of the databases are named after it");
        for (field, cluster, _) in control_plane.clusters() {
            let why = "`<cluster>-chassis` and the pods named after it must fit";
            limit(format!("{field}.name"), cluster, 34, why);
        }
        for pool in control_plane.compute.iter().flat_map(|compute| &compute.pools) {
            limit(format!("{}.name", pool.field), &pool.name, 63, "`<cluster>-<pool>` must fit");
        }
    }
}

/// Reports every name but the first of its kind.
fn unique<'name>(names: impl Iterator<Item = (String, &'name str)>, what: &str, report: &mut Report<'_>) {
    let mut seen: BTreeMap<&str, String> = BTreeMap::new();
    for (field, name) in names {
        match seen.get(name) {
            Some(first) => {
                let hint = format!("first used at {}", report.place(first));
                report.add(field, format!("{what} {name:?} is used twice"), Some(hint));
            }
            None => {
                seen.insert(name, field);
            }
        }
    }
}

fn clusters(subject: &Subject<'_>, report: &mut Report<'_>) {
    let management = ("spec.management.name".to_owned(), subject.resolved.management.name.as_str());
    let attached = subject.resolved.clusters().map(|(field, name, _)| (format!("{field}.name"), name));
    unique(std::iter::once(management).chain(attached), "the cluster name", report);
}

fn control_planes(subject: &Subject<'_>, report: &mut Report<'_>) {
    let names = subject.resolved.control_planes.iter();
    unique(
        names.map(|entry| (format!("{}.name", entry.field), entry.name.as_str())),
        "the control plane name",
        report,
    );
}

fn namespaces(subject: &Subject<'_>, report: &mut Report<'_>) {
    let management = &subject.resolved.management;
    let taken = [
        ("spec.management.source.namespace".to_owned(), management.flux_namespace.as_str()),
        ("spec.management.clustersNamespace".to_owned(), management.clusters_namespace.as_str()),
    ];
    let own = subject.resolved.control_planes.iter();
    let own = own.map(|entry| (format!("{}.namespace", entry.field), entry.namespace.as_str()));
    unique(taken.into_iter().chain(own), "the namespace", report);
    for control_plane in &subject.resolved.control_planes {
        for compute in &control_plane.compute {
            if compute.libvirt.certificate_namespace == control_plane.namespace {
                report.add(
                    format!("{}.libvirt.certificateNamespace", compute.attachment.field),
                    format!("{:?} is open to the operators of the control plane", control_plane.namespace),
                    Some("host certificates belong into a namespace of their own".to_owned()),
                );
            }
        }
    }
}

fn pools(subject: &Subject<'_>, report: &mut Report<'_>) {
    for control_plane in &subject.resolved.control_planes {
        let pools = control_plane.compute.iter().flat_map(|compute| &compute.pools);
        unique(
            pools.map(|pool| (format!("{}.name", pool.field), pool.name.as_str())),
            "the pool name",
            report,
        );
    }
}

/// Names of Secrets that operators deliver for a control plane; one that we made would block the delivery.
pub(crate) fn operator_secrets(control_plane: &str) -> Vec<String> {
    let suffixes = [
        "nova-metadata-secret",
        "nova-compute-config",
        "nova-remote-messaging",
        "nova-remote-compute-config",
        "nova-hypervisor-operator-auth",
        "nova-metadata-agent-secret",
        "neutron-messaging",
        "nova-messaging",
        "cinder-messaging",
        "neutron-messaging-ca",
        "nova-messaging-ca",
        "cinder-messaging-ca",
        "keystone-admin-credentials",
        "keystone-db-credentials",
        "ovn-client",
    ];
    suffixes.iter().map(|suffix| format!("{control_plane}-{suffix}")).collect()
}

fn reserved_secrets(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (declared, resolved) in
        subject.declared.spec.control_planes.iter().zip(&subject.resolved.control_planes)
    {
        let reserved = operator_secrets(&resolved.name);
        let messaging = declared.messaging.clone().unwrap_or_default();
        let images = declared.images.clone().unwrap_or_default();
        let mut names = vec![
            (format!("{}.messaging.transportUrlSecret", resolved.field), messaging.transport_url_secret),
            (
                format!("{}.messaging.certificateAuthoritySecret", resolved.field),
                messaging.certificate_authority_secret,
            ),
            (
                format!("{}.messaging.remoteTransportUrlSecret", resolved.field),
                messaging.remote_transport_url_secret,
            ),
            (format!("{}.images.credentialsSecret", resolved.field), images.credentials_secret),
        ];
        for (index, cluster) in declared.compute.iter().enumerate() {
            let agent = cluster.metadata_agent.clone().unwrap_or_default();
            let field =
                format!("{}.compute[{index}].metadataAgent.certificateAuthoritySecret", resolved.field);
            names.push((field, agent.certificate_authority_secret));
        }
        for (field, name) in names {
            let Some(name) = name else {
                continue;
            };
            if reserved.contains(&name) {
                report.add(
                    field,
                    format!("the Secret {name:?} is delivered by an operator"),
                    Some("choose another name".to_owned()),
                );
            } else if !is_dns_subdomain(&name) {
                report.add(field, format!("{name:?} cannot be the name of a Secret"), None);
            }
        }
    }
}
