//! What a compute cluster itself needs before agents and pools: the namespace of host certificates, CAs, an issuer.

use serde_json::{Value, json};

use super::connection;
use super::layer::{Health, Layer, PRUNE_ANNOTATION, metadata};
use super::secrets::{Remote, external_secret};
use crate::conventions::{Compute, ResolvedControlPlane, ResolvedManagement};

/// Name of the Secret with libvirt's CA and of the issuer that uses it, as the hypervisor operator expects them.
const LIBVIRT_CA: &str = "nova-hypervisor-agents-ca";
pub(super) const LIBVIRT_ISSUER: &str = "nova-hypervisor-agents-ca-issuer";

/// Applied to the compute cluster itself, after the access release made the operators' namespace there.
pub(super) fn layer(
    control_plane: &ResolvedControlPlane,
    compute: &Compute,
    management: &ResolvedManagement,
) -> Layer {
    let cluster = compute.attachment.cluster.as_str();
    let namespace = compute.certificate_namespace.as_str();
    let metadata_ca = external_secret(
        &compute.metadata_ca_secret,
        &control_plane.namespace,
        management,
        &[Remote {
            key: "ca.crt",
            store_key: management.secret_key(&["control-planes", &control_plane.name, "metadata-ca"]),
            property: "ca.crt",
        }],
    );
    let authority =
        |key: &'static str| Remote { key, store_key: compute.libvirt_ca_key.clone(), property: key };
    let libvirt_ca =
        external_secret(LIBVIRT_CA, namespace, management, &[authority("tls.crt"), authority("tls.key")]);
    let issuer = json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": "Issuer",
        "metadata": metadata(LIBVIRT_ISSUER, Some(namespace)),
        "spec": { "ca": { "secretName": LIBVIRT_CA } },
    });
    Layer::new(
        connection::layer_name(cluster, "base"),
        cluster,
        format!("clusters/{cluster}/base"),
        &compute.attachment.field,
    )
    .through(connection::kubeconfig_secret(cluster))
    .after([connection::layer_name(cluster, "access")])
    .with("namespace.yaml", "certificate-namespace", Health::Status, certificate_namespace(namespace))
    .with("external-secret.yaml", "metadata-ca", Health::Condition("Ready"), metadata_ca)
    .with("external-secret.yaml", "libvirt-ca", Health::Condition("Ready"), libvirt_ca)
    .with("issuer.yaml", "libvirt-issuer", Health::Condition("Ready"), issuer)
}

/// Agents in it write certificates onto the hosts, which takes privileges.
fn certificate_namespace(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {
                "pod-security.kubernetes.io/enforce": "privileged",
                "pod-security.kubernetes.io/warn": "privileged",
            },
            "annotations": { PRUNE_ANNOTATION: "disabled" },
        },
    })
}
