//! The types of the picture. `None` means that the switch did not say, never zero, never "no".

use std::collections::BTreeMap;

use serde::Serialize;
use uuid::Uuid;

/// A host's virtual switch.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Switch {
    /// Version of the database schema, e.g. `8.3.1`.
    pub schema_version: String,
    /// The root row; `None` in a database that was never set up.
    pub root: Option<OpenVSwitch>,
    /// Bridges by name.
    pub bridges: Vec<Bridge>,
    /// Managers (OVSDB remotes that are configured in the database) by target.
    pub managers: Vec<Manager>,
    /// What could not be read, e.g. `Interface eth0: ofport`. Everything else is unharmed.
    pub unreadable: Vec<String>,
}

/// The root row.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct OpenVSwitch {
    /// Version of Open vSwitch; often absent, because only start scripts write it.
    pub ovs_version: Option<String>,
    /// Version of the schema, written by start scripts too.
    pub db_version: Option<String>,
    /// Operating system.
    pub system_type: Option<String>,
    /// Its version.
    pub system_version: Option<String>,
    /// Whether DPDK is initialized.
    pub dpdk_initialized: Option<bool>,
    /// Version of DPDK; absent on a build without it.
    pub dpdk_version: Option<String>,
    /// Datapath types that ovs-vswitchd offers; empty when it never ran.
    pub datapath_types: Vec<String>,
    /// Interface types that ovs-vswitchd offers.
    pub iface_types: Vec<String>,
    /// system-id, hostname, ovn-remote, ovn-encap-ip, ovn-bridge-mappings …
    pub external_ids: BTreeMap<String, String>,
    /// Configuration that was asked for.
    pub next_cfg: Option<i64>,
    /// Configuration that ovs-vswitchd has applied.
    pub cur_cfg: Option<i64>,
}

/// A bridge.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Bridge {
    /// Row.
    pub uuid: Uuid,
    /// Name, e.g. `br-int`.
    pub name: String,
    /// `system` or `netdev`; what the database leaves empty means `system`.
    pub datapath_type: Option<String>,
    /// OpenFlow datapath id, once ovs-vswitchd has set the bridge up.
    pub datapath_id: Option<String>,
    /// Version of the datapath, once set up.
    pub datapath_version: Option<String>,
    /// `secure` or `standalone`.
    pub fail_mode: Option<String>,
    /// OpenFlow versions that are allowed; empty means all.
    pub protocols: Vec<String>,
    /// ovn-nb-cfg, ct-zone-… …
    pub external_ids: BTreeMap<String, String>,
    /// Ports by name, the bridge's own among them.
    pub ports: Vec<Port>,
    /// OpenFlow controllers by target.
    pub controllers: Vec<Controller>,
}

/// A port of a bridge.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Port {
    /// Row.
    pub uuid: Uuid,
    /// Name.
    pub name: String,
    /// VLAN tag.
    pub tag: Option<i64>,
    /// VLAN trunks.
    pub trunks: Vec<i64>,
    /// Set when the port has two or more interfaces.
    pub bond: Option<Bond>,
    /// Keys of others.
    pub external_ids: BTreeMap<String, String>,
    /// Interfaces by name.
    pub interfaces: Vec<Interface>,
}

/// What the database says about a bond. Which members are enabled it does not say: that is unixctl `bond/show`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Bond {
    /// `active-backup`, `balance-slb` or `balance-tcp`; absent means the default, `active-backup`.
    pub mode: Option<String>,
    /// `active`, `passive` or `off`.
    pub lacp: Option<String>,
    /// MAC of the active member; absent when no member is active.
    pub active_member_mac: Option<String>,
}

