//! What Placement tells: resource providers with their traits, inventories and usages.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use uuid::Uuid;

use crate::lenient;

/// A resource provider. That of a host has the UUID of its hypervisor.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ResourceProvider {
    /// UUID.
    pub uuid: Uuid,
    /// Name; of a host, the hypervisor host name.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub name: Option<String>,
    /// Moves with every change; a write must name the one it read.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub generation: Option<i64>,
    /// The top of its tree.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub root_provider_uuid: Option<Uuid>,
    /// Its parent in the tree.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub parent_provider_uuid: Option<Uuid>,
}

/// The traits of a resource provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ProviderTraits {
    /// The provider's generation when they were read.
    #[serde(rename = "resource_provider_generation")]
    pub generation: i64,
    /// All of them, Nova's and operators'.
    pub traits: BTreeSet<String>,
}

/// What a resource provider has.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ProviderInventories {
    /// The provider's generation when they were read.
    #[serde(rename = "resource_provider_generation")]
    pub generation: i64,
    /// By resource class (`VCPU`, `MEMORY_MB`, `DISK_GB` …).
    pub inventories: BTreeMap<String, Inventory>,
}

/// How much there is of a resource class.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Inventory {
    /// All there is.
    pub total: i64,
    /// Kept from allocation.
    #[serde(default)]
    pub reserved: i64,
    /// How often it is given away.
    #[serde(default = "once")]
    pub allocation_ratio: f64,
    /// Smallest allocation.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub min_unit: Option<i64>,
    /// Largest allocation.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub max_unit: Option<i64>,
    /// Granularity of allocations.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub step_size: Option<i64>,
}

/// How much of a resource provider is allocated.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ProviderUsages {
    /// The provider's generation when they were read.
    #[serde(rename = "resource_provider_generation")]
    pub generation: i64,
    /// By resource class.
    pub usages: BTreeMap<String, i64>,
}

impl Inventory {
    /// How much can be allocated in all: `(total - reserved) * ratio`, rounded down.
    pub fn capacity(&self) -> f64 {
        (self.total.saturating_sub(self.reserved) as f64 * self.allocation_ratio).floor()
    }
}

fn once() -> f64 {
    1.0
}
