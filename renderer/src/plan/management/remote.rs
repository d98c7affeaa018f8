//! What every attached cluster needs before anything is applied to it: cert-manager, External Secrets, and the secret store.
//!
//! All of it is done from the management cluster, through Flux's way in; the first secret that a cluster needs, the client certificate for
//! OpenBao, is pushed there, since the cluster cannot fetch what it would need to fetch anything.

use serde_json::{Value, json};

use super::releases::{RELEASES, chart, values};
use super::stores::{client_certificate, cluster_store, service_account};
use super::{ESO_NAMESPACE, platform_is_ready};
use crate::attachments::{Way, kubeconfig_secret, layer_name};
use crate::conventions::{ResolvedManagement, ResolvedPlatform};
use crate::plan::{Health, Layer, kept, metadata};

const EVERYWHERE: &[&str] = &["cert-manager", "external-secrets"];
/// Operators of the databases and caches that services bring along.
const FOR_SERVICES: &[&str] = &["mariadb-operator-crds", "mariadb-operator", "memcached-operator"];

/// Names of the layers after which an attached cluster can fetch secrets.
pub(crate) fn foundation_is_ready(way: &Way<'_>, management: &ResolvedManagement) -> Vec<String> {
    if way.local {
        return platform_is_ready(management);
    }
    let cluster = way.cluster;
    let mut names = Vec::new();
    if management.platform.is_some() {
        names.push(layer_name(cluster, "foundation"));
    }
    if has_remote_store(management) {
        names.push(layer_name(cluster, "store"));
    }
    names
}

fn has_remote_store(management: &ResolvedManagement) -> bool {
    management.renders_stores()
        && management.openbao.as_ref().is_some_and(|openbao| openbao.external_address.is_some())
}

/// The layers.
pub(crate) fn foundation(way: &Way<'_>, management: &ResolvedManagement) -> Vec<Layer> {
    let mut layers = Vec::new();
    layers.extend(management.platform.as_ref().map(|platform| operators(way, management, platform)));
    if has_remote_store(management) {
        layers.push(store_key(way, management));
        layers.extend(store(way, management));
    }
    layers
}

fn on_management(way: &Way<'_>, management: &ResolvedManagement, step: &str) -> Layer {
    let path = format!("clusters/{}/attachments/{}/{step}", management.name, way.cluster);
    Layer::new(layer_name(way.cluster, step), &management.name, path, way.field).keeps_objects()
}

fn operators(way: &Way<'_>, management: &ResolvedManagement, platform: &ResolvedPlatform) -> Layer {
    let mut layer =
        on_management(way, management, "foundation").slow().after([layer_name(way.cluster, "connection")]);
    let more = if way.hosts_services { FOR_SERVICES } else { &[] };
    let wanted: Vec<&str> = EVERYWHERE.iter().chain(more).copied().collect();
    for release in RELEASES.iter().filter(|release| wanted.contains(&release.name)) {
        let name = format!("{}-{}", way.cluster, release.name);
        let after: Vec<Value> = release
            .after
            .iter()
            .filter(|other| wanted.contains(other))
            .map(|other| json!({ "name": format!("{}-{other}", way.cluster) }))
            .collect();
        let mut object = json!({
            "apiVersion": "helm.toolkit.fluxcd.io/v2",
            "kind": "HelmRelease",
            "metadata": metadata(&name, Some(&management.flux_namespace)),
            "spec": {
                "interval": "30m",
                "releaseName": release.name,
                "targetNamespace": release.namespace,
                "storageNamespace": release.namespace,
                "kubeConfig": { "secretRef": { "name": kubeconfig_secret(way.cluster), "key": "value" } },
                "chart": chart(management, platform, release),
                "install": { "crds": "CreateReplace", "createNamespace": true, "remediation": { "retries": 3 } },
                "upgrade": { "crds": "CreateReplace", "remediation": { "retries": 3 } },
                "values": values(platform, release),
            },
        });
        if let (false, Some(spec)) = (after.is_empty(), object.get_mut("spec").and_then(Value::as_object_mut))
        {
            spec.insert("dependsOn".to_owned(), Value::Array(after));
        }
        layer = layer.with("helm-release.yaml", release.name, Health::Status, object);
    }
    layer
}

/// The client certificate, made here, and pushed there.
fn store_key(way: &Way<'_>, management: &ResolvedManagement) -> Layer {
    let cluster = way.cluster;
    let certificate = layer_name(cluster, "openbao-client");
    let store = layer_name(cluster, "openbao-client");
    let way_in = json!({
        "apiVersion": "external-secrets.io/v1",
        "kind": "SecretStore",
        "metadata": metadata(&store, Some(&management.flux_namespace)),
        "spec": { "provider": { "kubernetes": {
            "remoteNamespace": ESO_NAMESPACE,
            "authRef": { "name": kubeconfig_secret(cluster), "key": "value" },
        } } },
    });
    let data: Vec<Value> = ["ca.crt", "tls.crt", "tls.key"]
        .iter()
        .map(|key| {
            json!({ "match": { "secretKey": key, "remoteRef": { "remoteKey": "openbao-client", "property": key } } })
        })
        .collect();
    let push = json!({
        "apiVersion": "external-secrets.io/v1alpha1",
        "kind": "PushSecret",
        "metadata": metadata(&certificate, Some(&management.flux_namespace)),
        "spec": {
            "refreshInterval": "10m",
            "updatePolicy": "Replace",
            "deletionPolicy": "None",
            "secretStoreRefs": [{ "kind": "SecretStore", "name": store }],
            "selector": { "secret": { "name": certificate } },
            "data": data,
        },
    });
    on_management(way, management, "store-key")
        .after([layer_name(cluster, "connection"), "platform-stores".to_owned()])
        .after(management.platform.is_some().then(|| layer_name(cluster, "foundation")))
        .with(
            "certificate.yaml",
            "client-certificate",
            Health::Condition("Ready"),
            client_certificate(&certificate, &management.flux_namespace),
        )
        .with("object.yaml", "way-in", Health::Condition("Ready"), way_in)
        .with("push-secret.yaml", "push", Health::Condition("Ready"), push)
}

/// The store on the cluster itself.
fn store(way: &Way<'_>, management: &ResolvedManagement) -> Option<Layer> {
    let cluster = way.cluster;
    let openbao = management.openbao.as_ref()?;
    let address = openbao.external_address.as_ref()?;
    let account = "eso-attached";
    let object =
        cluster_store(management, openbao, address, cluster, "eso-attached", account, "openbao-client");
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": kept(ESO_NAMESPACE, None) });
    Some(
        Layer::new(layer_name(cluster, "store"), cluster, format!("clusters/{cluster}/store"), way.field)
            .keeps_objects()
            .through(kubeconfig_secret(cluster))
            .after([layer_name(cluster, "store-key")])
            .with("namespace.yaml", "namespace", Health::Status, namespace)
            .with("object.yaml", "account", Health::Unchecked, service_account(account, ESO_NAMESPACE))
            .with("object.yaml", "store", Health::Condition("Ready"), object),
    )
}
