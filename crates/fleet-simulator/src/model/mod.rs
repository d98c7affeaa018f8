//! What is true in the simulated world: hosts with domains and a switch, and the cloud that knows them.
//!
//! One lock per host and one for the cloud, never held across an await. Whoever changes a host says what happened by
//! pushing [`HostChange`]s; protocol servers subscribe and turn them into their own events.

mod cloud;
mod domain;
mod fault;
mod fleet;
mod host;
mod migration;
mod switch;
mod switch_changes;

pub use cloud::{Aggregate, Cloud, CloudApi, CloudState, ComputeService, Credentials, Traffic};
pub use domain::{Domain, DomainEvent, DomainState, Job, JobKind};
pub use fault::{Fault, Faults};
pub use fleet::{Fleet, FleetOptions};
pub(crate) use host::lifecycle;
pub use host::{Hardware, Host, HostChange, HostState};
pub use migration::migrate;
pub use switch::{Bond, Bridge, Interface, InterfaceKind, Ovn, Port, Switch};

pub(crate) use fleet::uuid;
