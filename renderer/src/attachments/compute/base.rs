//! What a compute cluster itself needs before agents and pools: the namespace of host certificates, CAs, an issuer.

use serde_json::{Value, json};

use super::Compute;
use crate::attachments::connection;
use crate::conventions::{ResolvedControlPlane, ResolvedManagement};
use crate::plan::{Health, Layer, PRUNE_ANNOTATION, Remote, external_secret, metadata};

/// Name of the Secret with libvirt's CA and of the issuer that uses it, as the hypervisor operator expects them.
const LIBVIRT_CA: &str = "nova-hypervisor-agents-ca";
pub(super) const LIBVIRT_ISSUER: &str = "nova-hypervisor-agents-ca-issuer";

/// Applied to the compute cluster itself, after the access release made the operators' namespace there.
pub(super) fn layer(
    control_plane: &ResolvedControlPlane,
    compute: &Compute,
    management: &ResolvedManagement,
) -> Layer {
    let namespace = compute.libvirt.certificate_namespace.as_str();
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
        |key: &'static str| Remote { key, store_key: compute.libvirt.ca_key.clone(), property: key };
    let libvirt_ca =
        external_secret(LIBVIRT_CA, namespace, management, &[authority("tls.crt"), authority("tls.key")]);
    let issuer = json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": "Issuer",
        "metadata": metadata(LIBVIRT_ISSUER, Some(namespace)),
        "spec": { "ca": { "secretName": LIBVIRT_CA } },
    });
    let way = compute.attachment.way(&control_plane.namespace);
    // The access release makes the operators' namespace there.
    connection::on_cluster(&way, management, "base")
        .after(way.after("access"))
        .after(crate::plan::foundation_is_ready(&way, management))
        .with("namespace.yaml", "certificate-namespace", Health::Status, certificate_namespace(namespace))
        .with("external-secret.yaml", "metadata-ca", Health::Condition("Ready"), metadata_ca)
        .with("external-secret.yaml", "libvirt-ca", Health::Condition("Ready"), libvirt_ca)
        .with("issuer.yaml", "libvirt-issuer", Health::Condition("Ready"), issuer)
        .with("object.yaml", "certificate-guard", Health::Unchecked, guard(namespace))
        .with("object.yaml", "certificate-guard-binding", Health::Unchecked, guard_binding())
}

const GUARD: &str = "libvirt-certificates";

/// A Secret of a host certificate elsewhere would let whoever can write there speak to every libvirt of the migration domain.
fn guard(namespace: &str) -> Value {
    let expression = format!(
        "!object.metadata.name.startsWith('tls-libvirt-') || object.metadata.namespace == '{namespace}'"
    );
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": metadata(GUARD, None),
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": { "resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "resources": ["secrets"], "operations": ["CREATE", "UPDATE"],
            }] },
            "validations": [{
                "expression": expression,
                "message": format!("host certificates of libvirt belong into the namespace {namespace}"),
            }],
        },
    })
}

fn guard_binding() -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": metadata(GUARD, None),
        "spec": { "policyName": GUARD, "validationActions": ["Deny"] },
    })
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
