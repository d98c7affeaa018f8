//! Conventions: from what was written to what is meant, every default in one place.
//!
//! A topology stays short because almost everything has a usual value. This step writes all of them down, so that rules and plan never ask
//! "is it set, and if not, what then?". Each resolved entry keeps the path of the field it came from, for messages.

mod compute;
mod control_plane;
mod management;
mod names;
mod network;
mod ovn;

pub use compute::{Compute, ResolvedPool};
pub use control_plane::{Bus, PublicHosts, ResolvedControlPlane, ResolvedGateway, ResolvedImageStore};
pub use management::ResolvedManagement;
pub use network::{Attachment, Network, ResolvedChassis};
pub use ovn::{OvnStore, ResolvedOvn, ResolvedRelay};

use c5c3_api::topology::Topology;

/// A topology with nothing left open.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// Name of the topology.
    pub name: String,
    /// The management cluster.
    pub management: ResolvedManagement,
    /// The control planes, in the order of the document.
    pub control_planes: Vec<ResolvedControlPlane>,
}

impl Resolved {
    /// Every attached cluster, with the control plane it is attached to.
    pub fn attachments(&self) -> impl Iterator<Item = (&ResolvedControlPlane, &Attachment)> {
        self.control_planes.iter().flat_map(|control_plane| {
            control_plane.attachments().map(move |attachment| (control_plane, attachment))
        })
    }
}

/// Fills in every convention.
#[must_use]
pub fn resolve(topology: &Topology) -> Resolved {
    let management = management::resolve(topology.spec.management.as_ref());
    let control_planes = topology
        .spec
        .control_planes
        .iter()
        .enumerate()
        .map(|(index, declared)| {
            control_plane::resolve(declared, &format!("spec.controlPlanes[{index}]"), &management)
        })
        .collect();
    Resolved { name: topology.metadata.name.clone(), management, control_planes }
}
