//! How a cluster is attached: Flux's way in, the stores there, the access release, the registration for the operators.

use serde_json::{Value, json};

use super::conventions::ResolvedAccess;
use crate::conventions::{Resolved, ResolvedManagement};
use crate::plan::{Health, Layer, Remote, external_secret, kept, metadata, platform_is_ready, with_template};

/// Name of the layer that makes the namespace of registrations.
pub(crate) const CLUSTERS_LAYER: &str = "c5c3-clusters";

/// Label by which the operators find registrations.
pub(crate) const REGISTRATION_LABEL: &str = "sigs.k8s.io/multicluster-runtime-kubeconfig";

/// Namespace and token of the account that the access release makes.
const ACCESS_NAMESPACE: &str = "c5c3-access";
const ACCESS_TOKEN: &str = "target-cluster-access-token";

/// What is needed to get into a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Way<'cluster> {
    pub(crate) field: &'cluster str,
    pub(crate) cluster: &'cluster str,
    pub(crate) access: &'cluster ResolvedAccess,
    /// The management cluster itself: no way in is needed.
    pub(crate) local: bool,
    pub(crate) draining: bool,
    /// Namespaces that the operators may enter there.
    pub(crate) namespaces: Vec<String>,
    /// Those of them in which pods may be privileged.
    pub(crate) privileged: Vec<String>,
    /// Whether services of the control plane run there, which takes more operators.
    pub(crate) hosts_services: bool,
}

/// Name of one of an attachment's layers.
pub(crate) fn layer_name(cluster: &str, step: &str) -> String {
    format!("{cluster}-{step}")
}

/// Folder of one of an attachment's layers, on the management cluster.
pub(crate) fn folder(management: &ResolvedManagement, cluster: &str, step: &str) -> String {
    format!("clusters/{}/attachments/{cluster}/{step}", management.name)
}

/// The Secret through which Flux applies to an attached cluster.
pub(crate) fn kubeconfig_secret(cluster: &str) -> String {
    format!("{cluster}-flux-kubeconfig")
}

/// The namespace in which clusters are registered.
pub(crate) fn clusters_namespace(resolved: &Resolved) -> Layer {
    let management = &resolved.management;
    let path = format!("clusters/{}/shared/{CLUSTERS_LAYER}", management.name);
    let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": kept(&management.clusters_namespace, None) });
    Layer::new(CLUSTERS_LAYER.to_owned(), &management.name, path, "spec.management.clustersNamespace")
        .keeps_objects()
        .after(platform_is_ready(management))
        .with("namespace.yaml", "namespace", Health::Status, object)
}

/// A layer of an attachment on the management cluster.
pub(super) fn layer(way: &Way<'_>, management: &ResolvedManagement, step: &str) -> Layer {
    let path = folder(management, way.cluster, step);
    Layer::new(layer_name(way.cluster, step), &management.name, path, way.field)
        .keeps_objects_unless(way.draining)
}

/// A layer on the cluster itself, once Flux can get in.
pub(super) fn on_cluster(way: &Way<'_>, management: &ResolvedManagement, step: &str) -> Layer {
    let cluster = way.cluster;
    let name = layer_name(cluster, step);
    if way.local {
        return Layer::new(name, &management.name, folder(management, cluster, step), way.field);
    }
    Layer::new(name, cluster, format!("clusters/{cluster}/{step}"), way.field)
        .through(kubeconfig_secret(cluster))
        .after(way.after("connection"))
}

impl Way<'_> {
    /// One of the steps that lead into the cluster, to wait for; none where nobody has to be led.
    pub(super) fn after(&self, step: &str) -> Option<String> {
        (!self.local).then(|| layer_name(self.cluster, step))
    }

    /// `kubeConfig` of a release, and `targetClusterRef` of a resource.
    pub(super) fn target(&self) -> Option<Value> {
        (!self.local).then(|| json!({ "name": self.cluster }))
    }
}

/// Flux's way in, and the operators and the secret store that everything there leans on.
pub(super) fn flux_access(way: &Way<'_>, management: &ResolvedManagement) -> Vec<Layer> {
    if way.local {
        return Vec::new();
    }
    let cluster = way.cluster;
    let connection = layer(way, management, "connection").after([CLUSTERS_LAYER.to_owned()]).with(
        "external-secret.yaml",
        "kubeconfig",
        Health::Condition("Ready"),
        external_secret(
            &kubeconfig_secret(cluster),
            &management.flux_namespace,
            management,
            &[Remote {
                key: "value",
                store_key: management.secret_key(&["clusters", cluster, "flux"]),
                property: "kubeconfig",
            }],
        ),
    );
    let mut layers = vec![connection];
    layers.extend(crate::plan::foundation(way, management));
    layers
}

