//! libvirt on the nodes: the daemon itself where no host image brings it, and the keys with which it attaches volumes on Ceph.

use c5c3_api::topology::LibvirtDeployment;
use serde_json::{Value, json};

use super::{Compute, ResolvedPool};
use crate::attachments::connection::{self, layer_name};
use crate::attachments::storage::{Storage, VolumeKey};
use crate::conventions::{ResolvedControlPlane, ResolvedManagement};
use crate::plan::{Health, Layer, Remote, external_secret, metadata};

/// The layer, when there is anything to do.
pub(super) fn layer(
    control_plane: &ResolvedControlPlane,
    compute: &Compute,
    management: &ResolvedManagement,
) -> Option<Layer> {
    let cluster = compute.attachment.cluster.as_str();
    let image = compute.libvirt.image.as_deref()?;
    let namespace = control_plane.namespace.as_str();
    let way = compute.attachment.way(namespace);
    let mut layer = connection::on_cluster(&way, management, "libvirt").after([layer_name(cluster, "base")]);
    if compute.libvirt.deployment == LibvirtDeployment::DaemonSet {
        layer = layer.with("object.yaml", "configuration", Health::Status, configuration(compute, namespace));
        for pool in &compute.pools {
            let file = format!("libvirt-{}", pool.pool);
            layer = layer.with("object.yaml", &file, Health::Status, daemon(compute, pool, namespace, image));
        }
    }
    for storage in &control_plane.storage {
        let Some(key) = storage.volume_key() else {
            continue;
        };
        // On the management cluster the key is already there, beside Cinder.
        layer = if way.local {
            layer.after([layer_name(&storage.cluster, "keys")])
        } else {
            layer.after([storage.push_layer()]).with(
                "external-secret.yaml",
                &format!("{}-key", storage.cluster),
                Health::Condition("Ready"),
                key_secret(storage, &key, namespace, management),
            )
        };
        layer = layer.with(
            "object.yaml",
            &format!("{}-secret", storage.cluster),
            Health::Status,
            key_daemon(compute, storage, &key, namespace, image),
        );
    }
    (!layer.objects.is_empty()).then_some(layer)
}

/// The ports that migrations use, and certificates where kvm-node-agent puts them.
fn configuration(compute: &Compute, namespace: &str) -> Value {
    let ports = compute.libvirt.migration_ports;
    let libvirtd = "listen_tls = 1\nlisten_tcp = 0\nauth_unix_rw = \"none\"\n";
    let qemu = format!(
        "migration_port_min = {}\nmigration_port_max = {}\nmigrate_tls_force = 1\n",
        ports.first, ports.last
    );
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata("libvirt", Some(namespace)),
        "data": { "libvirtd.conf": libvirtd, "qemu.conf": qemu },
    })
}

/// A new pod ends no instance, but it interrupts what manages them: pods are replaced when somebody deletes them.
fn daemon(compute: &Compute, pool: &ResolvedPool, namespace: &str, image: &str) -> Value {
    let name = format!("libvirt-{}", pool.pool);
    let host_path = |name: &str, path: &str| json!({ "name": name, "hostPath": { "path": path, "type": "DirectoryOrCreate" } });
    let mount = |name: &str, path: &str| json!({ "name": name, "mountPath": path });
    let both = |name: &str, path: &str| json!({ "name": name, "mountPath": path, "mountPropagation": "Bidirectional" });
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": metadata(&name, Some(namespace)),
        "spec": {
            "selector": { "matchLabels": { "app": name } },
            "updateStrategy": { "type": "OnDelete" },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": {
                    "nodeSelector": pool.node_selector,
                    "hostNetwork": true,
                    "hostPID": true,
                    "hostIPC": true,
                    "containers": [{
                        "name": "libvirtd",
                        "image": image,
                        "command": ["libvirtd", "--listen", "--config", "/etc/libvirt/c5c3/libvirtd.conf"],
                        "securityContext": { "privileged": true },
                        "readinessProbe": {
                            "exec": { "command": ["virsh", "--connect", compute.libvirt.uri, "version"] },
                            "periodSeconds": 10,
                        },
                        "volumeMounts": [
                            mount("configuration", "/etc/libvirt/c5c3"), mount("pki", "/etc/pki"), mount("run", "/run/libvirt"),
                            both("state", "/var/lib/libvirt"), both("nova", "/var/lib/nova"), mount("devices", "/dev"),
                            mount("cgroups", "/sys/fs/cgroup"),
                        ],
                    }],
                    "volumes": [
                        { "name": "configuration", "configMap": { "name": "libvirt" } },
                        host_path("pki", "/etc/pki"), host_path("run", "/run/libvirt"), host_path("state", "/var/lib/libvirt"),
                        host_path("nova", "/var/lib/nova"), host_path("devices", "/dev"), host_path("cgroups", "/sys/fs/cgroup"),
                    ],
                },
            },
        },
    })
}

fn key_secret(storage: &Storage, key: &VolumeKey, namespace: &str, management: &ResolvedManagement) -> Value {
    let remote =
        Remote { key: "userKey", store_key: storage.client_key(management, &key.user), property: "userKey" };
    external_secret(&storage.key_secret(&key.user), namespace, management, &[remote])
}

/// Defines libvirt's secret on every node and again when libvirt has forgotten it. The key goes from file to file, never into an argument.
fn key_daemon(compute: &Compute, storage: &Storage, key: &VolumeKey, namespace: &str, image: &str) -> Value {
    let name = format!("{}-libvirt-secret", storage.cluster);
    let uuid = &key.secret_uuid;
    let uri = compute.libvirt.uri;
    let usage = format!("client.{} of {}", key.user, storage.cluster);
    let definition = format!(
        "<secret ephemeral='no' private='yes'><uuid>{uuid}</uuid><usage type='ceph'><name>{usage}</name></usage></secret>"
    );
    let script = format!(
        "while :; do if virsh --connect {uri} secret-define /dev/stdin <<'XML'\n{definition}\nXML\n\
         then virsh --connect {uri} secret-set-value {uuid} --file /key/userKey && touch /tmp/defined; fi; sleep 60; done\n"
    );
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": metadata(&name, Some(namespace)),
        "spec": {
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": {
                    "nodeSelector": compute.attachment.chassis.node_selector,
                    "containers": [{
                        "name": "define",
                        "image": image,
                        "command": ["/bin/sh", "-c", script],
                        "securityContext": { "privileged": true },
                        "readinessProbe": { "exec": { "command": ["test", "-e", "/tmp/defined"] } },
                        "volumeMounts": [
                            { "name": "run", "mountPath": "/run/libvirt" },
                            { "name": "key", "mountPath": "/key", "readOnly": true },
                        ],
                    }],
                    "volumes": [
                        { "name": "run", "hostPath": { "path": "/run/libvirt" } },
                        { "name": "key", "secret": { "secretName": storage.key_secret(&key.user) } },
                    ],
                },
            },
        },
    })
}
