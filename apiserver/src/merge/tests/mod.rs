//! The merge, proven on scenes: a host and a cloud in which everything is well, and what changes when something is not.

mod eviction;
mod findings;
mod hypervisor;
mod laws;
mod migration;
mod ovs_node;
pub(crate) mod scene;
