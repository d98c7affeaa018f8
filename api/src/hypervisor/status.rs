//! What a host is, as its sources say it now.
//!
//! A value that no source has told is absent: a missing number is not 0, a missing list is not empty. That is why
//! `numInstances`, which the polling operators start at 0, and every list here are optional.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::operating_system::{OperatingSystem, UpdateStatus};
use super::resources::{Capabilities, Cell, DomainCapabilities, ResourceList};
use crate::{Condition, Finding, SourceStatus, unknown};

/// What a host is, as its sources say it now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HypervisorStatus {
    /// The `metadata.generation` that the conditions were computed from.
    ///
    /// Source: this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// Version of libvirt, `x.y.z`.
    ///
    /// Source: libvirt ConnectGetLibVersion.
    #[serde(default, with = "unknown")]
    #[schemars(with = "String")]
    pub lib_virt_version: Option<String>,
    /// Version of QEMU or Cloud Hypervisor, `x.y.z`.
    ///
    /// Source: libvirt ConnectGetVersion.
    #[serde(default, with = "unknown")]
    #[schemars(with = "String")]
    pub hypervisor_version: Option<String>,
    /// Operating system, kernel, firmware and machine of the host.
    ///
    /// Source: libvirt sysinfo, Node, node agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operating_system: Option<OperatingSystem>,
    /// Update of the operating system.
    ///
    /// Source: systemd-sysupdate of the host, where something reports it; else absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_status: Option<UpdateStatus>,
    /// Domains on the host, inactive ones included.
    ///
    /// Source: libvirt ConnectListAllDomains and its events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"]))]
    pub instances: Option<Vec<Instance>>,
    /// Totals of the host.
    ///
    /// Source: libvirt capabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
    /// What a domain on the host may use.
    ///
    /// Source: libvirt domain capabilities of the default machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_capabilities: Option<DomainCapabilities>,
    /// What domains use of `cpu` and `memory`.
    ///
    /// Source: libvirt domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<ResourceList>,
    /// What the host has of `cpu` and `memory`.
    ///
    /// Source: libvirt capabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<ResourceList>,
    /// What may be promised of `cpu` and `memory`: capacity times overcommit, rounded down.
    ///
    /// Source: libvirt capabilities and `spec.overcommit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_capacity: Option<ResourceList>,
    /// NUMA cells of the host, in the order of their numbers.
    ///
    /// Source: libvirt capabilities and domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["cellID"]))]
    pub cells: Option<Vec<Cell>>,
    /// How many domains the host has, inactive ones included. Absent, not 0, while libvirt has not said.
    ///
    /// Source: libvirt ConnectListAllDomains and its events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub num_instances: Option<i64>,
    /// UUID of the Nova hypervisor, which is also that of its Placement resource provider.
    ///
    /// Source: Nova os-hypervisors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypervisor_id: Option<String>,
    /// UUID of the Nova compute service.
    ///
    /// Source: Nova os-services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_id: Option<String>,
    /// The compute service as Nova sees it. Not part of the polling operators' kind.
    ///
    /// Source: Nova os-services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute_service: Option<ComputeService>,
    /// Traits that the host has in Placement.
    ///
    /// Source: Placement resource provider traits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub traits: Option<Vec<String>>,
    /// Nova aggregates that the host is in.
    ///
    /// Source: Nova os-aggregates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["uuid"]))]
    pub aggregates: Option<Vec<Aggregate>>,
    /// Internal address of the host.
    ///
    /// Source: Node address of type InternalIP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internal_ip: Option<String>,
    /// Whether maintenance is set and no instance is left.
    ///
    /// Source: `spec.maintenance` and the Eviction of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evicted: Option<bool>,
    /// What is true about the host, since when and why.
    ///
    /// Source: all sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// Hash of the spec. Kept for compatibility; nothing writes it.
    ///
    /// Source: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_hash: Option<String>,
    /// The sources that this status was computed from, and whether they answer.
    ///
    /// Source: this server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub sources: Vec<SourceStatus>,
    /// Where the sources contradict each other.
    ///
    /// Source: this server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type", "subject"]))]
    pub findings: Vec<Finding>,
}

/// A domain on the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Instance {
    /// UUID of the domain, which is also that of the server.
    ///
    /// Source: libvirt domain.
    pub id: String,
    /// Name of the domain.
    ///
    /// Source: libvirt domain.
    pub name: String,
    /// Whether the domain runs.
    ///
    /// Source: libvirt domain state.
    pub active: bool,
}

/// A Nova aggregate that the host is in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Aggregate {
    /// Name of the aggregate.
    ///
    /// Source: Nova os-aggregates.
    pub name: String,
    /// UUID of the aggregate.
    ///
    /// Source: Nova os-aggregates.
    pub uuid: String,
    /// Metadata of the aggregate.
    ///
    /// Source: Nova os-aggregates.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

/// The compute service of the host, as Nova sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComputeService {
    /// Host name of the service: the key by which Nova joins services, hypervisors and servers.
    ///
    /// Source: Nova os-services, `host`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// `up` or `down`: whether the service reports to Nova.
    ///
    /// Source: Nova os-services, `state`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// `enabled` or `disabled`: whether the scheduler may use it.
    ///
    /// Source: Nova os-services, `status`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Why it is disabled.
    ///
    /// Source: Nova os-services, `disabled_reason`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_reason: Option<String>,
    /// Whether somebody declared it down, so that its instances may be evacuated.
    ///
    /// Source: Nova os-services, `forced_down`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced_down: Option<bool>,
}
