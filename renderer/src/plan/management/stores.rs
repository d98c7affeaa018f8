//! The stores that External Secrets reads and writes, on three paths: the management cluster reads everything of ours, a control plane its
//! own (that store is made by the c5c3-operator), a storage cluster only writes below its own keys.

use serde_json::{Value, json};

use super::ESO_NAMESPACE;
use crate::attachments::Way;
use crate::conventions::{ResolvedManagement, ResolvedOpenBao};
use crate::plan::{Health, Layer, metadata};

/// Name of the store that a storage cluster pushes keys through.
pub(crate) const PUSH_STORE: &str = "openbao-ceph-store";

/// The reference to the store, as an ExternalSecret or PushSecret has it.
pub(crate) fn store_of(management: &ResolvedManagement) -> Value {
    json!({ "kind": management.store_kind, "name": management.store_name })
}

/// The store of the management cluster.
pub(super) fn layer(management: &ResolvedManagement) -> Option<Layer> {
    let openbao = management.openbao.as_ref().filter(|_| management.renders_stores())?;
    let account = "eso-management";
    let certificate = "openbao-eso-client";
    let after =
        management.platform.is_some().then(|| ["platform-infrastructure", "platform-pki"].map(str::to_owned));
    Some(
        super::layer(management, "stores", "spec.management.openbao")
            .after(after.into_iter().flatten())
            .with("object.yaml", "account", Health::Unchecked, service_account(account, ESO_NAMESPACE))
            .with(
                "certificate.yaml",
                "client-certificate",
                Health::Condition("Ready"),
                client_certificate(certificate, ESO_NAMESPACE),
            )
            .with(
                "object.yaml",
                "store",
                Health::Condition("Ready"),
                cluster_store(
                    management,
                    openbao,
                    &openbao.address,
                    "management",
                    &openbao.role,
                    account,
                    certificate,
                ),
            ),
    )
}

/// A store for every namespace of a cluster.
pub(super) fn cluster_store(
    management: &ResolvedManagement,
    openbao: &ResolvedOpenBao,
    address: &str,
    cluster: &str,
    role: &str,
    account: &str,
    certificate: &str,
) -> Value {
    let provider = vault(openbao, address, cluster, role, account, certificate);
    json!({
        "apiVersion": "external-secrets.io/v1",
        "kind": "ClusterSecretStore",
        "metadata": metadata(&management.store_name, None),
        "spec": { "provider": { "vault": provider } },
    })
}

/// The objects with which a storage cluster pushes keys: an account and a store of its own role. `None` without a reachable OpenBao.
pub(crate) fn push_store(
    way: &Way<'_>,
    namespace: &str,
    management: &ResolvedManagement,
) -> Option<Vec<(&'static str, Health, Value)>> {
    let openbao = management.openbao.as_ref().filter(|_| management.renders_stores() && !way.local)?;
    let address = openbao.external_address.as_ref()?;
    let account = "push-ceph-keys";
    let provider = vault(openbao, address, way.cluster, account, account, "openbao-client");
    let store = json!({
        "apiVersion": "external-secrets.io/v1",
        "kind": "ClusterSecretStore",
        "metadata": metadata(PUSH_STORE, None),
        "spec": { "conditions": [{ "namespaces": [namespace] }], "provider": { "vault": provider } },
    });
    Some(vec![
        ("account", Health::Unchecked, service_account(account, ESO_NAMESPACE)),
        ("store", Health::Condition("Ready"), store),
    ])
}

/// OpenBao as External Secrets dials it: a client certificate for the connection, a service account for the login.
fn vault(
    openbao: &ResolvedOpenBao,
    address: &str,
    cluster: &str,
    role: &str,
    account: &str,
    certificate: &str,
) -> Value {
    let in_namespace = |mut reference: Value| {
        if let Some(fields) = reference.as_object_mut() {
            fields.insert("namespace".to_owned(), json!(ESO_NAMESPACE));
        }
        reference
    };
    json!({
        "server": address,
        "path": openbao.mount,
        "version": "v2",
        "caProvider": in_namespace(json!({ "type": "Secret", "name": certificate, "key": "ca.crt" })),
        "tls": {
            "certSecretRef": in_namespace(json!({ "name": certificate, "key": "tls.crt" })),
            "keySecretRef": in_namespace(json!({ "name": certificate, "key": "tls.key" })),
        },
        "auth": { "kubernetes": {
            "mountPath": format!("kubernetes/{cluster}"),
            "role": role,
            "serviceAccountRef": in_namespace(json!({ "name": account })),
        } },
    })
}

pub(super) fn service_account(name: &str, namespace: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata(name, Some(namespace)) })
}

pub(super) fn client_certificate(name: &str, namespace: &str) -> Value {
    json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": metadata(name, Some(namespace)),
        "spec": {
            "commonName": name,
            "secretName": name,
            "usages": ["client auth"],
            "privateKey": { "algorithm": "ECDSA", "size": 256 },
            "issuerRef": { "group": "cert-manager.io", "kind": "ClusterIssuer", "name": "openbao-ca-issuer" },
        },
    })
}
