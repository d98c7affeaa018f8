//! From observations and intent to resources. Pure: no I/O, no clock, no async; the same input gives the same object.
//!
//! ```text
//!  HostView { node, libvirt, switch, flows, daemons, intent, now }, CloudView { compute, memberships }
//!     ├─► hypervisor ─► Hypervisor      ├─► migration ─► Migration (both ends joined)
//!     ├─► ovs_node   ─► OVSNode         └─► eviction  ─► Eviction
//! ```

mod effective_spec;
mod eviction;
mod findings;
mod hypervisor;
mod hypervisor_conditions;
mod identity;
mod meaning;
mod migration;
mod node_share;
mod ovs_node;
mod ovs_node_conditions;
mod ovs_node_issues;
pub mod source_status;
mod view;

#[cfg(test)]
pub(crate) mod tests;

pub use self::effective_spec::{base_spec, effective_spec, node_spec};
pub use self::eviction::eviction;
pub use self::hypervisor::hypervisor;
pub use self::identity::{Incarnation, uid};
pub use self::meaning::Digests;
pub use self::migration::{EarlierMigration, MigrationEnd, migration};
pub use self::node_share::NODE_MANAGER;
pub use self::ovs_node::ovs_node;
pub use self::view::{CloudView, HostView};
