//! Keys: pushed into the secret store where Rook makes them, pulled out where they are used. No value passes through Git.

use serde_json::{Value, json};

use super::Storage;
use crate::attachments::connection::{self, Way, layer_name};
use crate::conventions::{ResolvedControlPlane, ResolvedManagement};
use crate::plan::{Health, Layer, PUSH_STORE, Remote, external_secret, metadata, push_store, store_of};

/// From the storage cluster into the store.
pub(super) fn push(way: &Way<'_>, storage: &Storage, management: &ResolvedManagement) -> Layer {
    let cluster = storage.cluster.as_str();
    let namespace = storage.namespace.as_str();
    let mut layer = connection::on_cluster(way, management, "keys-push")
        .after([layer_name(cluster, "ceph")])
        .after(crate::plan::foundation_is_ready(way, management));
    // A role of its own when the renderer knows OpenBao: it may write below this cluster's keys and read nothing.
    let store = push_store(way, namespace, management);
    let store_reference = match store {
        Some(objects) => {
            for (file, health, object) in objects {
                layer = layer.with("object.yaml", file, health, object);
            }
            json!({ "kind": "ClusterSecretStore", "name": PUSH_STORE })
        }
        None => store_of(management),
    };
    for client in &storage.clients {
        let secret = format!("rook-ceph-client-{}", client.name);
        let object = push_secret(
            &format!("ceph-client-{}", client.name),
            namespace,
            &store_reference,
            &secret,
            &storage.client_key(management, &client.name),
            &["userKey"],
        );
        let file = format!("client-{}", client.name);
        layer =
            layer.with_owner("push-secret.yaml", &file, Health::Condition("Ready"), &client.field, object);
    }
    if let Some(object_store) = &storage.object_store {
        let object = push_secret(
            "object-user-glance",
            namespace,
            &store_reference,
            &format!("rook-ceph-object-user-{}-glance", object_store.name),
            &storage.object_user_key(management),
            &["AccessKey", "SecretKey"],
        );
        layer = layer.with("push-secret.yaml", "object-user-glance", Health::Condition("Ready"), object);
    }
    layer
}

fn push_secret(
    name: &str,
    namespace: &str,
    store: &Value,
    secret: &str,
    remote_key: &str,
    properties: &[&str],
) -> Value {
    let data: Vec<Value> = properties
        .iter()
        .map(|property| {
            json!({ "match": {
                "secretKey": property,
                "remoteRef": { "remoteKey": remote_key, "property": property },
            } })
        })
        .collect();
    json!({
        "apiVersion": "external-secrets.io/v1alpha1",
        "kind": "PushSecret",
        "metadata": metadata(name, Some(namespace)),
        "spec": {
            "refreshInterval": "1m",
            "updatePolicy": "Replace",
            "deletionPolicy": "None",
            "secretStoreRefs": [store],
            "selector": { "secret": { "name": secret } },
            "data": data,
        },
    })
}

/// Out of the store, beside Cinder.
pub(super) fn pull(
    way: &Way<'_>,
    control_plane: &ResolvedControlPlane,
    storage: &Storage,
    management: &ResolvedManagement,
) -> Layer {
    let mut layer = connection::layer(way, management, "keys")
        .after([storage.push_layer(), crate::plan::step_of(&control_plane.name, "namespace")]);
    for client in &storage.clients {
        let remote = Remote {
            key: "userKey",
            store_key: storage.client_key(management, &client.name),
            property: "userKey",
        };
        let secret = external_secret(
            &storage.key_secret(&client.name),
            &control_plane.namespace,
            management,
            &[remote],
        );
        let file = format!("client-{}", client.name);
        layer = layer.with_owner(
            "external-secret.yaml",
            &file,
            Health::Condition("Ready"),
            &client.field,
            secret,
        );
    }
    layer
}
