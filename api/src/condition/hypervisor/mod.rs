//! The condition types and reasons of a Hypervisor.
//!
//! Names are the contract that dashboards, alerts and scripts of the polling operators rely on; none is renamed. Three
//! types are ours: [`LIBVIRT_CONNECTED`], [`OVSDB_CONNECTED`] and [`NOVA_REACHABLE`] say whether a source answers.

pub mod reason;
mod table;

pub use table::CONDITIONS;

/// The host can take instances.
pub const READY: &str = "Ready";
/// The host is being taken into service.
pub const ONBOARDING: &str = "Onboarding";
/// The host has been taken out of service for good.
pub const OFFBOARDED: &str = "Offboarded";
/// The Node of the host is going away.
pub const TERMINATING: &str = "Terminating";
/// Somebody changed the object by hand with kubectl.
pub const TAINTED: &str = "Tainted";
/// Placement has the traits of the spec.
pub const TRAITS_UPDATED: &str = "TraitsUpdated";
/// Nova has the aggregates of the spec.
pub const AGGREGATES_UPDATED: &str = "AggregatesUpdated";
/// No agent pod is left on the Node.
pub const AGENT_PODS_EVICTED: &str = "AgentPodsEvicted";
/// The compute service is disabled in Nova.
pub const HYPERVISOR_DISABLED: &str = "HypervisorDisabled";
/// The instances of the host are being moved away.
pub const EVICTING: &str = "Evicting";
/// The high-availability service watches the host.
pub const HA_ENABLED: &str = "HaEnabled";
/// libvirt answers and could be read: the name of the polling agent. See also [`LIBVIRT_CONNECTED`].
pub const LIBVIRT_CONNECTION: &str = "LibVirtConnection";
/// The systemd unit of libvirt runs.
pub const LIBVIRTD_SERVICE: &str = "libvirtd.service";
/// The systemd unit of Open vSwitch runs.
pub const OPENVSWITCH_SERVICE: &str = "openvswitch-switch.service";
/// An update of the operating system runs.
pub const OPERATING_SYSTEM_UPDATE: &str = "OperatingSystemUpdate";
/// The TLS certificate of libvirt is installed on the host.
pub const TLS_CERTIFICATE_INSTALLED: &str = "TLSCertificateInstalled";
/// The libvirt source of this server answers.
pub const LIBVIRT_CONNECTED: &str = "LibvirtConnected";
/// The Open vSwitch database of the host answers.
pub const OVSDB_CONNECTED: &str = "OVSDBConnected";
/// Nova answers.
pub const NOVA_REACHABLE: &str = "NovaReachable";
