//! A cluster that hosts single services of a control plane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Lifecycle};

/// A cluster that hosts single services of a control plane instead of the management cluster.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ServiceCluster {
    /// Name of the cluster, unique in the topology; its registration and every `targetClusterRef` use it. A DNS label.
    pub name: String,
    /// Whether the cluster is in use or being emptied. Default: `Attached`. Only what was `Draining` can be removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
    /// The release that gives the operators access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// The services that run there; each in a namespace of its own.
    pub services: Vec<PlacedService>,
}

/// A service and where it runs. Neither can be changed later.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PlacedService {
    /// Which service.
    pub service: PlaceableService,
    /// Namespace, on both clusters. Default: `<control plane>-<service>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// Services that can run on a cluster of their own.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PlaceableService {
    /// Keystone.
    Keystone,
    /// Glance.
    Glance,
    /// Placement.
    Placement,
    /// Horizon.
    Horizon,
}