/// The steps by which an attached cluster becomes usable for the operators.
pub(super) fn layers(way: &Way<'_>, management: &ResolvedManagement) -> Vec<Layer> {
    if way.local {
        return Vec::new();
    }
    let cluster = way.cluster;
    let mut layers = flux_access(way, management);
    layers.push(layer(way, management, "access").after([layer_name(cluster, "connection")]).with(
        "helm-release.yaml",
        "release",
        Health::Status,
        access_release(way, management),
    ));
    let step = layer(way, management, "registration")
        .after([CLUSTERS_LAYER.to_owned(), layer_name(cluster, "access")]);
    layers.push(match &way.access.server {
        None => step.with(
            "external-secret.yaml",
            "registration",
            Health::Condition("Ready"),
            registration_from_store(way, management),
        ),
        Some(server) => step
            .with("object.yaml", "token-store", Health::Condition("Ready"), token_store(way, management))
            .with(
                "external-secret.yaml",
                "registration",
                Health::Condition("Ready"),
                registration_from_token(way, management, server),
            ),
    });
    layers
}

/// The account, roles and namespaces that the operators use on the cluster.
fn access_release(way: &Way<'_>, management: &ResolvedManagement) -> Value {
    json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": metadata(&layer_name(way.cluster, "access"), Some(&management.flux_namespace)),
        "spec": {
            "interval": "30m",
            "releaseName": "target-cluster-access",
            "targetNamespace": ACCESS_NAMESPACE,
            "storageNamespace": ACCESS_NAMESPACE,
            "kubeConfig": { "secretRef": { "name": kubeconfig_secret(way.cluster), "key": "value" } },
            "chart": { "spec": {
                "chart": "target-cluster-access",
                "version": way.access.chart_version,
                "sourceRef": { "kind": "HelmRepository", "name": "c5c3-charts" },
            } },
            "install": { "createNamespace": true, "remediation": { "retries": 3 } },
            "upgrade": { "remediation": { "retries": 3 } },
            "values": {
                "namespaces": way.namespaces,
                "createNamespaces": true,
                "privilegedNamespaces": way.privileged,
            },
        },
    })
}

/// The Secret by which the operators know the cluster. Its `namespaces` equal those of the access release.
fn registration_from_store(way: &Way<'_>, management: &ResolvedManagement) -> Value {
    let secret = external_secret(
        way.cluster,
        &management.clusters_namespace,
        management,
        &[Remote {
            key: "kubeconfig",
            store_key: management.secret_key(&["clusters", way.cluster, "access"]),
            property: "kubeconfig",
        }],
    );
    registered(secret, way, "{{ .kubeconfig }}")
}

/// The account's token, read on the cluster itself through Flux's way in; nobody copies it by hand, and a renewed one is followed.
fn token_store(way: &Way<'_>, management: &ResolvedManagement) -> Value {
    json!({
        "apiVersion": "external-secrets.io/v1",
        "kind": "ClusterSecretStore",
        "metadata": metadata(&layer_name(way.cluster, "token"), None),
        "spec": { "provider": { "kubernetes": {
            "remoteNamespace": ACCESS_NAMESPACE,
            "authRef": {
                "name": kubeconfig_secret(way.cluster),
                "key": "value",
                "namespace": management.flux_namespace,
            },
        } } },
    })
}

fn registration_from_token(way: &Way<'_>, management: &ResolvedManagement, server: &str) -> Value {
    let key = |key: &str, property: &str| json!({ "secretKey": key, "remoteRef": { "key": ACCESS_TOKEN, "property": property } });
    let secret = json!({
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": metadata(way.cluster, Some(&management.clusters_namespace)),
        "spec": {
            "refreshInterval": "1h",
            "secretStoreRef": { "kind": "ClusterSecretStore", "name": layer_name(way.cluster, "token") },
            "target": { "name": way.cluster, "creationPolicy": "Owner" },
            "data": [key("token", "token"), key("authority", "ca.crt")],
        },
    });
    let kubeconfig = format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- name: target\n  cluster:\n    server: {server}\n    \
         certificate-authority-data: {{{{ .authority | b64enc }}}}\nusers:\n- name: target\n  user:\n    \
         token: {{{{ .token }}}}\ncontexts:\n- name: target\n  context:\n    cluster: target\n    user: target\n\
         current-context: target\n"
    );
    registered(secret, way, &kubeconfig)
}

fn registered(secret: Value, way: &Way<'_>, kubeconfig: &str) -> Value {
    let labels = json!({ REGISTRATION_LABEL: "true" });
    let namespaces = way.namespaces.join(",");
    with_template(secret, &labels, &[("kubeconfig", kubeconfig), ("namespaces", &namespaces)])
}
