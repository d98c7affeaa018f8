//! Secrets that objects refer to: each is fetched from the store, issued by cert-manager, or delivered by an operator. A name that nobody makes
//! is a pod that waits forever.

use std::collections::BTreeSet;

use serde_json::Value;

use super::documents::Document;
use super::report;
use crate::finding::Findings;
use crate::rules::operator_secrets;

/// Where a kind names a Secret. `*` stands for every item of a list.
const REFERENCES: &[(&str, &[&str])] = &[
    (
        "ControlPlane",
        &[
            "/spec/infrastructure/messaging/secretRef/name",
            "/spec/infrastructure/messaging/tls/caBundleSecretRef/name",
            "/spec/services/nova/remoteCompute/transportURLSecretRef/name",
            "/spec/services/glance/backends/*/s3/credentialsSecretRef/name",
        ],
    ),
    (
        "NeutronMetadataAgent",
        &["/spec/novaMetadata/caBundleSecretRef/name", "/spec/novaMetadata/sharedSecretRef/name"],
    ),
    ("CinderBackend", &["/spec/rbd/keySecretRef/name"]),
    ("CinderBackupBackend", &["/spec/rbd/keySecretRef/name"]),
    ("Kustomization", &["/spec/kubeConfig/secretRef/name"]),
    ("HelmRelease", &["/spec/kubeConfig/secretRef/name"]),
    ("Issuer", &["/spec/ca/secretName"]),
];

pub(super) fn check(documents: &[Document], findings: &mut Findings) {
    let mut made: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    let mut delivered: BTreeSet<String> = BTreeSet::new();
    for document in documents {
        let name = match document.kind().1 {
            "ExternalSecret" => document.text("/spec/target/name"),
            "Certificate" => document.text("/spec/secretName"),
            "Secret" => document.name(),
            "ControlPlane" => {
                delivered.extend(operator_secrets(document.name()));
                continue;
            }
            _ => continue,
        };
        made.insert((&document.cluster, document.namespace(), name));
    }
    for document in documents {
        let Some((_, pointers)) = REFERENCES.iter().find(|(kind, _)| *kind == document.kind().1) else {
            continue;
        };
        // The operators' pods, and so their Secrets, are where the resource says; everything else is where it is applied.
        let target = document.text("/spec/targetClusterRef/name");
        let cluster = if target.is_empty() { document.cluster.as_str() } else { target };
        for name in pointers.iter().flat_map(|pointer| names(&document.object, pointer)) {
            if !made.contains(&(cluster, document.namespace(), name)) && !delivered.contains(name) {
                let message = format!(
                    "refers to the Secret {name:?}, which nobody makes in namespace {} of {cluster}",
                    document.namespace()
                );
                report(findings, "secret-source", document, message);
            }
        }
    }
}

fn names<'object>(object: &'object Value, pointer: &str) -> Vec<&'object str> {
    let Some((head, tail)) = pointer.split_once("/*") else {
        return object.pointer(pointer).and_then(Value::as_str).into_iter().collect();
    };
    let items = object.pointer(head).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(|item| item.pointer(tail).and_then(Value::as_str)).collect()
}
