//! The layers of a control plane: namespace, OVN, secrets, the control plane itself.

use serde_json::{Map, Value, json};

use super::layer::{Health, Layer, kept, metadata};
use super::secrets::{Remote, external_secret};
use super::{foundation_is_ready, gateway, platform_is_ready, services};
use crate::attachments::{kubeconfig_secret, layer_name as attachment_layer};
use crate::conventions::{Bus, OvnStore, ResolvedControlPlane, ResolvedManagement};

/// Name of one of a control plane's layers.
pub(crate) fn layer_name(control_plane: &str, step: &str) -> String {
    format!("{control_plane}-{step}")
}

pub(super) fn layer(
    control_plane: &ResolvedControlPlane,
    management: &ResolvedManagement,
    step: &str,
) -> Layer {
    let path = format!("clusters/{}/control-planes/{}/{step}", management.name, control_plane.name);
    Layer::new(layer_name(&control_plane.name, step), &management.name, path, &control_plane.field)
        .keeps_objects()
}

/// The namespace that everything else of a control plane lives in.
fn namespace(control_plane: &ResolvedControlPlane, management: &ResolvedManagement) -> Layer {
    let object =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": kept(&control_plane.namespace, None) });
    layer(control_plane, management, "namespace").after(platform_is_ready(management)).with(
        "namespace.yaml",
        "namespace",
        Health::Status,
        object,
    )
}

/// Everything of the control plane itself, without the attachments.
pub(super) fn layers(control_plane: &ResolvedControlPlane, management: &ResolvedManagement) -> Vec<Layer> {
    let name = |step: &str| layer_name(&control_plane.name, step);
    let mut layers = vec![namespace(control_plane, management)];
    let mut ovn_waits_for = vec![name("namespace")];
    ovn_waits_for
        .extend(control_plane.ovn.cluster.iter().map(|cluster| attachment_layer(cluster, "registration")));
    if let Some(authority) = ovn_authority(control_plane, management) {
        ovn_waits_for.push(authority.name.clone());
        layers.push(authority);
    }
    let central = ovn_central(control_plane);
    layers.push(layer(control_plane, management, "ovn").after(ovn_waits_for).slow().with(
        "ovn-central.yaml",
        "ovn-central",
        Health::Condition("Ready"),
        central,
    ));
    let gateway = gateway::layer(control_plane, management);
    let mut waits_for = vec![name("ovn"), name("secrets")];
    waits_for.extend(gateway.iter().map(|gateway| gateway.name.clone()));
    layers.extend(gateway);
    // Services are placed on clusters that the operators can already enter.
    let hosts = control_plane.services.iter();
    waits_for.extend(hosts.map(|services| attachment_layer(&services.cluster, "registration")));
    let mut secrets = layer(control_plane, management, "secrets").after([name("namespace")]);
    if let Some(storage) = control_plane.image_storage() {
        secrets = secrets.after([storage.push_layer()]);
    }
    for (file, secret) in external_secrets(control_plane, management) {
        secrets = secrets.with("external-secret.yaml", &file, Health::Condition("Ready"), secret);
    }
    layers.push(secrets);
    layers.push(layer(control_plane, management, "control-plane").after(waits_for).slow().with(
        "control-plane.yaml",
        "control-plane",
        Health::Condition("Ready"),
        object(control_plane),
    ));
    layers
}

/// The CA that signs OVN's certificates and nothing else, unless an issuer was declared.
fn ovn_authority(control_plane: &ResolvedControlPlane, management: &ResolvedManagement) -> Option<Layer> {
    let ovn = &control_plane.ovn;
    if ovn.issuer_name != format!("{}-ovn-ca-issuer", control_plane.name)
        || ovn.issuer_kind != "ClusterIssuer"
    {
        return None;
    }
    let secret = format!("{}-ovn-ca", control_plane.name);
    let certificate = json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": kept(&secret, Some("cert-manager")),
        "spec": {
            "isCA": true,
            "commonName": secret,
            "secretName": secret,
            "duration": "26280h",
            "renewBefore": "720h",
            "privateKey": { "algorithm": "ECDSA", "size": 256 },
            "issuerRef": { "group": "cert-manager.io", "kind": "ClusterIssuer", "name": "selfsigned-cluster-issuer" },
        },
    });
    let issuer = json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": "ClusterIssuer",
        "metadata": metadata(&ovn.issuer_name, None),
        "spec": { "ca": { "secretName": secret } },
    });
    let step = "ovn-authority";
    let layer = match &ovn.cluster {
        None => layer(control_plane, management, step).after(platform_is_ready(management)),
        Some(cluster) => {
            let path = format!("clusters/{cluster}/{step}");
            let selfsigned = json!({
                "apiVersion": "cert-manager.io/v1",
                "kind": "ClusterIssuer",
                "metadata": metadata("selfsigned-cluster-issuer", None),
                "spec": { "selfSigned": {} },
            });
            let mut layer = Layer::new(layer_name(&control_plane.name, step), cluster, path, &ovn.field)
                .keeps_objects()
                .after([attachment_layer(cluster, "connection")])
                .through(kubeconfig_secret(cluster));
            let host = control_plane.network.iter().find(|network| network.attachment.cluster == *cluster);
            if let Some(network) = host {
                layer = layer.after(foundation_is_ready(
                    &network.attachment.way(&control_plane.namespace),
                    management,
                ));
            }
            layer.with("object.yaml", "selfsigned", Health::Condition("Ready"), selfsigned)
        }
    };
    Some(layer.with("certificate.yaml", "certificate", Health::Condition("Ready"), certificate).with(
        "issuer.yaml",
        "issuer",
        Health::Condition("Ready"),
        issuer,
    ))
}

