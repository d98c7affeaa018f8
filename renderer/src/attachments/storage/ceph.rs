//! Rook, and what it makes: the Ceph cluster, pools, users, the object store.

use c5c3_api::topology::CephStorage;
use serde_json::{Map, Value, json};

use super::Storage;
use super::conventions::on_host_network;
use crate::attachments::connection::{self, Way, kubeconfig_secret, layer_name};
use crate::conventions::ResolvedManagement;
use crate::plan::{Health, Layer, kept, metadata};

const API: &str = "ceph.rook.io/v1";

/// The operator: released from the management cluster, so that the storage cluster needs no Flux of its own.
pub(super) fn rook(way: &Way<'_>, storage: &Storage, management: &ResolvedManagement) -> Layer {
    let cluster = storage.cluster.as_str();
    let repository = layer_name(cluster, "rook-release");
    connection::layer(way, management, "rook")
        .after(way.after("connection"))
        .with(
            "object.yaml",
            "charts",
            Health::Unchecked,
            json!({
                "apiVersion": "source.toolkit.fluxcd.io/v1",
                "kind": "HelmRepository",
                "metadata": metadata(&repository, Some(&management.flux_namespace)),
                "spec": { "interval": "1h", "url": "https://charts.rook.io/release" },
            }),
        )
        .with("helm-release.yaml", "release", Health::Status, release(way, storage, management, &repository))
}

fn release(way: &Way<'_>, storage: &Storage, management: &ResolvedManagement, repository: &str) -> Value {
    let cluster = storage.cluster.as_str();
    let mut release = json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": metadata(&layer_name(cluster, "rook"), Some(&management.flux_namespace)),
        "spec": {
            "interval": "30m",
            "releaseName": "rook-ceph",
            "targetNamespace": storage.namespace,
            "storageNamespace": storage.namespace,
            "chart": { "spec": {
                "chart": "rook-ceph",
                "version": storage.rook_version,
                "sourceRef": { "kind": "HelmRepository", "name": repository },
            } },
            "install": { "createNamespace": true, "remediation": { "retries": 3 } },
            "upgrade": { "remediation": { "retries": 3 } },
            // Nothing on this cluster mounts Ceph; both belong together.
            "values": { "csi": { "installCsiOperator": false, "createCsiOperatorResources": false } },
        },
    });
    if let (false, Some(spec)) = (way.local, release.get_mut("spec").and_then(Value::as_object_mut)) {
        let secret = json!({ "secretRef": { "name": kubeconfig_secret(cluster), "key": "value" } });
        spec.insert("kubeConfig".to_owned(), secret);
    }
    release
}

/// Everything that Rook makes. Flux never deletes it: data does not come back.
pub(super) fn cluster(way: &Way<'_>, storage: &Storage, management: &ResolvedManagement) -> Layer {
    let cluster = storage.cluster.as_str();
    let mut layer = connection::on_cluster(way, management, "ceph")
        .keeps_objects()
        .slow()
        .after([layer_name(cluster, "rook")])
        .with("ceph-cluster.yaml", "ceph-cluster", Health::Phase("Ready"), ceph_cluster(storage));
    for pool in &storage.pools {
        let object = json!({
            "apiVersion": API,
            "kind": "CephBlockPool",
            "metadata": kept(&pool.name, Some(&storage.namespace)),
            "spec": {
                "failureDomain": pool.failure_domain,
                "replicated": { "size": pool.replicas, "requireSafeReplicaSize": true },
            },
        });
        let file = format!("pool-{}", pool.name);
        layer = layer.with_owner("object.yaml", &file, Health::Phase("Ready"), &pool.field, object);
    }
    for client in &storage.clients {
        let osd: Vec<String> = client.pools.iter().map(|pool| format!("profile rbd pool={pool}")).collect();
        let osd = osd.join(", ");
        let object = json!({
            "apiVersion": API,
            "kind": "CephClient",
            "metadata": kept(&client.name, Some(&storage.namespace)),
            "spec": {
                "caps": { "mon": "profile rbd", "osd": osd, "mgr": osd },
                // librbd of the compute images cannot read the newer key type.
                "security": { "cephx": {
                    "keyRotationPolicy": "KeyGeneration",
                    "keyGeneration": client.key_generation,
                    "keyType": "aes",
                } },
            },
        });
        let file = format!("client-{}", client.name);
        layer = layer.with_owner("object.yaml", &file, Health::Phase("Ready"), &client.field, object);
    }
    if let Some(store) = &storage.object_store {
        let field = format!("{}.objectStore", storage.field);
        layer = layer
            .with_owner("object.yaml", "object-store", Health::Phase("Ready"), &field, object_store(storage))
            .with_owner(
                "object.yaml",
                "object-user-glance",
                Health::Phase("Ready"),
                &field,
                json!({
                    "apiVersion": API,
                    "kind": "CephObjectStoreUser",
                    "metadata": kept("glance", Some(&storage.namespace)),
                    "spec": { "store": store.name, "displayName": "glance" },
                }),
            );
    }
    layer
}

