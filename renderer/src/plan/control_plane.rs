//! The layers of a control plane: namespace, OVN, secrets, the control plane itself.

use serde_json::{Map, Value, json};

use super::connection;
use super::layer::{Health, Layer, kept, metadata};
use super::secrets::{Remote, external_secret};
use crate::conventions::{Bus, OvnStore, ResolvedControlPlane, ResolvedManagement};

/// Name of one of a control plane's layers.
pub(super) fn layer_name(control_plane: &str, step: &str) -> String {
    format!("{control_plane}-{step}")
}

fn layer(control_plane: &ResolvedControlPlane, management: &ResolvedManagement, step: &str) -> Layer {
    let path = format!("clusters/{}/control-planes/{}/{step}", management.name, control_plane.name);
    Layer::new(layer_name(&control_plane.name, step), &management.name, path, &control_plane.field)
        .keeps_objects()
}

/// The namespace that everything else of a control plane lives in.
pub(super) fn namespace(control_plane: &ResolvedControlPlane, management: &ResolvedManagement) -> Layer {
    let object =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": kept(&control_plane.namespace, None) });
    layer(control_plane, management, "namespace").with("namespace.yaml", "namespace", Health::Status, object)
}

/// Everything between the namespace and the attachments, in order.
pub(super) fn layers(control_plane: &ResolvedControlPlane, management: &ResolvedManagement) -> Vec<Layer> {
    let name = |step: &str| layer_name(&control_plane.name, step);
    let mut layers = Vec::new();
    let mut ovn_waits_for = vec![name("namespace")];
    ovn_waits_for.extend(
        control_plane.ovn.cluster.iter().map(|cluster| connection::layer_name(cluster, "registration")),
    );
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
    let mut secrets = layer(control_plane, management, "secrets").after([name("namespace")]);
    for (file, secret) in external_secrets(control_plane, management) {
        secrets = secrets.with("external-secret.yaml", &file, Health::Condition("Ready"), secret);
    }
    layers.push(secrets);
    layers.push(
        layer(control_plane, management, "control-plane").after([name("ovn"), name("secrets")]).slow().with(
            "control-plane.yaml",
            "control-plane",
            Health::Condition("Ready"),
            object(control_plane),
        ),
    );
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
        None => layer(control_plane, management, step),
        Some(cluster) => {
            let path = format!("clusters/{cluster}/{step}");
            Layer::new(layer_name(&control_plane.name, step), cluster, path, &ovn.field)
                .keeps_objects()
                .after([connection::layer_name(cluster, "connection")])
                .through(connection::kubeconfig_secret(cluster))
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
    let mut secrets =
        vec![one("image-store", &images.credentials_secret, &["access-key-id", "secret-access-key"])];
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
            "services": services(control_plane),
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

fn services(control_plane: &ResolvedControlPlane) -> Value {
    let hosts = &control_plane.hosts;
    let gateway = |hostname: &str| {
        let mut parent = Map::new();
        parent.insert("name".to_owned(), json!(control_plane.gateway.name));
        if let Some(namespace) = &control_plane.gateway.namespace {
            parent.insert("namespace".to_owned(), json!(namespace));
        }
        if let Some(section) = &control_plane.gateway.section_name {
            parent.insert("sectionName".to_owned(), json!(section));
        }
        json!({ "parentRef": parent, "hostname": hostname })
    };
    let images = &control_plane.images;
    let mut neutron = json!({
        "gateway": gateway(&hosts.neutron),
        "ovn": { "centralRef": { "name": control_plane.ovn.name } },
    });
    if let (Some(mtu), Some(neutron)) = (control_plane.physical_network_mtu, neutron.as_object_mut()) {
        neutron.insert(
            "extraConfig".to_owned(),
            json!({ "DEFAULT": { "global_physnet_mtu": mtu.to_string() } }),
        );
    }
    let mut nova = json!({ "gateway": gateway(&hosts.nova) });
    if let (true, Bus::External { remote_transport_url_secret, .. }, Some(nova)) =
        (control_plane.has_remote_compute(), &control_plane.bus, nova.as_object_mut())
    {
        let transport = json!({ "name": remote_transport_url_secret, "key": "transport_url" });
        nova.insert("metadataGateway".to_owned(), gateway(&hosts.nova_metadata));
        nova.insert("remoteCompute".to_owned(), json!({ "transportURLSecretRef": transport }));
        nova.insert("hypervisorOperator".to_owned(), json!({}));
    }
    json!({
        "keystone": {
            "publicEndpoint": format!("https://{}/v3", hosts.keystone),
            "gateway": gateway(&hosts.keystone),
        },
        "placement": { "gateway": gateway(&hosts.placement) },
        "glance": {
            "gateway": gateway(&hosts.glance),
            "backends": [{
                "name": "default",
                "type": "S3",
                "isDefault": true,
                "s3": {
                    "endpoint": images.endpoint,
                    "bucket": images.bucket,
                    "region": images.region,
                    "credentialsSecretRef": { "name": images.credentials_secret },
                },
            }],
        },
        "neutron": neutron,
        "nova": nova,
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