fn ovn_central(control_plane: &ResolvedControlPlane) -> Value {
    let ovn = &control_plane.ovn;
    let store = |store: &OvnStore| {
        let mut fields = json!({ "replicas": store.replicas, "storage": { "size": store.storage } });
        if let (true, Some(fields)) = (ovn.externally_reachable, fields.as_object_mut()) {
            fields.insert("externallyReachable".to_owned(), json!(true));
            fields.insert("nodePortBase".to_owned(), json!(store.node_port_base));
        }
        fields
    };
    let mut spec = Map::new();
    spec.insert(
        "tls".to_owned(),
        json!({ "issuerRef": { "name": ovn.issuer_name, "kind": ovn.issuer_kind } }),
    );
    spec.insert("northbound".to_owned(), store(&ovn.northbound));
    spec.insert("southbound".to_owned(), store(&ovn.southbound));
    if let Some(relay) = &ovn.relay {
        let mut fields = json!({ "replicas": relay.replicas });
        if let (true, Some(fields)) = (ovn.externally_reachable, fields.as_object_mut()) {
            fields.insert("externallyReachable".to_owned(), json!(true));
            fields.insert("nodePort".to_owned(), json!(relay.node_port));
        }
        spec.insert("relay".to_owned(), fields);
    }
    if let Some(cluster) = &ovn.cluster {
        spec.insert("targetClusterRef".to_owned(), json!({ "name": cluster }));
    }
    json!({
        "apiVersion": "ovn.openstack.c5c3.io/v1alpha1",
        "kind": "OVNCentral",
        "metadata": kept(&ovn.name, Some(&control_plane.namespace)),
        "spec": spec,
    })
}

/// Secrets that the control plane reads and no operator makes.
fn external_secrets(
    control_plane: &ResolvedControlPlane,
    management: &ResolvedManagement,
) -> Vec<(String, Value)> {
    let store_key = |name: &str| management.secret_key(&["control-planes", &control_plane.name, name]);
    let one = |file: &str, secret: &str, keys: &[&str]| {
        let remotes: Vec<Remote<'_>> =
            keys.iter().map(|key| Remote { key, store_key: store_key(file), property: key }).collect();
        (file.to_owned(), external_secret(secret, &control_plane.namespace, management, &remotes))
    };
    let images = &control_plane.images;
    let mut secrets = vec![match control_plane.image_storage() {
        None => one("image-store", &images.credentials_secret, &["access-key-id", "secret-access-key"]),
        // Rook's names for the two become Glance's.
        Some(storage) => {
            let remote =
                |key, property| Remote { key, store_key: storage.object_user_key(management), property };
            let remotes = [remote("access-key-id", "AccessKey"), remote("secret-access-key", "SecretKey")];
            let secret =
                external_secret(&images.credentials_secret, &control_plane.namespace, management, &remotes);
            ("image-store".to_owned(), secret)
        }
    }];
    if let Bus::External { transport_url_secret, certificate_authority_secret, remote_transport_url_secret } =
        &control_plane.bus
    {
        secrets.push(one("bus", transport_url_secret, &["transport_url"]));
        if let Some(secret) = certificate_authority_secret {
            secrets.push(one("bus-ca", secret, &["ca.crt"]));
        }
        if control_plane.has_remote_compute() {
            secrets.push(one("remote-bus", remote_transport_url_secret, &["transport_url"]));
        }
    }
    secrets
}

fn object(control_plane: &ResolvedControlPlane) -> Value {
    json!({
        "apiVersion": "c5c3.io/v1alpha1",
        "kind": "ControlPlane",
        "metadata": kept(&control_plane.name, Some(&control_plane.namespace)),
        "spec": {
            "openStackRelease": control_plane.release,
            "region": control_plane.region,
            "sizing": { "profile": control_plane.sizing },
            "infrastructure": infrastructure(control_plane),
            "services": services::services(control_plane),
            "korc": korc(),
        },
    })
}

fn infrastructure(control_plane: &ResolvedControlPlane) -> Value {
    let messaging = match &control_plane.bus {
        Bus::Managed { cluster } => json!({ "clusterRef": { "name": cluster } }),
        Bus::External { transport_url_secret, certificate_authority_secret: None, .. } => {
            json!({ "secretRef": { "name": transport_url_secret, "key": "transport_url" } })
        }
        Bus::External { transport_url_secret, certificate_authority_secret: Some(authority), .. } => json!({
            "secretRef": { "name": transport_url_secret, "key": "transport_url" },
            "tls": { "caBundleSecretRef": { "name": authority, "key": "ca.crt" } },
        }),
    };
    json!({
        "database": {
            "clusterRef": { "name": control_plane.database_cluster },
            "database": "keystone",
            "secretRef": { "name": "keystone-db" },
        },
        "cache": { "clusterRef": { "name": control_plane.cache_cluster }, "backend": "dogpile.cache.pymemcache" },
        "messaging": messaging,
    })
}

/// Upstream's webhook fills this in when it is absent, but its schema asks for it; said in full, both agree.
fn korc() -> Value {
    json!({ "adminCredential": {
        "cloudCredentialsRef": { "cloudName": "admin", "secretName": "k-orc-clouds-yaml" },
        "passwordSecretRef": { "name": "keystone-admin", "key": "password" },
        "applicationCredential": { "restricted": true, "rotation": { "mode": "PasswordDriven" } },
    } })
}
