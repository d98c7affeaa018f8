//! nova-compute services: whether they report in, and whether the scheduler may use them.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use uuid::Uuid;

use crate::lenient;

/// A service of Nova. `host` is the key that joins it with [`Hypervisor::service_host`](crate::Hypervisor::service_host),
/// with aggregates and with servers.
///
/// In a cell that Nova cannot reach only `binary` and `host` are known; such a service is neither down nor gone.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ComputeService {
    /// Id of the service.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub id: Option<Uuid>,
    /// `nova-compute`.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub binary: Option<String>,
    /// The service host: nova-compute's own name for itself.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub host: Option<String>,
    /// Availability zone.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub zone: Option<String>,
    /// Whether the scheduler may use it.
    #[serde(default)]
    pub status: ServiceStatus,
    /// Whether it reports in.
    #[serde(default)]
    pub state: ServiceState,
    /// Last heartbeat or edit.
    #[serde(default, deserialize_with = "lenient::time")]
    pub updated_at: Option<Timestamp>,
    /// Why it is disabled.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub disabled_reason: Option<String>,
    /// Declared down by an operator or by HA, whatever it reports.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub forced_down: Option<bool>,
}

/// Whether the scheduler may use a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServiceStatus {
    /// It may.
    Enabled,
    /// It may not.
    Disabled,
    /// Nova does not tell.
    #[default]
    Unknown,
}

/// Whether a service reports in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServiceState {
    /// It does.
    Up,
    /// It does not, or was forced down.
    Down,
    /// Nova does not tell.
    #[default]
    Unknown,
}

impl ComputeService {
    /// Disabled by Nova itself, because the compute lost its libvirt: nobody's maintenance.
    pub fn is_disabled_by_nova(&self) -> bool {
        self.status == ServiceStatus::Disabled
            && self.disabled_reason.as_deref().is_some_and(|reason| reason.starts_with("AUTO:"))
    }
}

impl<'de> Deserialize<'de> for ServiceStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(deserializer)?.as_str() {
            Some("enabled") => Self::Enabled,
            Some("disabled") => Self::Disabled,
            _ => Self::Unknown,
        })
    }
}

impl<'de> Deserialize<'de> for ServiceState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(deserializer)?.as_str() {
            Some("up") => Self::Up,
            Some("down") => Self::Down,
            _ => Self::Unknown,
        })
    }
}