/// An interface.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Interface {
    /// Row.
    pub uuid: Uuid,
    /// Name.
    pub name: String,
    /// `""` or `system` for a device of the host, `internal`, `geneve`, `patch`, `dpdk` …
    pub kind: String,
    /// OpenFlow port; -1 when it could not be opened, absent when not yet tried.
    pub ofport: Option<i64>,
    /// Administrative state.
    pub admin_state: Option<LinkState>,
    /// Carrier.
    pub link_state: Option<LinkState>,
    /// Bits per second.
    pub link_speed: Option<u64>,
    /// `full` or `half`.
    pub duplex: Option<String>,
    /// MTU in bytes.
    pub mtu: Option<u64>,
    /// MAC address.
    pub mac_in_use: Option<String>,
    /// Index in the host's kernel.
    pub ifindex: Option<u64>,
    /// Why it could not be opened.
    pub error: Option<String>,
    /// iface-id, vm-uuid, attached-mac, ovn-installed …
    pub external_ids: BTreeMap<String, String>,
    /// remote_ip of a tunnel, peer of a patch …
    pub options: BTreeMap<String, String>,
    /// driver_name, tunnel_egress_iface …
    pub status: BTreeMap<String, String>,
    /// Whether LACP is current, for a member of a LACP bond. Alone it proves little: it stays true without a partner.
    pub lacp_current: Option<bool>,
    /// Counters, as of the last time they were read; absent when they never were for this interface.
    pub statistics: Option<BTreeMap<String, i64>>,
}

/// Up or down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "up is up")]
pub enum LinkState {
    Up,
    Down,
}

/// An OpenFlow controller of a bridge.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Controller {
    /// Row.
    pub uuid: Uuid,
    /// e.g. `tcp:127.0.0.1:6653`.
    pub target: String,
    /// Whether it is connected.
    pub is_connected: Option<bool>,
    /// `master`, `slave` or `other`.
    pub role: Option<String>,
    /// state, last_error …
    pub status: BTreeMap<String, String>,
}

/// An OVSDB manager.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Manager {
    /// Row.
    pub uuid: Uuid,
    /// e.g. `ptcp:6640:127.0.0.1`.
    pub target: String,
    /// Whether somebody is connected by it.
    pub is_connected: Option<bool>,
    /// state, bound_port, n_connections …
    pub status: BTreeMap<String, String>,
}

impl Switch {
    /// The bridge of that name.
    pub fn bridge(&self, name: &str) -> Option<&Bridge> {
        self.bridges.iter().find(|bridge| bridge.name == name)
    }

    /// All ports of all bridges.
    pub fn ports(&self) -> impl Iterator<Item = &Port> {
        self.bridges.iter().flat_map(|bridge| &bridge.ports)
    }

    /// All interfaces of all ports.
    pub fn interfaces(&self) -> impl Iterator<Item = &Interface> {
        self.ports().flat_map(|port| &port.interfaces)
    }

    /// All ports that are bonds.
    pub fn bonds(&self) -> impl Iterator<Item = &Port> {
        self.ports().filter(|port| port.bond.is_some())
    }

    /// `external_ids:system-id`, the chassis id of OVN.
    pub fn system_id(&self) -> Option<&str> {
        self.external_id("system-id")
    }

    /// A value of the root row's `external_ids`.
    pub fn external_id(&self, key: &str) -> Option<&str> {
        self.root.as_ref()?.external_ids.get(key).map(String::as_str)
    }
}

impl OpenVSwitch {
    /// Whether ovs-vswitchd is behind the configuration: it is busy, or it is dead.
    pub fn is_behind(&self) -> Option<bool> {
        Some(self.cur_cfg? < self.next_cfg?)
    }
}

impl Port {
    /// The active member of a bond.
    pub fn active_member(&self) -> Option<&Interface> {
        let mac = self.bond.as_ref()?.active_member_mac.as_ref()?;
        self.interfaces.iter().find(|interface| interface.mac_in_use.as_ref() == Some(mac))
    }
}

impl Interface {
    /// The driver of the device.
    pub fn driver_name(&self) -> Option<&str> {
        self.status.get("driver_name").map(String::as_str)
    }

    /// The logical port that is bound here.
    pub fn iface_id(&self) -> Option<&str> {
        self.external_ids.get("iface-id").map(String::as_str)
    }

    /// Whether it is a device of the host or of DPDK and no guest's: not a tap, tunnel, patch or bridge port.
    pub fn is_physical(&self) -> bool {
        let guest = matches!(self.driver_name(), Some("tun" | "tap")) || self.iface_id().is_some();
        matches!(self.kind.as_str(), "" | "system" | "dpdk" | "afxdp" | "afxdp-nonpmd") && !guest
    }
}
