//! The metadata agent and the pools of a compute cluster.

use serde_json::{Map, Value, json};

use super::layer::{Health, Layer, metadata as object_metadata};
use super::{connection, control_plane as planes};
use crate::conventions::{Compute, ResolvedControlPlane, ResolvedManagement, ResolvedPool};

fn layer(compute: &Compute, management: &ResolvedManagement, step: &str) -> Layer {
    let cluster = compute.attachment.cluster.as_str();
    let path = connection::folder(management, cluster, step);
    Layer::new(connection::layer_name(cluster, step), &management.name, path, &compute.attachment.field)
}

/// The agent that answers metadata requests, once its chassis runs, its CA is there, and Nova can share a secret with it.
pub(super) fn metadata(
    control_plane: &ResolvedControlPlane,
    compute: &Compute,
    management: &ResolvedManagement,
) -> Layer {
    let cluster = compute.attachment.cluster.as_str();
    layer(compute, management, "metadata")
        .after([
            connection::layer_name(cluster, "chassis"),
            connection::layer_name(cluster, "base"),
            planes::layer_name(&control_plane.name, "control-plane"),
        ])
        .with(
            "neutron-metadata-agent.yaml",
            "agent",
            Health::Condition("Ready"),
            agent(control_plane, compute),
        )
}

/// The pools, once instances on them would have a network and metadata.
pub(super) fn pools(
    control_plane: &ResolvedControlPlane,
    compute: &Compute,
    management: &ResolvedManagement,
) -> Layer {
    let cluster = compute.attachment.cluster.as_str();
    let after = [connection::layer_name(cluster, "chassis"), connection::layer_name(cluster, "metadata")];
    let mut layer = layer(compute, management, "pools").keeps_objects().slow().after(after);
    for pool in &compute.pools {
        let object = nova_compute(control_plane, compute, pool);
        layer = layer.with("nova-compute.yaml", &pool.pool, Health::Condition("Ready"), object);
    }
    layer
}

fn agent(control_plane: &ResolvedControlPlane, compute: &Compute) -> Value {
    json!({
        "apiVersion": "neutron.openstack.c5c3.io/v1alpha1",
        "kind": "NeutronMetadataAgent",
        "metadata": object_metadata(&compute.metadata_agent, Some(&control_plane.namespace)),
        "spec": {
            "openStackRelease": control_plane.release,
            "image": { "repository": compute.metadata_image_repository, "tag": compute.metadata_image_tag },
            "chassisRef": { "name": compute.attachment.chassis.name },
            "targetClusterRef": { "name": compute.attachment.cluster },
            "novaMetadata": {
                "host": control_plane.hosts.nova_metadata,
                "port": 443,
                "protocol": "https",
                "caBundleSecretRef": { "name": compute.metadata_ca_secret, "key": "ca.crt" },
                "sharedSecretRef": {
                    "name": format!("{}-nova-metadata-agent-secret", control_plane.name),
                    "key": "shared_secret",
                },
            },
        },
    })
}

fn nova_compute(control_plane: &ResolvedControlPlane, compute: &Compute, pool: &ResolvedPool) -> Value {
    let mut libvirt = Map::new();
    libvirt.insert("virtType".to_owned(), json!(pool.virtualization));
    if let Some(mode) = pool.cpu_mode {
        libvirt.insert("cpuMode".to_owned(), json!(mode));
    }
    if !pool.cpu_models.is_empty() {
        libvirt.insert("cpuModels".to_owned(), json!(pool.cpu_models));
    }
    if let Some(images) = pool.images_type {
        libvirt.insert("imagesType".to_owned(), json!(images));
    }
    json!({
        "apiVersion": "nova.openstack.c5c3.io/v1alpha1",
        "kind": "NovaCompute",
        "metadata": object_metadata(&pool.name, Some(&control_plane.namespace)),
        "spec": {
            "novaRef": { "name": format!("{}-nova", control_plane.name) },
            "targetClusterRef": { "name": compute.attachment.cluster },
            "nodeSelector": pool.node_selector,
            "libvirt": libvirt,
            "updateStrategy": { "type": pool.update_strategy },
        },
    })
}
