//! All that is known, in one place with one writer: what sources said per host, and what people want.
//!
//! ```text
//!  reports ─┐                 ┌─► publications ─► Collections (resources)
//!  intent ──┼─► Inventory ────┤
//!  ticks ───┘   (no effects)  └─► hosts that came or went ─► source tasks
//! ```
//!
//! The task in `follow` owns the [`Inventory`], applies what comes in, and carries out what follows from it.

mod by_cloud;
mod domains;
mod effects;
mod entry;
mod follow;
mod freshness;
mod metrics;
mod publication;
mod renewal;
mod shown;
mod state;
mod touched;
mod whereabouts;

#[cfg(test)]
mod tests;

pub use self::follow::{Follower, FollowerParts};
pub use self::freshness::{Comparing, Freshness};
pub use self::metrics::Metrics;
pub use self::publication::{Publication, Resource, Urgency};
pub use self::state::{Inventory, Rules};
