//! The management cluster itself: operators in their order, certificates, stores, monitoring; and what attached clusters need of the same.
//!
//! ```text
//! sources ─► foundation ─┬► pki ─► stores ─┐
//!                        ├► infrastructure ┼► operators ─► everything else
//!                        └► k-orc, rabbitmq┘
//! ```
//! HelmReleases can only wait for HelmReleases and Kustomizations for Kustomizations. Both kinds are here, so each group is a layer and
//! the layers wait for one another; that declares what upstream leaves open: the c5c3-operator needs the kinds of K-ORC, and RabbitMQ's
//! operators need those of cert-manager.

mod observability;
mod pki;
mod releases;
mod remote;
mod sources;
mod stores;

use super::Layer;
use crate::conventions::ResolvedManagement;

pub(crate) use releases::RELEASES;
pub(crate) use remote::{foundation, foundation_is_ready};
pub(crate) use stores::{PUSH_STORE, push_store, store_of};

/// Namespace of External Secrets.
const ESO_NAMESPACE: &str = "external-secrets";

fn layer(management: &ResolvedManagement, step: &str, owner: &str) -> Layer {
    let path = format!("clusters/{}/platform/{step}", management.name);
    Layer::new(format!("platform-{step}"), &management.name, path, owner).keeps_objects()
}

/// All layers of the management cluster.
pub(super) fn layers(management: &ResolvedManagement) -> Vec<Layer> {
    let mut layers = Vec::new();
    if let Some(platform) = &management.platform {
        layers.extend(sources::layers(management, platform));
        layers.extend(releases::layers(management, platform));
        layers.push(pki::layer(management));
    }
    layers.extend(stores::layer(management));
    layers.extend(observability::layer(management));
    layers
}

/// The layers that everything of a control plane waits for.
pub(crate) fn platform_is_ready(management: &ResolvedManagement) -> Vec<String> {
    let mut names = Vec::new();
    if management.platform.is_some() {
        names.push("platform-operators".to_owned());
    }
    if management.renders_stores() {
        names.push("platform-stores".to_owned());
    }
    names
}
