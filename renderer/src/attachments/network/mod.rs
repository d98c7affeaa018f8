//! A cluster of gateway nodes: an OVNChassis whose nodes carry the traffic between tenant and physical networks. It may host OVN's databases.

mod conventions;
mod rules;

pub use conventions::Network;

pub(crate) use conventions::resolve;

use super::{AttachmentKind, chassis, connection, hosts};
use crate::conventions::{ResolvedControlPlane, ResolvedManagement};
use crate::plan::Layer;

pub(super) const KIND: AttachmentKind = AttachmentKind {
    field: "network",
    summary: "A cluster of gateway nodes, between tenant and physical networks.",
    guide: "attach-a-network-cluster.md",
    resource: "OVNChassis",
    rules: rules::RULES,
    layers,
};

fn layers(control_plane: &ResolvedControlPlane, management: &ResolvedManagement) -> Vec<Layer> {
    let mut layers = Vec::new();
    for network in &control_plane.network {
        let way = network.attachment.way(&control_plane.namespace);
        layers.extend(connection::layers(&way, management));
        layers.extend(hosts::layer(&way, management, network.hosts.iter()));
        layers.push(chassis::layer(control_plane, &network.attachment, management));
    }
    layers
}
