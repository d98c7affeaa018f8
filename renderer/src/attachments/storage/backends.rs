//! Cinder's backends on a storage cluster.

use serde_json::{Value, json};

use super::Storage;
use crate::attachments::connection::{self, Way, layer_name};
use crate::conventions::{ResolvedControlPlane, ResolvedManagement};
use crate::plan::{Health, Layer, drained, metadata, step_of};

const API: &str = "cinder.openstack.c5c3.io/v1alpha1";

/// The layer, when the cluster holds volumes or backups. It comes after Cinder and after the keys.
pub(super) fn layer(
    way: &Way<'_>,
    control_plane: &ResolvedControlPlane,
    storage: &Storage,
    management: &ResolvedManagement,
) -> Option<Layer> {
    let mut layer = connection::layer(way, management, "backends")
        .slow()
        .after([layer_name(&storage.cluster, "keys"), step_of(&control_plane.name, "control-plane")]);
    let namespace = control_plane.namespace.as_str();
    let cinder = format!("{}-cinder", control_plane.name);
    if let Some(volumes) = &storage.volumes {
        let mut rbd = rbd(storage, &volumes.pool, &volumes.user);
        if let Some(fields) = rbd.as_object_mut() {
            fields.insert("clusterName".to_owned(), json!(volumes.cluster_name));
            fields.insert("secretUUID".to_owned(), json!(volumes.secret_uuid));
        }
        let object = backend("CinderBackend", &volumes.name, namespace, &cinder, &rbd, storage.draining);
        let field = format!("{}.volumes", storage.field);
        layer =
            layer.with_owner("cinder-backend.yaml", "volumes", Health::Condition("Ready"), &field, object);
    }
    if let Some(backups) = &storage.backups {
        let rbd = rbd(storage, &backups.pool, &backups.user);
        let object =
            backend("CinderBackupBackend", &backups.name, namespace, &cinder, &rbd, storage.draining);
        let field = format!("{}.backups", storage.field);
        layer =
            layer.with_owner("cinder-backend.yaml", "backups", Health::Condition("Ready"), &field, object);
    }
    (!layer.objects.is_empty()).then_some(layer)
}

fn rbd(storage: &Storage, pool: &str, user: &str) -> Value {
    json!({
        "pool": pool,
        "user": user,
        "monitors": storage.monitors,
        "networks": storage.networks,
        "keySecretRef": { "name": storage.key_secret(user) },
    })
}

fn backend(kind: &str, name: &str, namespace: &str, cinder: &str, rbd: &Value, draining: bool) -> Value {
    json!({
        "apiVersion": API,
        "kind": kind,
        "metadata": drained(metadata(name, Some(namespace)), draining),
        "spec": { "cinderRef": { "name": cinder }, "type": "RBD", "rbd": rbd },
    })
}
