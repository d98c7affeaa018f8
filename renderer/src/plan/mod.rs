//! Plan: which objects there are, on which cluster, in which file, in what order. Pure.
//!
//! ```text
//! Resolved ─► layers (one Flux Kustomization each, with what it waits for) ─► objects, files
//! ```
//! A layer is what Flux applies in one step: its objects are applied together, on one cluster, after the layers it depends on are ready.
//! Everything that templates may print is decided here; templates only say how it looks. What an attached cluster gives rise to is planned
//! in the folder of its kind, see [`crate::attachment_kinds`].

mod control_plane;
mod flux;
mod gateway;
mod layer;
mod management;
mod order;
mod secrets;
mod services;

use std::sync::Arc;

pub use layer::{Deletion, External, Health, Layer, Planned};

pub(crate) use control_plane::layer_name as step_of;
pub(crate) use layer::{
    LIFECYCLE_ANNOTATION, PRUNE_ANNOTATION, SUBSTITUTE_ANNOTATION, drained, kept, mentions_variable, metadata,
};
pub(crate) use management::{
    PUSH_STORE, RELEASES, foundation, foundation_is_ready, platform_is_ready, push_store, store_of,
};
pub(crate) use secrets::{Remote, external_secret, with_template};

use crate::attachments::{self, attachment_kinds};
use crate::conventions::Resolved;
use crate::finding::Position;
use crate::load::Positions;

/// Everything that will be rendered.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the topology.
    pub topology: String,
    /// Folder that the management cluster's root Kustomization points at.
    pub root: String,
    /// Name of the management cluster.
    pub management: String,
    /// Name of the Flux source that the Kustomizations read from.
    pub source: String,
    /// The layers, in an order in which each comes after those it depends on.
    pub layers: Vec<Layer>,
    /// The Flux Kustomization of each layer, in the same order.
    pub kustomizations: Vec<Planned>,
    /// Ports that other clusters reach, by cluster: first, last, what for.
    pub ports: Vec<OpenPort>,
    pub(crate) positions: Arc<Positions>,
}

/// A port that must be reachable from another cluster.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenPort {
    /// Cluster whose nodes listen.
    pub cluster: String,
    /// `16514/tcp` or `49152-49215/tcp`.
    pub ports: String,
    /// Who connects.
    pub from: String,
    /// What for.
    pub purpose: String,
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

    /// The layers in waves: all layers of a wave can be applied at the same time, once the wave before is ready.
    #[must_use]
    pub fn waves(&self) -> Vec<Vec<&Layer>> {
        order::waves(&self.layers)
    }

    /// Where the topology says what an object exists for.
    #[must_use]
    pub fn position(&self, planned: &Planned) -> Option<Position> {
        self.positions.of(&planned.owner)
    }
}

/// Plans a topology.
#[must_use]
pub fn plan(resolved: &Resolved) -> Plan {
    let management = &resolved.management;
    let mut layers = management::layers(management);
    layers.push(attachments::clusters_namespace(resolved));
    for control_plane in &resolved.control_planes {
        layers.extend(control_plane::layers(control_plane, management));
        for kind in attachment_kinds() {
            layers.extend((kind.layers)(control_plane, management));
        }
    }
    let layers = order::sort(layers);
    let kustomizations = layers.iter().map(|layer| flux::kustomization(layer, management)).collect();
    Plan {
        topology: resolved.name.clone(),
        root: format!("clusters/{}", management.name),
        management: management.name.clone(),
        source: management.source_name.clone(),
        layers,
        kustomizations,
        ports: crate::conventions::open_ports(resolved),
        positions: Arc::clone(&resolved.positions),
    }
}
