//! The parts of a switch: bridges, physical interfaces, bonds, tunnels.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bridge {
    /// Name of the bridge.
    ///
    /// Source: OVSDB Bridge, `name`.
    pub name: String,
    /// How many ports it has.
    ///
    /// Source: OVSDB Bridge, `ports`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub ports: Option<i64>,
    /// How many OpenFlow flows it has.
    ///
    /// Source: OpenFlow aggregate statistics of the bridge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub flows: Option<i64>,
    /// Who moves its packets.
    ///
    /// Source: OVSDB Bridge, `datapath_type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datapath_type: Option<DatapathType>,
    /// Whether the switch has made it.
    ///
    /// Source: OVSDB Bridge, `datapath_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<BridgeState>,
}

/// Who moves the packets of a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DatapathType {
    /// User space, with DPDK.
    Netdev,
    /// The kernel.
    System,
}

/// Whether the switch has made a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum BridgeState {
    /// It is there.
    Active,
    /// It is configured, but ovs-vswitchd has not made it.
    Inactive,
}

/// The interfaces of a switch that lead off the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Interfaces {
    /// Physical interfaces.
    ///
    /// Source: OVSDB Interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub physical: Option<Vec<PhysicalInterface>>,
    /// Bonds.
    ///
    /// Source: OVSDB Port with several interfaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub bonds: Option<Vec<Bond>>,
    /// Tunnels to other hosts. Not part of the architecture's kind.
    ///
    /// Source: OVSDB Interface of type `geneve`, `vxlan` or `stt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub tunnels: Option<Vec<Tunnel>>,
}

/// A physical interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PhysicalInterface {
    /// Name of the interface.
    ///
    /// Source: OVSDB Interface, `name`.
    pub name: String,
    /// Whether it has a link.
    ///
    /// Source: OVSDB Interface, `link_state`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<InterfaceState>,
    /// Its speed, such as `25Gbps`.
    ///
    /// Source: OVSDB Interface, `link_speed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<String>,
    /// The bond that it is a member of.
    ///
    /// Source: OVSDB Port, `interfaces`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bond: Option<String>,
}

/// Whether an interface has a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum InterfaceState {
    /// It has.
    Up,
    /// It has not.
    Down,
}

/// A bond: several interfaces that act as one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bond {
    /// Name of the bond.
    ///
    /// Source: OVSDB Port, `name`.
    pub name: String,
    /// How it spreads its load, such as `balance-tcp`.
    ///
    /// Source: OVSDB Port, `bond_mode`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Whether it is whole.
    ///
    /// Source: unixctl `bond/show`; else the link state of its members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<BondState>,
    /// How many members it has.
    ///
    /// Source: OVSDB Port, `interfaces`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub members: Option<i64>,
    /// How many of its members carry traffic.
    ///
    /// Source: unixctl `bond/show`; else the link state of its members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub active_members: Option<i64>,
}

/// Whether a bond is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum BondState {
    /// All members carry traffic.
    Active,
    /// Some members do not.
    Degraded,
    /// No member does.
    Down,
}

/// A tunnel to another host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tunnel {
    /// Name of the interface.
    ///
    /// Source: OVSDB Interface, `name`.
    pub name: String,
    /// How packets are wrapped, such as `geneve`.
    ///
    /// Source: OVSDB Interface, `type`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// Address of the other end.
    ///
    /// Source: OVSDB Interface, `options:remote_ip`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_ip: Option<String>,
    /// Address of this end.
    ///
    /// Source: OVSDB Interface, `options:local_ip`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_ip: Option<String>,
    /// Chassis at the other end.
    ///
    /// Source: OVSDB Port, `external_ids:ovn-chassis-id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_chassis: Option<String>,
    /// Interface that its packets leave by.
    ///
    /// Source: OVSDB Interface, `status:tunnel_egress_iface`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress_interface: Option<String>,
    /// Whether it can carry packets.
    ///
    /// Source: OVSDB Interface, `bfd_status:state` where BFD runs; else `link_state`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<InterfaceState>,
}

impl BondState {
    /// The state of a bond with so many of its members carrying traffic.
    #[must_use]
    pub const fn of(members: i64, active_members: i64) -> Self {
        if active_members <= 0 {
            Self::Down
        } else if active_members < members {
            Self::Degraded
        } else {
            Self::Active
        }
    }
}
