//! A cluster of hypervisors: chassis, a metadata agent, pools, and what their hosts need: certificates, libvirt, keys of volumes, operators.

mod base;
mod conventions;
mod libvirt;
mod operators;
mod pools;
mod rules;

pub use conventions::{Compute, ResolvedLibvirt, ResolvedPool};

pub(crate) use conventions::resolve;

use super::{AttachmentKind, chassis, connection, hosts};
use crate::conventions::{ResolvedControlPlane, ResolvedManagement};
use crate::plan::Layer;

pub(super) const KIND: AttachmentKind = AttachmentKind {
    field: "compute",
    summary: "A cluster of hypervisors, KVM or Cloud Hypervisor.",
    guide: "attach-a-compute-cluster.md",
    resource: "NovaCompute",
    rules: rules::RULES,
    layers,
};

fn layers(control_plane: &ResolvedControlPlane, management: &ResolvedManagement) -> Vec<Layer> {
    let mut layers = Vec::new();
    for compute in &control_plane.compute {
        let way = compute.attachment.way(&control_plane.namespace);
        layers.extend(connection::layers(&way, management));
        layers.extend(hosts::layer(&way, management, compute.pools.iter().flat_map(|pool| &pool.hosts)));
        layers.push(chassis::layer(control_plane, &compute.attachment, management));
        layers.push(base::layer(control_plane, compute, management));
        let libvirt = libvirt::layer(control_plane, compute, management);
        let has_libvirt = libvirt.is_some();
        layers.extend(libvirt);
        layers.push(pools::metadata(control_plane, compute, management));
        layers.push(pools::pools(control_plane, compute, management, has_libvirt));
        layers.extend(operators::layer(control_plane, compute, management));
    }
    layers
}
