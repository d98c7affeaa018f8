//! The aggregated API server of the C5C3 hypervisor cluster.
//!
//! ```text
//!  libvirtd, OVS, Nova, Node ──► sources ──► inventory ──► merge ──► resources ──► aggregated-apiserver ──► clients
//!                                (effects)   (one writer)  (pure)    (published)
//!                                     intent ────┘
//! ```

pub mod command;
pub mod configuration;
pub mod intent;
pub mod inventory;
pub mod merge;
pub mod replicas;
pub mod resources;
#[cfg(feature = "simulation")]
pub mod simulation;
pub mod sources;
pub mod wiring;
