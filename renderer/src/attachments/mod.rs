//! Attachments: the kinds of cluster that a control plane can have attached to it, one folder each.
//!
//! ```text
//! <kind>/conventions.rs  what is meant when little is written        <kind>/rules.rs  what must hold
//! <kind>/mod.rs          which layers there are, after what          <kind>/…         the objects in them
//! ```
//! The list below is all that the rest of the renderer knows of them. `docs/how-to/add-an-attachment.md` says how a kind is added, and a
//! test compares that page, this list and the folders.

pub(crate) mod chassis;
pub(crate) mod compute;
mod connection;
mod conventions;
mod hosts;
pub(crate) mod network;
pub(crate) mod services;
pub(crate) mod storage;

use crate::conventions::{ResolvedControlPlane, ResolvedManagement};
use crate::plan::Layer;
use crate::rules::Rule;

pub use conventions::{Attachment, ResolvedAccess, ResolvedChassis, ResolvedHost};

pub(crate) use connection::{REGISTRATION_LABEL, Way, clusters_namespace, kubeconfig_secret, layer_name};

/// A kind of attachment.
#[derive(Clone, Copy)]
pub struct AttachmentKind {
    /// The field of a control plane that lists its clusters, and the name of its folder.
    pub field: &'static str,
    /// What it is, in one sentence.
    pub summary: &'static str,
    /// The page that says how to attach one.
    pub guide: &'static str,
    /// A resource that every cluster of this kind gives rise to.
    pub resource: &'static str,
    pub(crate) rules: &'static [Rule],
    pub(crate) layers: fn(&ResolvedControlPlane, &ResolvedManagement) -> Vec<Layer>,
}

impl std::fmt::Debug for AttachmentKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AttachmentKind").field("field", &self.field).finish_non_exhaustive()
    }
}

/// Every kind of attachment.
#[must_use]
pub const fn attachment_kinds() -> &'static [AttachmentKind] {
    &[network::KIND, storage::KIND, services::KIND, compute::KIND]
}
