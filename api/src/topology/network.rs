//! A cluster of gateway nodes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Chassis, Host, Lifecycle};

/// A cluster whose nodes carry the traffic between tenant and physical networks.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NetworkCluster {
    /// Name of the cluster, unique in the topology; its registration and every `targetClusterRef` use it. A DNS label.
    pub name: String,
    /// Whether it is the management cluster itself, as in a lab: nothing is connected or registered then. Default: `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<bool>,
    /// Whether the cluster is in use or being emptied. Default: `Attached`. Only what was `Draining` can be removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
    /// The release that gives the operators access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// The chassis, all of them gateways unless selected otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chassis: Option<Chassis>,
    /// Nodes whose labels the renderer sets: chassis and gateway. Default: whoever makes the nodes sets them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<Host>,
}
