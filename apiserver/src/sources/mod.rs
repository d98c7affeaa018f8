//! One task per host and source: a protocol client on one side, observations on the other.
//!
//! Every task has the same shape ([`task`]): connect, read, follow, and when the source fails say so, keep the last
//! value, and try again with growing pauses. A task ends only when it is told to.

pub mod cloud;
pub mod host;
pub mod libvirt;
mod measures;
pub mod node;
pub mod observation;
pub mod openvswitch;
pub mod picture;
pub mod report;
pub mod servers;
pub mod task;

pub use self::host::HostTasks;
pub use self::measures::Measures;
pub use self::task::Settings;
