//! How a cluster is attached: Flux's way in, the access release there, the registration for the operators.

use serde_json::{Value, json};

use super::layer::{Health, Layer, kept, metadata};
use super::secrets::{Remote, external_secret, with_template};
use crate::conventions::{Attachment, Resolved, ResolvedControlPlane, ResolvedManagement};

/// Name of the layer that makes the namespace of registrations.
pub(super) const CLUSTERS_LAYER: &str = "c5c3-clusters";

/// Label by which the operators find registrations.
pub(crate) const REGISTRATION_LABEL: &str = "sigs.k8s.io/multicluster-runtime-kubeconfig";

/// Name of one of an attachment's layers.
pub(super) fn layer_name(cluster: &str, step: &str) -> String {
    format!("{cluster}-{step}")
}

/// Folder of one of an attachment's layers, on the management cluster.
pub(super) fn folder(management: &ResolvedManagement, cluster: &str, step: &str) -> String {
    format!("clusters/{}/attachments/{cluster}/{step}", management.name)
}

/// The Secret through which Flux applies to an attached cluster.
pub(super) fn kubeconfig_secret(cluster: &str) -> String {
    format!("{cluster}-flux-kubeconfig")
}

/// The namespace in which clusters are registered.
pub(super) fn clusters_namespace(resolved: &Resolved) -> Layer {
    let management = &resolved.management;
    let path = format!("clusters/{}/shared/{CLUSTERS_LAYER}", management.name);
    let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": kept(&management.clusters_namespace, None) });
    Layer::new(CLUSTERS_LAYER.to_owned(), &management.name, path, "spec.management.clustersNamespace")
        .keeps_objects()
        .with("namespace.yaml", "namespace", Health::Status, object)
}

/// The three steps by which an attached cluster becomes usable.
pub(super) fn layers(
    control_plane: &ResolvedControlPlane,
    attachment: &Attachment,
    management: &ResolvedManagement,
) -> [Layer; 3] {
    let cluster = attachment.cluster.as_str();
    let layer = |step: &str| {
        let (name, path) = (layer_name(cluster, step), folder(management, cluster, step));
        Layer::new(name, &management.name, path, &attachment.field).keeps_objects()
    };
    let connection = layer("connection").with(
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
    let access = layer("access").after([layer_name(cluster, "connection")]).with(
        "helm-release.yaml",
        "release",
        Health::Status,
        access_release(control_plane, attachment, management),
    );
    let registration =
        layer("registration").after([CLUSTERS_LAYER.to_owned(), layer_name(cluster, "access")]).with(
            "external-secret.yaml",
            "registration",
            Health::Condition("Ready"),
            registration(control_plane, cluster, management),
        );
    [connection, access, registration]
}

/// The account, roles and privileged namespace that the operators use on the cluster.
fn access_release(
    control_plane: &ResolvedControlPlane,
    attachment: &Attachment,
    management: &ResolvedManagement,
) -> Value {
    let namespaces = [control_plane.namespace.as_str()];
    json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": metadata(&layer_name(&attachment.cluster, "access"), Some(&management.flux_namespace)),
        "spec": {
            "interval": "30m",
            "releaseName": "target-cluster-access",
            "targetNamespace": "c5c3-access",
            "storageNamespace": "c5c3-access",
            "kubeConfig": { "secretRef": { "name": kubeconfig_secret(&attachment.cluster), "key": "value" } },
            "chart": { "spec": {
                "chart": "target-cluster-access",
                "version": attachment.access_chart_version,
                "sourceRef": { "kind": "HelmRepository", "name": "c5c3-charts" },
            } },
            "install": { "createNamespace": true, "remediation": { "retries": 3 } },
            "upgrade": { "remediation": { "retries": 3 } },
            "values": {
                "namespaces": namespaces,
                "createNamespaces": true,
                "privilegedNamespaces": namespaces,
            },
        },
    })
}

/// The Secret by which the operators know the cluster. Its `namespaces` equal those of the access release.
fn registration(
    control_plane: &ResolvedControlPlane,
    cluster: &str,
    management: &ResolvedManagement,
) -> Value {
    let secret = external_secret(
        cluster,
        &management.clusters_namespace,
        management,
        &[Remote {
            key: "kubeconfig",
            store_key: management.secret_key(&["clusters", cluster, "access"]),
            property: "kubeconfig",
        }],
    );
    let labels = json!({ REGISTRATION_LABEL: "true" });
    with_template(
        secret,
        &labels,
        &[("kubeconfig", "{{ .kubeconfig }}"), ("namespaces", &control_plane.namespace)],
    )
}
