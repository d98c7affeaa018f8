//! What Nova tells: hypervisors, compute services, aggregates, servers, migrations.

mod aggregates;
mod hypervisors;
mod migrations;
mod servers;
mod services;

pub use aggregates::Aggregate;
pub use hypervisors::{Hypervisor, HypervisorService};
pub use migrations::ServerMigration;
pub use servers::{AttachedVolume, Fault, Flavor, Server};
pub use services::{ComputeService, ServiceState, ServiceStatus};

pub(crate) use servers::check_hosts;
