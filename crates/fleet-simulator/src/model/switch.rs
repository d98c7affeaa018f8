//! The virtual switch of a host: bridges, ports, bonds, interfaces, flows, and its OVN controller.

use std::collections::BTreeMap;

use uuid::Uuid;

/// Open vSwitch and ovn-controller of one host.
#[derive(Debug, Clone)]
pub struct Switch {
    /// `Open_vSwitch.ovs_version`; `None` where no start script set it.
    pub ovs_version: Option<String>,
    /// What `version` answers over unixctl, e.g. `3.4.1`.
    pub program_version: String,
    /// `dpdk_initialized`.
    pub dpdk_initialized: bool,
    /// `dpdk_version`, e.g. `DPDK 23.11.1`; `None` on a build without DPDK.
    pub dpdk_version: Option<String>,
    /// `external_ids` of the root row: system-id, hostname, ovn-remote, ovn-encap-ip, ovn-encap-type, ovn-bridge-mappings …
    pub external_ids: BTreeMap<String, String>,
    /// Bridges in the order they were made.
    pub bridges: Vec<Bridge>,
    /// The OVN controller.
    pub ovn: Ovn,
}

/// A bridge.
#[derive(Debug, Clone)]
pub struct Bridge {
    /// Row UUID.
    pub uuid: Uuid,
    /// Name, e.g. `br-int`.
    pub name: String,
    /// `system` or `netdev`.
    pub datapath_type: String,
    /// `secure` or `standalone`.
    pub fail_mode: Option<String>,
    /// Ports, the bridge's own among them.
    pub ports: Vec<Port>,
    /// OpenFlow table number to number of flows.
    pub flows: BTreeMap<u8, u32>,
}

/// A port; with a [`Bond`] it has two or more interfaces.
#[derive(Debug, Clone)]
pub struct Port {
    /// Row UUID.
    pub uuid: Uuid,
    /// Name.
    pub name: String,
    /// VLAN tag.
    pub tag: Option<u16>,
    /// Bond settings, for a bond.
    pub bond: Option<Bond>,
    /// Member interfaces.
    pub interfaces: Vec<Interface>,
}

/// Bond settings and state.
#[derive(Debug, Clone)]
pub struct Bond {
    /// `active-backup`, `balance-slb` or `balance-tcp`.
    pub mode: String,
    /// `active`, `passive` or `off`.
    pub lacp: Option<String>,
    /// Name of the active member, if any member is up.
    pub active_member: Option<String>,
}

/// An interface.
#[derive(Debug, Clone)]
pub struct Interface {
    /// Row UUID.
    pub uuid: Uuid,
    /// Name.
    pub name: String,
    /// Where its packets go.
    pub kind: InterfaceKind,
    /// OpenFlow port; -1 when it could not be opened.
    pub ofport: Option<i32>,
    /// Administratively up.
    pub admin_up: bool,
    /// Carrier.
    pub link_up: bool,
    /// Bits per second.
    pub link_speed: Option<u64>,
    /// MTU in bytes.
    pub mtu: Option<u32>,
    /// MAC in use.
    pub mac: String,
    /// Error text, when it could not be opened.
    pub error: Option<String>,
    /// iface-id, vm-uuid, attached-mac …
    pub external_ids: BTreeMap<String, String>,
    /// `options`, e.g. remote_ip of a tunnel.
    pub options: BTreeMap<String, String>,
    /// Counters.
    pub statistics: BTreeMap<String, i64>,
}

/// What an interface is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterfaceKind {
    /// A network card of the host (`type` empty, a driver in `status`).
    Physical,
    /// The tap device of a guest.
    Tap,
    /// A bridge's own port.
    Internal,
    /// A Geneve tunnel to another chassis.
    Geneve,
    /// One end of a patch between two bridges.
    Patch,
}

/// ovn-controller.
#[derive(Debug, Clone)]
pub struct Ovn {
    /// Whether the process runs at all.
    pub running: bool,
    /// `connection-status`.
    pub connected: bool,
    /// Version it prints.
    pub version: String,
}
