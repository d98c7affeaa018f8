//! A cluster of gateway nodes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Chassis};

/// A cluster whose nodes carry the traffic between tenant and physical networks.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NetworkCluster {
    /// Name of the cluster, unique in the topology; its registration and every `targetClusterRef` use it. A DNS label.
    pub name: String,
    /// The release that gives the operators access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// The chassis, all of them gateways unless selected otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chassis: Option<Chassis>,
}
