//! What the world shall see: an object to publish, to amend, or to withdraw.

use aggregated_apiserver::Revision;
use serde_json::Value;

/// A kind that the server publishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Hypervisor.
    Hypervisor,
    /// Eviction.
    Eviction,
    /// Migration.
    Migration,
    /// OVSNode.
    OvsNode,
}

/// Whether watchers are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// It means something new: an event, and a new version.
    Change,
    /// Only ages or counters moved: whoever asks sees them, nobody is woken.
    Quiet,
}

/// What to do with one object.
#[derive(Debug, Clone, PartialEq)]
pub enum Publication {
    /// Show this object.
    Show {
        /// Its kind.
        resource: Resource,
        /// Whether watchers are told.
        urgency: Urgency,
        /// The object.
        object: Value,
        /// The state of the intent store that it shows.
        revision: Revision,
    },
    /// Take the object away.
    Withdraw {
        /// Its kind.
        resource: Resource,
        /// Its namespace; `None` for a cluster-scoped kind.
        namespace: Option<String>,
        /// Its name.
        name: String,
    },
}
