//! Labels and annotations of nodes: partial Node objects that Flux merges into what the cluster has.

use serde_json::{Value, json};

use super::connection::{Way, on_cluster};
use super::conventions::ResolvedHost;
use crate::conventions::ResolvedManagement;
use crate::plan::{Health, Layer, PRUNE_ANNOTATION};

/// The nodes of an attachment, on the cluster itself. Flux never deletes a node: one that leaves the topology keeps its labels.
pub(super) fn layer<'host>(
    way: &Way<'_>,
    management: &ResolvedManagement,
    hosts: impl Iterator<Item = &'host ResolvedHost>,
) -> Option<Layer> {
    let mut layer = on_cluster(way, management, "nodes").keeps_objects();
    for host in hosts {
        layer = layer.with_owner("node.yaml", &host.name, Health::Unchecked, &host.field, node(host));
    }
    (!layer.objects.is_empty()).then_some(layer)
}

fn node(host: &ResolvedHost) -> Value {
    let mut annotations = host.annotations.clone();
    annotations.insert(PRUNE_ANNOTATION.to_owned(), "disabled".to_owned());
    annotations.insert("kustomize.toolkit.fluxcd.io/ssa".to_owned(), "Merge".to_owned());
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": { "name": host.name, "labels": host.labels, "annotations": annotations },
    })
}
