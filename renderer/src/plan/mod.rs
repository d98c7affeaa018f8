//! Plan: which objects there are, on which cluster, in which file, in what order. Pure.
//!
//! ```text
//! Resolved ─► layers (one Flux Kustomization each, with what it waits for) ─► objects, files
//! ```
//! A layer is what Flux applies in one step: its objects are applied together, on one cluster, after the layers it depends on are ready.
//! Everything that templates may print is decided here; templates only say how it looks.

mod base;
mod chassis;
mod connection;
mod control_plane;
mod flux;
mod layer;
mod operators;
mod pools;
mod secrets;

pub use layer::{Health, Layer, Planned};

pub(crate) use connection::REGISTRATION_LABEL;
pub(crate) use layer::{PRUNE_ANNOTATION, SUBSTITUTE_ANNOTATION, mentions_variable};

use crate::conventions::Resolved;

/// Everything that will be rendered.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the topology.
    pub topology: String,
    /// Folder that the management cluster's root Kustomization points at.
    pub root: String,
    /// Name of the management cluster.
    pub management: String,
    /// The layers, in an order in which each comes after those it depends on.
    pub layers: Vec<Layer>,
    /// The Flux Kustomization of each layer, in the same order.
    pub kustomizations: Vec<Planned>,
}

impl Plan {
    /// Every planned object: first what Flux reads, then what it applies.
    pub fn objects(&self) -> impl Iterator<Item = &Planned> {
        self.kustomizations.iter().chain(self.layers.iter().flat_map(|layer| &layer.objects))
    }

    /// Names of all clusters that something is applied to, sorted.
    #[must_use]
    pub fn clusters(&self) -> Vec<&str> {
        let mut clusters: Vec<&str> = self.layers.iter().map(|layer| layer.cluster.as_str()).collect();
        clusters.push(&self.management);
        clusters.sort_unstable();
        clusters.dedup();
        clusters
    }
}

/// Plans a topology.
#[must_use]
pub fn plan(resolved: &Resolved) -> Plan {
    let mut layers = vec![connection::clusters_namespace(resolved)];
    for control_plane in &resolved.control_planes {
        let management = &resolved.management;
        layers.push(control_plane::namespace(control_plane, management));
        for attachment in control_plane.attachments() {
            layers.extend(connection::layers(control_plane, attachment, management));
        }
        layers.extend(control_plane::layers(control_plane, management));
        for attachment in control_plane.attachments() {
            layers.push(chassis::layer(control_plane, attachment, management));
        }
        for compute in &control_plane.compute {
            layers.push(base::layer(control_plane, compute, management));
            layers.push(pools::metadata(control_plane, compute, management));
            layers.push(pools::pools(control_plane, compute, management));
            layers.extend(operators::layer(control_plane, compute));
        }
    }
    let kustomizations =
        layers.iter().map(|layer| flux::kustomization(layer, &resolved.management)).collect();
    Plan {
        topology: resolved.name.clone(),
        root: format!("clusters/{}", resolved.management.name),
        management: resolved.management.name.clone(),
        layers,
        kustomizations,
    }
}
