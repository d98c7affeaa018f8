//! The document as a whole: its type, its name, its two halves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ControlPlane, Management};

/// A declared topology: one management cluster and the control planes that live on it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Topology {
    /// Group and version of this document.
    pub api_version: TopologyApiVersion,
    /// Kind of this document.
    pub kind: TopologyKind,
    /// The name of the topology.
    pub metadata: TopologyMetadata,
    /// What is declared.
    pub spec: TopologySpec,
}

/// The only version there is today.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum TopologyApiVersion {
    /// The first version.
    #[serde(rename = "topology.c5c3.io/v1alpha1")]
    V1alpha1,
}

/// The only kind there is today.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum TopologyKind {
    /// A topology.
    Topology,
}

/// What a topology is called.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TopologyMetadata {
    /// Names the ownership manifest in Git, so that two topologies can share one repository. A DNS label.
    pub name: String,
}

/// The two halves of a topology.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TopologySpec {
    /// The cluster that runs Flux, External Secrets and the operators, and holds every C5C3 resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management: Option<Management>,
    /// The OpenStack control planes, each with the clusters attached to it.
    pub control_planes: Vec<ControlPlane>,
}
