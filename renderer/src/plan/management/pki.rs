//! Certificate authorities of the management cluster: one that signs itself, and one below it for each purpose.

use serde_json::{Value, json};

use crate::conventions::ResolvedManagement;
use crate::plan::{Health, Layer, kept, metadata};

/// The authorities: databases and OpenBao. OVN's is one per control plane, since each of its certificates can write everything.
const AUTHORITIES: [&str; 2] = ["openstack-db-ca", "openbao-ca"];

pub(super) fn layer(management: &ResolvedManagement) -> Layer {
    let mut pki = super::layer(management, "pki", "spec.management.platform")
        .after(["platform-foundation".to_owned()])
        .with(
            "object.yaml",
            "selfsigned",
            Health::Condition("Ready"),
            issuer("selfsigned-cluster-issuer", &json!({ "selfSigned": {} })),
        );
    for name in AUTHORITIES {
        let authority = issuer(&format!("{name}-issuer"), &json!({ "ca": { "secretName": name } }));
        pki = pki.with("certificate.yaml", name, Health::Condition("Ready"), certificate(name)).with(
            "object.yaml",
            &format!("{name}-issuer"),
            Health::Condition("Ready"),
            authority,
        );
    }
    pki
}

fn issuer(name: &str, spec: &Value) -> Value {
    json!({ "apiVersion": "cert-manager.io/v1", "kind": "ClusterIssuer", "metadata": metadata(name, None), "spec": spec })
}

fn certificate(name: &str) -> Value {
    json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": kept(name, Some("cert-manager")),
        "spec": {
            "isCA": true,
            "commonName": name,
            "secretName": name,
            "duration": "26280h",
            "renewBefore": "720h",
            "privateKey": { "algorithm": "ECDSA", "size": 256 },
            "issuerRef": { "group": "cert-manager.io", "kind": "ClusterIssuer", "name": "selfsigned-cluster-issuer" },
        },
    })
}
