//! The kinds of the C5C3 hypervisor cluster: types, schemas, printer columns, validation, topology documents.
//!
//! ```text
//!                  ┌► serde: what a client reads and writes
//!  Rust type ──────┼► schema, CRD, OpenAPI            ┌► discovery, tables, field selectors
//!  + its [`Kind`] ─┴► docs/reference/*.md   kinds() ──┴► the server reads it, nothing is spelled twice
//! ```
//!
//! Everything here is data and pure functions: no I/O, no async, no client. A client that has one reads a kind like any
//! other, because every kind is a `k8s_openapi::Resource`: `kube::Api::<Hypervisor>::all(client)`.
//!
//! ```
//! use c5c3_api::{Hypervisor, kinds};
//!
//! let node: Hypervisor = serde_json::from_value(serde_json::json!({
//!     "apiVersion": "hypervisor.c5c3.io/v1",
//!     "kind": "Hypervisor",
//!     "metadata": {"name": "node-1"},
//!     "spec": {"maintenance": "manual", "maintenanceReason": "new memory"},
//! }))?;
//! assert!(node.spec.lifecycle_enabled, "a default");
//! assert!(c5c3_api::hypervisor::validate(&node.spec).is_empty());
//! assert_eq!(kinds().len(), 4);
//! # Ok::<(), serde_json::Error>(())
//! ```

pub mod condition;
pub mod eviction;
pub mod finding;
pub mod format;
pub mod hypervisor;
pub mod kind;
pub mod labels;
pub mod migration;
pub mod ovs_node;
pub mod quantity;
pub mod reference;
pub mod schema;
pub mod source;
pub mod topology;
pub mod validation;

mod object;
mod unknown;

pub use condition::{Condition, ConditionStatus};
pub use eviction::{Eviction, EvictionSpec, EvictionStatus};
pub use finding::{Finding, FindingType, Severity};
pub use hypervisor::{Hypervisor, HypervisorSpec, HypervisorStatus, Maintenance};
pub use kind::{Column, ColumnType, Kind, Scope, kind, kinds};
pub use migration::{Migration, MigrationSpec, MigrationStatus};
pub use ovs_node::{OVSNode, OVSNodeSpec, OVSNodeStatus};
pub use source::{SourceState, SourceStatus};
pub use validation::FieldError;