fn ceph_cluster(storage: &Storage) -> Value {
    let mut network = Map::new();
    network.insert("connections".to_owned(), json!({ "requireMsgr2": true }));
    if on_host_network(&storage.ceph) {
        network.insert("provider".to_owned(), json!("host"));
        network.insert("addressRanges".to_owned(), json!({ "public": storage.networks }));
    } else {
        network.insert("provider".to_owned(), json!("multus"));
        network.insert("selectors".to_owned(), json!(storage.ceph.network_selectors));
    }
    let mut metadata = kept("rook-ceph", Some(&storage.namespace));
    if let (Some(fsid), Some(annotations)) =
        (&storage.fsid, metadata.get_mut("annotations").and_then(Value::as_object_mut))
    {
        annotations.insert("topology.c5c3.io/fsid".to_owned(), json!(fsid));
    }
    let directory = storage.ceph.data_directory.as_deref().unwrap_or("/var/lib/rook");
    json!({
        "apiVersion": API,
        "kind": "CephCluster",
        "metadata": metadata,
        "spec": {
            "cephVersion": { "image": storage.image },
            "dataDirHostPath": directory,
            "mon": { "count": storage.monitor_count, "allowMultiplePerNode": false },
            "network": network,
            "storage": osds(storage.ceph.storage.as_ref()),
        },
    })
}

fn osds(declared: Option<&CephStorage>) -> Value {
    let declared = declared.cloned().unwrap_or_default();
    let Some(claims) = declared.claims else {
        return match declared.device_filter {
            Some(filter) => json!({ "useAllNodes": true, "useAllDevices": false, "deviceFilter": filter }),
            None => json!({ "useAllNodes": true, "useAllDevices": true }),
        };
    };
    json!({ "storageClassDeviceSets": [{
        "name": "data",
        "count": claims.count,
        "portable": false,
        "volumeClaimTemplates": [{
            "metadata": { "name": "data" },
            "spec": {
                "resources": { "requests": { "storage": claims.size } },
                "storageClassName": claims.storage_class,
                "volumeMode": "Block",
                "accessModes": ["ReadWriteOnce"],
            },
        }],
    }] })
}

fn object_store(storage: &Storage) -> Value {
    let store = storage.object_store.as_ref();
    let replicas = storage.pools.first().map_or(3, |pool| pool.replicas);
    let pool = json!({ "failureDomain": "host", "replicated": { "size": replicas } });
    json!({
        "apiVersion": API,
        "kind": "CephObjectStore",
        "metadata": kept(store.map_or("images", |store| store.name.as_str()), Some(&storage.namespace)),
        "spec": {
            "metadataPool": pool,
            "dataPool": pool,
            "preservePoolsOnDelete": true,
            "gateway": {
                "instances": store.map_or(2, |store| store.gateways),
                "port": store.map_or(80, |store| store.port),
                "hostNetwork": on_host_network(&storage.ceph),
            },
        },
    })
}
