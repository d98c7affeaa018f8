//! References between objects: what a resource names exists, where it must, and comes before it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::documents::Document;
use super::report;
use crate::attachments::REGISTRATION_LABEL;
use crate::finding::Findings;
use crate::plan::Plan;

pub(super) fn check(plan: &Plan, documents: &[Document], findings: &mut Findings) {
    let index: BTreeMap<(&str, &str, &str), &Document> = documents
        .iter()
        .map(|document| ((document.text("/kind"), document.namespace(), document.name()), document))
        .collect();
    let order = Order::of(plan);
    let registrations = registrations(documents);
    for document in documents {
        target_cluster(document, &registrations, findings);
        let references: &[(&str, &str)] = match document.kind().1 {
            "OVNChassis" => &[("/spec/centralRef/name", "OVNCentral")],
            "NeutronMetadataAgent" => &[("/spec/chassisRef/name", "OVNChassis")],
            "ControlPlane" => &[("/spec/services/neutron/ovn/centralRef/name", "OVNCentral")],
            _ => &[],
        };
        for (pointer, kind) in references {
            let name = document.text(pointer);
            match index.get(&(*kind, document.namespace(), name)) {
                None => {
                    let message = format!(
                        "refers to {kind} {name:?}, which is not in namespace {}",
                        document.namespace()
                    );
                    report(findings, "reference", document, message);
                }
                Some(target) => {
                    order.check(document, target, findings);
                    same_cluster(document, target, findings);
                }
            }
        }
        placed_services(document, &registrations, findings);
        let satellite = match document.kind().1 {
            "NovaCompute" => Some(("/spec/novaRef/name", "-nova")),
            "CinderBackend" | "CinderBackupBackend" => Some(("/spec/cinderRef/name", "-cinder")),
            _ => None,
        };
        if let Some((pointer, suffix)) = satellite {
            let nova = document.text(pointer);
            let owner = nova.strip_suffix(suffix).unwrap_or_default();
            match index.get(&("ControlPlane", document.namespace(), owner)) {
                None => report(
                    findings,
                    "reference",
                    document,
                    format!("there is no control plane that {nova:?} belongs to"),
                ),
                Some(target) => order.check(document, target, findings),
            }
        }
    }
}

/// An agent runs where its chassis runs.
fn same_cluster(document: &Document, target: &Document, findings: &mut Findings) {
    let pointer = "/spec/targetClusterRef/name";
    if document.kind().1 == "NeutronMetadataAgent" && document.text(pointer) != target.text(pointer) {
        report(
            findings,
            "reference",
            document,
            format!("is on another cluster than its chassis {}", target.name()),
        );
    }
}

/// Registrations by name of the cluster.
fn registrations(documents: &[Document]) -> BTreeMap<&str, &Document> {
    let is_registration = |document: &&Document| {
        let labels = document.object.pointer("/spec/target/template/metadata/labels");
        document.text("/kind") == "ExternalSecret"
            && labels.and_then(|labels| labels.get(REGISTRATION_LABEL)).and_then(Value::as_str)
                == Some("true")
    };
    documents.iter().filter(is_registration).map(|document| (document.name(), document)).collect()
}

/// A cluster that is named is registered, and the operators may enter the namespace there.
fn target_cluster(document: &Document, registrations: &BTreeMap<&str, &Document>, findings: &mut Findings) {
    let cluster = document.text("/spec/targetClusterRef/name");
    if cluster.is_empty() {
        return;
    }
    let Some(registration) = registrations.get(cluster) else {
        report(
            findings,
            "registration",
            document,
            format!("names the cluster {cluster:?}, which is not registered"),
        );
        return;
    };
    let namespaces = registration.text("/spec/target/template/data/namespaces");
    if !namespaces.split(',').any(|namespace| namespace == document.namespace()) {
        let message = format!("the operators may not enter namespace {} on {cluster}", document.namespace());
        report(findings, "registration", document, message);
    }
}

/// A service that is placed elsewhere: its cluster is registered, for the namespace that it runs in.
fn placed_services(document: &Document, registrations: &BTreeMap<&str, &Document>, findings: &mut Findings) {
    let services = document.object.pointer("/spec/services").and_then(Value::as_object);
    for (name, service) in services.into_iter().flatten().filter(|_| document.kind().1 == "ControlPlane") {
        let text = |pointer: &str| service.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let cluster = text("/targetClusterRef/name");
        if cluster.is_empty() {
            continue;
        }
        let namespaces =
            registrations.get(cluster).map(|entry| entry.text("/spec/target/template/data/namespaces"));
        if !namespaces.is_some_and(|list| list.split(',').any(|entry| entry == text("/namespace/name"))) {
            let message =
                format!("{name} is placed on {cluster:?}, which the operators may not enter for it");
            report(findings, "registration", document, message);
        }
    }
}

/// Which layer comes after which.
struct Order<'plan> {
    layer_of: BTreeMap<&'plan str, &'plan str>,
    before: BTreeMap<&'plan str, BTreeSet<&'plan str>>,
}

impl<'plan> Order<'plan> {
    fn of(plan: &'plan Plan) -> Self {
        let mut layer_of = BTreeMap::new();
        let mut before: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for layer in &plan.layers {
            layer_of.extend(layer.objects.iter().map(|planned| (planned.path.as_str(), layer.name.as_str())));
            let mut all = BTreeSet::new();
            for dependency in &layer.depends_on {
                all.insert(dependency.as_str());
                all.extend(before.get(dependency.as_str()).into_iter().flatten());
            }
            before.insert(&layer.name, all);
        }
        Self { layer_of, before }
    }

    fn check(&self, document: &Document, target: &Document, findings: &mut Findings) {
        let (Some(layer), Some(wanted)) =
            (self.layer_of.get(document.path.as_str()), self.layer_of.get(target.path.as_str()))
        else {
            return;
        };
        if !self.before.get(layer).is_some_and(|before| before.contains(wanted)) {
            report(
                findings,
                "reference-order",
                document,
                format!("does not wait for {} in {wanted}", target.name()),
            );
        }
    }
}
