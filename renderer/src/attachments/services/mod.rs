//! A cluster that hosts single services of a control plane: access and registration; the ControlPlane places the services.

mod conventions;
mod rules;

pub use conventions::{PlacedOn, Services};

pub(crate) use conventions::resolve;

use super::AttachmentKind;
use super::connection::{self, Way};
use crate::conventions::{ResolvedControlPlane, ResolvedManagement};
use crate::plan::Layer;

pub(super) const KIND: AttachmentKind = AttachmentKind {
    field: "services",
    summary: "A cluster that hosts single services of a control plane.",
    guide: "attach-a-service-cluster.md",
    resource: "HelmRelease",
    rules: rules::RULES,
    layers,
};

fn layers(control_plane: &ResolvedControlPlane, management: &ResolvedManagement) -> Vec<Layer> {
    let clusters = control_plane.services.iter();
    clusters
        .flat_map(|services| {
            let way = Way {
                field: &services.field,
                cluster: &services.cluster,
                access: &services.access,
                local: false,
                draining: services.draining,
                namespaces: services.placed.iter().map(|placed| placed.namespace.clone()).collect(),
                privileged: Vec::new(),
                hosts_services: true,
            };
            connection::layers(&way, management)
        })
        .collect()
}
