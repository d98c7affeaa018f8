//! The metadata agent and the pools of a compute cluster.

use serde_json::{Map, Value, json};

use super::{Compute, ResolvedPool};
use crate::attachments::connection;
use crate::conventions::{ResolvedControlPlane, ResolvedManagement};
use crate::plan::{self, Health, Layer, metadata as object_metadata};

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
            plan::step_of(&control_plane.name, "control-plane"),
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
    has_libvirt: bool,
) -> Layer {
    let cluster = compute.attachment.cluster.as_str();
    let after = [connection::layer_name(cluster, "chassis"), connection::layer_name(cluster, "metadata")];
    let mut layer = layer(compute, management, "pools")
        .keeps_objects_unless(compute.attachment.draining)
        .slow()
        .after(after)
        .after(has_libvirt.then(|| connection::layer_name(cluster, "libvirt")));
    for pool in &compute.pools {
        let object = nova_compute(control_plane, compute, pool);
        let health = Health::Condition("Ready");
        layer = layer.with_owner("nova-compute.yaml", &pool.pool, health, &pool.field, object);
    }
    layer
}

fn agent(control_plane: &ResolvedControlPlane, compute: &Compute) -> Value {
    // On the management cluster the agent reads Nova's own secret, elsewhere the copy that is delivered there.
    let secret = if compute.attachment.local { "nova-metadata-secret" } else { "nova-metadata-agent-secret" };
    let mut spec = Map::new();
    spec.insert("openStackRelease".to_owned(), json!(control_plane.release));
    spec.insert(
        "image".to_owned(),
        json!({ "repository": compute.metadata_image_repository, "tag": compute.metadata_image_tag }),
    );
    spec.insert("chassisRef".to_owned(), json!({ "name": compute.attachment.chassis.name }));
    if let Some(target) = compute.attachment.way(&control_plane.namespace).target() {
        spec.insert("targetClusterRef".to_owned(), target);
    }
    spec.insert(
        "novaMetadata".to_owned(),
        json!({
            "host": control_plane.hosts.nova_metadata,
            "port": 443,
            "protocol": "https",
            "caBundleSecretRef": { "name": compute.metadata_ca_secret, "key": "ca.crt" },
            "sharedSecretRef": { "name": format!("{}-{secret}", control_plane.name), "key": "shared_secret" },
        }),
    );
    let metadata = object_metadata(&compute.metadata_agent, Some(&control_plane.namespace));
    json!({
        "apiVersion": "neutron.openstack.c5c3.io/v1alpha1",
        "kind": "NeutronMetadataAgent",
        "metadata": plan::drained(metadata, compute.attachment.draining),
        "spec": spec,
    })
}

fn nova_compute(control_plane: &ResolvedControlPlane, compute: &Compute, pool: &ResolvedPool) -> Value {
    let mut libvirt = Map::new();
    if let Some(virtualization) = pool.virtualization {
        libvirt.insert("virtType".to_owned(), json!(virtualization));
    }
    if let Some(mode) = pool.cpu_mode {
        libvirt.insert("cpuMode".to_owned(), json!(mode));
    }
    if !pool.cpu_models.is_empty() {
        libvirt.insert("cpuModels".to_owned(), json!(pool.cpu_models));
    }
    if let Some(images) = pool.images_type {
        libvirt.insert("imagesType".to_owned(), json!(images));
    }
    let mut spec = Map::new();
    spec.insert("novaRef".to_owned(), json!({ "name": format!("{}-nova", control_plane.name) }));
    if let Some(target) = compute.attachment.way(&control_plane.namespace).target() {
        spec.insert("targetClusterRef".to_owned(), target);
    }
    spec.insert("nodeSelector".to_owned(), json!(pool.node_selector));
    if let Some((repository, tag)) = &pool.image {
        spec.insert("image".to_owned(), json!({ "repository": repository, "tag": tag }));
    }
    spec.insert("libvirt".to_owned(), Value::Object(libvirt));
    spec.insert("updateStrategy".to_owned(), json!({ "type": pool.update_strategy }));
    json!({
        "apiVersion": "nova.openstack.c5c3.io/v1alpha1",
        "kind": "NovaCompute",
        "metadata": plan::drained(object_metadata(&pool.name, Some(&control_plane.namespace)), pool.draining),
        "spec": spec,
    })
}
