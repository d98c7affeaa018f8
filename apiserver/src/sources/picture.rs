//! The pictures that sources draw: what a host's libvirt, switch, Node and the cloud look like, in the words of the
//! merge. Protocol types end in the source that reads them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use uuid::Uuid;

/// What libvirtd of one host says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LibvirtPicture {
    /// Host name as libvirt sees it (`virConnectGetHostname`).
    pub hostname: Option<String>,
    /// Version of the libvirt library, `x.y.z` (`virConnectGetLibVersion`).
    pub libvirt_version: Option<String>,
    /// Version of the hypervisor, `x.y.z` (`virConnectGetVersion`).
    pub hypervisor_version: Option<String>,
    /// CPU architecture of the host (capabilities).
    pub cpu_arch: Option<String>,
    /// NUMA cells (capabilities).
    pub cells: Vec<Cell>,
    /// Total memory in KiB: sum over cells, else node information.
    pub memory_kib: Option<u64>,
    /// Total logical CPUs: sum over cells, else node information.
    pub cpus: Option<u64>,
    /// What a domain of the default machine may use (domain capabilities).
    pub domain_capabilities: Option<Arc<DomainCapabilitiesPicture>>,
    /// Vendor and model of the machine and its firmware (sysinfo).
    pub system: Option<SystemPicture>,
    /// All domains, active or not.
    pub domains: Arc<BTreeMap<Uuid, DomainPicture>>,
    /// Migration jobs, running or lately ended.
    pub jobs: BTreeMap<Uuid, JobPicture>,
}

/// A NUMA cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Cell number.
    pub id: u64,
    /// Memory in KiB.
    pub memory_kib: Option<u64>,
    /// Logical CPUs.
    pub cpus: Option<u64>,
}

/// Domain capabilities in the contract's strings.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DomainCapabilitiesPicture {
    /// Guest architecture.
    pub arch: Option<String>,
    /// libvirt domain type: `kvm`, `qemu`, `ch`.
    pub hypervisor_type: Option<String>,
    /// `<element>` and `<element>/<value>`.
    pub devices: Vec<String>,
    /// `mode/<mode>` and `mode/<mode>/<value>`.
    pub cpu_modes: Vec<String>,
    /// Feature names.
    pub features: Vec<String>,
}

/// sysinfo of the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemPicture {
    /// Manufacturer.
    pub vendor: Option<String>,
    /// Product.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// BIOS vendor.
    pub firmware_vendor: Option<String>,
    /// BIOS version.
    pub firmware_version: Option<String>,
}

/// A domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainPicture {
    /// libvirt name.
    pub name: String,
    /// Whether it has a run-time id.
    pub active: bool,
    /// `virDomainState`.
    pub state: i32,
    /// Reason within the state.
    pub reason: i32,
    /// Virtual CPUs, once known.
    pub vcpus: Option<u64>,
    /// Current memory in KiB, once known.
    pub memory_kib: Option<u64>,
}

/// A migration job of a domain.
#[derive(Debug, Clone, PartialEq)]
pub struct JobPicture {
    /// `virDomainJobType` as the contract spells it: bounded, unbounded, completed, failed, cancelled.
    pub kind: JobKind,
    /// `virDomainJobOperation`: 4 migration in, 5 migration out; absent where the driver does not say.
    pub operation: Option<i32>,
    /// When the job began: first sight less elapsed time.
    pub started: Timestamp,
    /// When it was seen ended.
    pub ended: Option<Timestamp>,
    /// Error text of a failed job.
    pub error: Option<String>,
    /// Numbers by libvirt's own names (`time_elapsed`, `memory_total` …).
    pub numbers: BTreeMap<String, u64>,
}

/// `virDomainJobType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// Running, with an estimate.
    Bounded,
    /// Running, without one: a live migration.
    Unbounded,
    /// Done.
    Completed,
    /// Failed.
    Failed,
    /// Cancelled.
    Cancelled,
}

/// What does not fit between Nova's servers of one host and its domains, as of one comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServersPicture {
    /// Servers of this host that were no domains, with their status.
    pub without_domain: BTreeMap<Uuid, String>,
    /// Domains that were no servers at all.
    pub without_server: BTreeSet<Uuid>,
    /// Domains whose servers are on another host as Nova has it, with that host.
    pub elsewhere: BTreeMap<Uuid, String>,
}

/// What ovsdb-server of one host says.
pub use ovs_client::switch::Switch as SwitchPicture;

/// What OpenFlow says about the bridges of one host: flows per table, by bridge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlowPicture {
    /// Bridge name to table number to flows; empty tables are left out.
    pub bridges: BTreeMap<String, BTreeMap<u8, u64>>,
}

/// What the daemons of one host say over unixctl.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DaemonPicture {
    /// Version of ovs-vswitchd.
    pub vswitchd_version: Option<String>,
    /// Version of ovsdb-server.
    pub ovsdb_version: Option<String>,
    /// Bonds as `bond/show` lists them.
    pub bonds: BTreeMap<String, BondPicture>,
    /// Whether ovn-controller is connected to the Southbound database; absent when it did not answer.
    pub ovn_connected: Option<bool>,
    /// Why ovn-controller did not answer.
    pub ovn_error: Option<String>,
    /// Version of ovn-controller.
    pub ovn_version: Option<String>,
}

/// A bond.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BondPicture {
    /// Members that are enabled.
    pub enabled: BTreeSet<String>,
    /// Members that are not.
    pub disabled: BTreeSet<String>,
}

/// The Kubernetes Node of one host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodePicture {
    /// UID of the Node.
    pub uid: String,
    /// When the Node was created.
    pub created: Option<Timestamp>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
    /// First InternalIP address.
    pub internal_ip: Option<String>,
    /// Kernel version of nodeInfo.
    pub kernel_version: Option<String>,
    /// OS image of nodeInfo.
    pub os_image: Option<String>,
    /// Whether the Node says it terminates (condition or deletionTimestamp).
    pub terminating: bool,
}

/// What Nova says about its compute services and hypervisors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComputePicture {
    /// Hypervisors by host name of their compute service.
    pub hypervisors: BTreeMap<String, NovaHypervisor>,
    /// nova-compute services by host name.
    pub services: BTreeMap<String, NovaService>,
}

/// A Nova hypervisor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NovaHypervisor {
    /// UUID, also of its Placement resource provider.
    pub id: String,
    /// `hypervisor_hostname`.
    pub hostname: String,
}

/// A nova-compute service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NovaService {
    /// UUID.
    pub id: String,
    /// `enabled` or `disabled`; absent for a service of an unreachable cell.
    pub status: Option<String>,
    /// `up` or `down`; absent likewise.
    pub state: Option<String>,
    /// Why disabled.
    pub disabled_reason: Option<String>,
    /// Forced down.
    pub forced_down: Option<bool>,
    /// Availability zone.
    pub zone: Option<String>,
}

/// Host aggregates by member host, and traits by hypervisor id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MembershipPicture {
    /// Service host to its aggregates, in Nova's order.
    pub aggregates: BTreeMap<String, Vec<NovaAggregate>>,
    /// Hypervisor id (resource provider) to its traits, sorted.
    pub traits: BTreeMap<String, Vec<String>>,
}

/// A host aggregate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NovaAggregate {
    /// Name.
    pub name: String,
    /// UUID.
    pub uuid: String,
    /// Metadata.
    pub metadata: BTreeMap<String, String>,
}
