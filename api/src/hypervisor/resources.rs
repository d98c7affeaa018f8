//! What the host has, what is promised, and what a domain on it may use.
//!
//! Amounts are Kubernetes quantities: memory in binary units, cpu in whole cores (see [`crate::quantity`]).

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unknown;

/// Amounts by resource: `cpu` and `memory`.
pub type ResourceList = BTreeMap<String, Quantity>;

/// The resources that a [`ResourceList`] has.
pub mod resource {
    /// Whole cores.
    pub const CPU: &str = "cpu";
    /// Bytes.
    pub const MEMORY: &str = "memory";
}

/// Totals of the host over its NUMA cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// Architecture of the host's processors (not of its guests).
    ///
    /// Source: libvirt capabilities, `host/cpu/arch`.
    #[serde(default, with = "unknown")]
    #[schemars(with = "String")]
    pub cpu_arch: Option<String>,
    /// Memory over all NUMA cells.
    ///
    /// Source: libvirt capabilities, `host/topology/cells`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Quantity>,
    /// Processors over all NUMA cells.
    ///
    /// Source: libvirt capabilities, `host/topology/cells`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Quantity>,
}

/// What a domain on the host may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DomainCapabilities {
    /// Architecture of domains.
    ///
    /// Source: libvirt domain capabilities, `arch`.
    #[serde(default, with = "unknown")]
    #[schemars(with = "String")]
    pub arch: Option<String>,
    /// Type of virtualization: `kvm`, `qemu` or `ch`.
    ///
    /// Source: libvirt domain capabilities, `domain`.
    #[serde(default, with = "unknown")]
    #[schemars(with = "String")]
    pub hypervisor_type: Option<String>,
    /// Devices that are supported: `<element>`, and `<element>/<value>` for each value, such as `video` and
    /// `video/virtio`.
    ///
    /// Source: libvirt domain capabilities, `devices`.
    #[serde(default)]
    pub supported_devices: Vec<String>,
    /// Processor modes that are supported: `mode/<mode>` and `mode/<mode>/<value>`, such as `mode/host-passthrough`.
    ///
    /// Source: libvirt domain capabilities, `cpu`.
    #[serde(default)]
    pub supported_cpu_modes: Vec<String>,
    /// Features that are supported, such as `sev`.
    ///
    /// Source: libvirt domain capabilities, `features`.
    #[serde(default)]
    pub supported_features: Vec<String>,
}

/// A NUMA cell of the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cell {
    /// Number of the cell.
    ///
    /// Source: libvirt capabilities, `host/topology/cells/cell/@id`.
    #[serde(rename = "cellID")]
    pub cell_id: u64,
    /// What domains use of the cell. Memory and processors of a domain on several cells are split evenly.
    ///
    /// Source: libvirt domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<ResourceList>,
    /// What the cell has.
    ///
    /// Source: libvirt capabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<ResourceList>,
    /// What may be promised of the cell: capacity times overcommit, rounded down.
    ///
    /// Source: libvirt capabilities and `spec.overcommit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_capacity: Option<ResourceList>,
}
