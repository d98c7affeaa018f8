//! Hypervisors: the hosts as Nova's computes registered them.

use serde::Deserialize;
use uuid::Uuid;

use super::{ServiceState, ServiceStatus};
use crate::lenient;

/// A hypervisor. Its `id` is also the UUID of its resource provider in Placement.
///
/// Capacity and usage are not here: Nova dropped them at 2.88 in favour of Placement.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Hypervisor {
    /// Id of the hypervisor and of its resource provider.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub id: Option<Uuid>,
    /// The virtualisation driver's name of the host, often fully qualified where the service host is short.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub hypervisor_hostname: Option<String>,
    /// `QEMU`, `fake`, `ironic` …
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub hypervisor_type: Option<String>,
    /// `major * 1_000_000 + minor * 1_000 + release` of QEMU.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub hypervisor_version: Option<i64>,
    /// Address of the host.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub host_ip: Option<String>,
    /// The state of its service.
    #[serde(default)]
    pub state: ServiceState,
    /// The status of its service.
    #[serde(default)]
    pub status: ServiceStatus,
    /// Its service.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub service: Option<HypervisorService>,
    /// The host's `uptime` line; absent while the host is down and with drivers that do not tell.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub uptime: Option<String>,
}

/// The nova-compute that a hypervisor belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct HypervisorService {
    /// Id of the service.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub id: Option<Uuid>,
    /// The service host.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub host: Option<String>,
    /// Why the service is disabled.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub disabled_reason: Option<String>,
}

impl Hypervisor {
    /// The key that joins it with [`ComputeService::host`](crate::ComputeService::host), aggregates and servers.
    pub fn service_host(&self) -> Option<&str> {
        self.service.as_ref()?.host.as_deref()
    }

    /// A bare-metal node of Ironic, of which one service may have many.
    pub fn is_ironic(&self) -> bool {
        self.hypervisor_type.as_deref().is_some_and(|kind| kind.eq_ignore_ascii_case("ironic"))
    }
}
