//! What compute and network clusters have in common: access to the cluster, and OVN chassis on its nodes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Labels that a node must carry.
pub type NodeSelector = BTreeMap<String, String>;

/// How the operators get into an attached cluster: the release of the access chart there.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Access {
    /// Version range of the chart `target-cluster-access`. Default: `>=0.1.0 <1.0.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chart_version: Option<String>,
    /// Address of the cluster's API server as the management cluster reaches it. With it, the registration is made from the token of the
    /// access release; without it, the registration's kubeconfig is taken from the secret store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// Whether something is in use or being emptied.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Lifecycle {
    /// In use.
    #[default]
    Attached,
    /// Being emptied. Its layers are still rendered, so that Flux knows what to take down when it is removed.
    Draining,
}

/// A node whose labels and annotations the renderer sets. The node must exist, or Flux makes an empty one.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Host {
    /// Name of the node.
    pub name: String,
    /// More labels. Default: those of what the node is part of.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// More annotations. Default: those of what the node is part of.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// OVN chassis: Open vSwitch and `ovn-controller` on the selected nodes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Chassis {
    /// Nodes that are chassis. Default: `openstack.c5c3.io/chassis: "true"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<NodeSelector>,
    /// Those of them that are gateways. Default: none on compute clusters, `openstack.c5c3.io/gateway: "true"` on network clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway_node_selector: Option<NodeSelector>,
    /// Physical networks and the bridges that reach them. The uplink of a bridge is the host's business.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bridge_mappings: Vec<BridgeMapping>,
    /// Tunnel type; the same for every chassis of a control plane. Default: `geneve`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encapsulation: Option<Encapsulation>,
    /// MTU of the network below the tunnels, checked against Neutron's. Default: not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underlay_mtu: Option<u32>,
}

/// A physical network and the bridge that reaches it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct BridgeMapping {
    /// Name of the physical network in Neutron. The same name means the same network on every chassis.
    pub physical_network: String,
    /// Open vSwitch bridge, at most 15 characters.
    pub bridge: String,
}

/// Tunnel types.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Encapsulation {
    /// Geneve.
    Geneve,
    /// VXLAN.
    Vxlan,
}
