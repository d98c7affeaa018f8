//! Servers of one host, and the proof that the list is what was asked for.
//!
//! For a user without the right, Nova ignores the host filter silently and lists the user's own project. So a list is
//! believed only when every server in it says that it is on the host.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use crate::failure::Failure;
use crate::lenient;

/// A server. Its `id` is also the UUID of its libvirt domain.
///
/// Decide by `vm_state` and `task_state`; `status` is derived from them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Server {
    /// Id.
    pub id: Uuid,
    /// The user's name for it.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub name: Option<String>,
    /// `ACTIVE`, `SHUTOFF`, `MIGRATING` …
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub status: Option<String>,
    /// Its project.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub tenant_id: Option<String>,
    /// Who made it.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub user_id: Option<String>,
    /// When it was made.
    #[serde(default, deserialize_with = "lenient::time")]
    pub created: Option<Timestamp>,
    /// When it last changed, to the second.
    #[serde(default, deserialize_with = "lenient::time")]
    pub updated: Option<Timestamp>,
    /// `active`, `stopped`, `paused`, `error` …
    #[serde(default, rename = "OS-EXT-STS:vm_state", deserialize_with = "lenient::maybe")]
    pub vm_state: Option<String>,
    /// What Nova is doing with it; absent when nothing.
    #[serde(default, rename = "OS-EXT-STS:task_state", deserialize_with = "lenient::maybe")]
    pub task_state: Option<String>,
    /// 0 none, 1 running, 3 paused, 4 shut down, 6 crashed, 7 suspended.
    #[serde(default, rename = "OS-EXT-STS:power_state", deserialize_with = "lenient::maybe")]
    pub power_state: Option<i64>,
    /// The service host it is on.
    #[serde(default, rename = "OS-EXT-SRV-ATTR:host", deserialize_with = "lenient::maybe")]
    pub host: Option<String>,
    /// The hypervisor host name it is on.
    #[serde(default, rename = "OS-EXT-SRV-ATTR:hypervisor_hostname", deserialize_with = "lenient::maybe")]
    pub hypervisor_hostname: Option<String>,
    /// The libvirt name of its domain.
    #[serde(default, rename = "OS-EXT-SRV-ATTR:instance_name", deserialize_with = "lenient::maybe")]
    pub instance_name: Option<String>,
    /// Availability zone.
    #[serde(default, rename = "OS-EXT-AZ:availability_zone", deserialize_with = "lenient::maybe")]
    pub availability_zone: Option<String>,
    /// `UP`, `DOWN` (forced), `UNKNOWN` (no heartbeat), `MAINTENANCE` (disabled) or empty (no host).
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub host_status: Option<String>,
    /// Whether its owner locked it.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub locked: Option<bool>,
    /// Why.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub locked_reason: Option<String>,
    /// Its size.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub flavor: Option<Flavor>,
    /// The image it was made from; absent when it was booted from a volume.
    #[serde(default, deserialize_with = "image_id")]
    pub image: Option<Uuid>,
    /// Its volumes.
    #[serde(default, rename = "os-extended-volumes:volumes_attached", deserialize_with = "lenient::maybe")]
    pub volumes_attached: Option<Vec<AttachedVolume>>,
    /// Progress of what Nova is doing, in percent; absent in many states.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub progress: Option<i64>,
    /// The last fault; it stays when the server is well again, so compare its time.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub fault: Option<Fault>,
}

/// The size of a server, as embedded in it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Flavor {
    /// Name when the server was made.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub original_name: Option<String>,
    /// Virtual CPUs.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub vcpus: Option<i64>,
    /// Memory in MiB.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub ram: Option<i64>,
    /// Root disk in GiB.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub disk: Option<i64>,
    /// Ephemeral disk in GiB.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub ephemeral: Option<i64>,
    /// Swap in MiB.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub swap: Option<i64>,
    /// Extra specifications.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub extra_specs: BTreeMap<String, String>,
}

/// A volume of a server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AttachedVolume {
    /// Id of the volume.
    pub id: Uuid,
    /// Whether it goes when the server goes.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub delete_on_termination: Option<bool>,
}

/// What went wrong with a server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Fault {
    /// An HTTP-like code.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub code: Option<i64>,
    /// When.
    #[serde(default, deserialize_with = "lenient::time")]
    pub created: Option<Timestamp>,
    /// What; sometimes only the name of an exception.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub message: Option<String>,
}

/// Believes a list of servers of `host` only when each of them says that it is there.
pub(crate) fn check_hosts(servers: &[Server], host: &str) -> Result<(), Failure> {
    for server in servers {
        match server.host.as_deref() {
            Some(there) if there == host => {}
            Some(there) => {
                return Err(Failure::WrongHost { server: server.id.to_string(), host: there.to_owned() });
            }
            None if server.status.as_deref() == Some("UNKNOWN") => {
                return Err(Failure::CellUnreachable { server: server.id.to_string() });
            }
            None => return Err(Failure::HostNotShown { server: server.id.to_string() }),
        }
    }
    Ok(())
}

/// `image` is an object, or `""` when the server was booted from a volume.
fn image_id<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Uuid>, D::Error> {
    let image = Value::deserialize(deserializer)?;
    Ok(image.get("id").and_then(Value::as_str).and_then(|id| id.parse().ok()))
}
