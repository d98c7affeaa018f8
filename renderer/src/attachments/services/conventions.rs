//! Conventions of service clusters.

use c5c3_api::topology::{PlaceableService, ServiceCluster};

use super::super::conventions::{ResolvedAccess, is_draining, resolve_access};

/// A service cluster, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Services {
    /// Path of its entry in the document.
    pub field: String,
    /// Name of the cluster.
    pub cluster: String,
    /// Whether it is being emptied.
    pub draining: bool,
    /// How to get in.
    pub access: ResolvedAccess,
    /// The services on it.
    pub placed: Vec<PlacedOn>,
}

/// A service and where it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedOn {
    /// Path of its entry in the document.
    pub field: String,
    /// Name of the service in the ControlPlane.
    pub service: &'static str,
    /// Namespace.
    pub namespace: String,
}

pub(crate) fn resolve(declared: &ServiceCluster, field: &str, control_plane: &str) -> Services {
    let placed = declared.services.iter().enumerate().map(|(index, placed)| {
        let service = match placed.service {
            PlaceableService::Keystone => "keystone",
            PlaceableService::Glance => "glance",
            PlaceableService::Placement => "placement",
            PlaceableService::Horizon => "horizon",
        };
        PlacedOn {
            field: format!("{field}.services[{index}]"),
            service,
            namespace: placed.namespace.clone().unwrap_or_else(|| format!("{control_plane}-{service}")),
        }
    });
    Services {
        field: field.to_owned(),
        cluster: declared.name.clone(),
        draining: is_draining(declared.lifecycle),
        access: resolve_access(declared.access.as_ref()),
        placed: placed.collect(),
    }
}
