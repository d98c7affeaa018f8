//! Conventions: from what was written to what is meant, every default in one place.
//!
//! A topology stays short because almost everything has a usual value. This step writes all of them down, so that rules and plan never ask
//! "is it set, and if not, what then?". Each resolved entry keeps the path of the field it came from, for messages.

mod control_plane;
mod management;
pub(crate) mod names;
mod ovn;
mod ports;

pub use crate::attachments::compute::{Compute, ResolvedLibvirt, ResolvedPool};
pub use crate::attachments::network::Network;
pub use crate::attachments::services::{PlacedOn, Services};
pub use crate::attachments::storage::{
    ResolvedBackup, ResolvedClient, ResolvedObjectStore, ResolvedPoolOfCeph, ResolvedVolumes, Storage,
};
pub use crate::attachments::{Attachment, ResolvedAccess, ResolvedChassis, ResolvedHost};
pub use control_plane::{Bus, PublicHosts, ResolvedControlPlane, ResolvedGateway, ResolvedImageStore};
pub use management::{ResolvedManagement, ResolvedObservability, ResolvedOpenBao, ResolvedPlatform};
pub use ovn::{OvnStore, ResolvedOvn, ResolvedRelay};

pub(crate) use ports::open_ports;

use std::sync::Arc;

use c5c3_api::topology::Topology;

use crate::load::Positions;

/// A topology with nothing left open.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// Name of the topology.
    pub name: String,
    /// The management cluster.
    pub management: ResolvedManagement,
    /// The control planes, in the order of the document.
    pub control_planes: Vec<ResolvedControlPlane>,
    pub(crate) positions: Arc<Positions>,
}

impl Resolved {
    /// Every attached cluster of any kind: the field of its entry, its name, and whether it is being emptied.
    pub fn clusters(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        self.control_planes.iter().flat_map(ResolvedControlPlane::clusters)
    }

    /// Every attached cluster with chassis, with the control plane it is attached to.
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
            let field = format!("spec.controlPlanes[{index}]");
            control_plane::resolve(declared, &field, &topology.metadata.name, &management)
        })
        .collect();
    let positions = Arc::default();
    Resolved { name: topology.metadata.name.clone(), management, control_planes, positions }
}
