//! Where charts and manifests come from, the namespaces of the operators, and Flux itself.

use std::collections::BTreeSet;

use c5c3_api::topology::GitPin;
use serde_json::{Map, Value, json};

use super::layer;
use super::releases::{RELEASES, chart_repositories, is_wanted};
use crate::conventions::{ResolvedManagement, ResolvedPlatform};
use crate::plan::{Health, Layer, kept, metadata};

/// A repository whose manifests Flux applies as they are.
struct Upstream<'platform> {
    name: &'static str,
    url: &'static str,
    path: &'static str,
    pin: &'platform GitPin,
}

fn upstreams(platform: &ResolvedPlatform) -> [Upstream<'_>; 3] {
    let declared = &platform.declared;
    [
        Upstream {
            name: "k-orc",
            url: "https://github.com/k-orc/openstack-resource-controller",
            path: "./config/default",
            pin: &declared.k_orc,
        },
        Upstream {
            name: "rabbitmq-cluster-operator",
            url: "https://github.com/rabbitmq/cluster-operator",
            path: "./config/installation",
            pin: &declared.rabbitmq_cluster_operator,
        },
        Upstream {
            name: "messaging-topology-operator",
            url: "https://github.com/rabbitmq/messaging-topology-operator",
            path: "./config/installation/cert-manager",
            pin: &declared.messaging_topology_operator,
        },
    ]
}

/// Sources, and the layers that read straight from one of them.
pub(super) fn layers(management: &ResolvedManagement, platform: &ResolvedPlatform) -> Vec<Layer> {
    let owner = "spec.management.platform";
    let mut sources = layer(management, "sources", owner);
    if let Some(flux) = &platform.declared.flux {
        let version = flux.version.as_deref().unwrap_or("2.x");
        let registry = flux.registry.as_deref().unwrap_or("ghcr.io/fluxcd");
        sources = sources.with(
            "object.yaml",
            "flux-instance",
            Health::Status,
            flux_instance(management, version, registry),
        );
    }
    let namespaces: BTreeSet<&str> = RELEASES
        .iter()
        .filter(|release| is_wanted(platform, release))
        .map(|release| release.namespace)
        .collect();
    for namespace in namespaces {
        let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": kept(namespace, None) });
        let file = format!("namespace-{namespace}");
        sources = sources.with("namespace.yaml", &file, Health::Status, object);
    }
    for (name, url) in chart_repositories(platform) {
        let mut spec = Map::new();
        if url.starts_with("oci://") {
            spec.insert("type".to_owned(), json!("oci"));
        }
        spec.insert("interval".to_owned(), json!("1h"));
        spec.insert("url".to_owned(), json!(url));
        let object = json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "HelmRepository",
            "metadata": metadata(name, Some(&management.flux_namespace)),
            "spec": spec,
        });
        sources = sources.with("object.yaml", &format!("charts-{name}"), Health::Unchecked, object);
    }
    let mut layers = Vec::new();
    for upstream in upstreams(platform) {
        let field = format!("{owner}.{}", field_of(upstream.name));
        let repository = git_repository(management, &upstream);
        let file = format!("git-{}", upstream.name);
        sources = sources.with_owner("object.yaml", &file, Health::Status, &field, repository);
        let path = upstream.pin.path.as_deref().unwrap_or(upstream.path);
        layers.push(
            Layer::new(upstream.name.to_owned(), &management.name, String::new(), &field)
                .elsewhere(upstream.name, path)
                .keeps_objects()
                .after(["platform-sources".to_owned(), "platform-foundation".to_owned()]),
        );
    }
    layers.insert(0, sources);
    layers
}

fn field_of(upstream: &str) -> &'static str {
    match upstream {
        "k-orc" => "kOrc",
        "rabbitmq-cluster-operator" => "rabbitmqClusterOperator",
        _ => "messagingTopologyOperator",
    }
}

fn git_repository(management: &ResolvedManagement, upstream: &Upstream<'_>) -> Value {
    let pin = upstream.pin;
    let mut reference = Map::new();
    reference.insert("commit".to_owned(), json!(pin.commit));
    if let Some(tag) = &pin.tag {
        reference.insert("tag".to_owned(), json!(tag));
    }
    json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "GitRepository",
        "metadata": metadata(upstream.name, Some(&management.flux_namespace)),
        "spec": {
            "interval": "1h",
            "url": pin.url.as_deref().unwrap_or(upstream.url),
            "ref": reference,
        },
    })
}

fn flux_instance(management: &ResolvedManagement, version: &str, registry: &str) -> Value {
    json!({
        "apiVersion": "fluxcd.controlplane.io/v1",
        "kind": "FluxInstance",
        "metadata": kept("flux", Some(&management.flux_namespace)),
        "spec": {
            "distribution": { "version": version, "registry": registry },
            "components": ["source-controller", "kustomize-controller", "helm-controller", "notification-controller"],
            "cluster": { "type": "kubernetes", "size": "small", "multitenant": false, "networkPolicy": false },
        },
    })
}
