//! The kind Migration: an instance on its way from one host to another.
//!
//! There is nothing to want: the spec is empty, and the object is there because libvirt or Nova says that something
//! moves. Its name is the UUID of the server.

mod status;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use status::{JobOperation, JobType, MigrationStatus};

use crate::kind::{Column, ColumnType, Kind, Scope};
use crate::validation::FieldError;

/// An instance on its way from one host to another.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema)]
pub struct Migration {
    /// Name, labels, and the rest of the standard metadata. The name is the UUID of the server.
    pub metadata: ObjectMeta,
    /// Nothing: a migration is observed, not wanted.
    pub spec: MigrationSpec,
    /// How far it has come, computed from libvirt on both hosts while you ask. Never stored, not writable.
    pub status: Option<MigrationStatus>,
}

crate::object::kubernetes_object!(Migration, MigrationSpec, MigrationStatus, NamespaceResourceScope, None);

const API_VERSION: &str = "hypervisor.c5c3.io/v1alpha1";

/// The definition of the kind.
pub const KIND: Kind = Kind {
    group: "hypervisor.c5c3.io",
    version: "v1alpha1",
    kind: "Migration",
    list_kind: "MigrationList",
    plural: "migrations",
    singular: "migration",
    short_names: &[],
    categories: &["c5c3"],
    scope: Scope::Namespaced,
    description: "An instance on its way from one host to another, as libvirt on both hosts and Nova report it. The \
                  name is the UUID of the server.",
    columns: &[
        Column::text("Origin", ".status.origin", "Host that the instance leaves."),
        Column::text("Destination", ".status.destination", "Host that the instance goes to."),
        Column::text("Type", ".status.type", "Whether it runs, and how it ended."),
        Column::text("Operation", ".status.operation", "What libvirt does."),
        Column::text("Started", ".status.started", "Time since it began.").of(ColumnType::Date),
        Column::text("Elapsed", ".status.timeElapsed", "How long it has taken."),
        Column::text("Data Total", ".status.dataTotal", "What has to be moved."),
        Column::text("Data Processed", ".status.dataProcessed", "What has been moved."),
        Column::text("Data Remaining", ".status.dataRemaining", "What is left."),
        Column::text("Memory TX", ".status.memBps", "How fast memory is moved."),
        Column::text(
            "Memory Dirty Rate",
            ".status.memDirtyRate",
            "How fast the instance changes its memory.",
        ),
        Column::text("Memory Iteration", ".status.memIteration", "How often memory has been gone through.")
            .of(ColumnType::Integer),
    ],
    selectable_fields: &[".status.origin", ".status.destination", ".status.type", ".status.operation"],
    conditions: &[],
    example: include_str!("example.yaml"),
    raw_schema: crate::schema::raw::<Migration>,
};

/// Nothing: a migration is observed, not wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MigrationSpec {}

/// What is wrong with this spec: nothing, ever.
#[must_use]
pub const fn validate(_spec: &MigrationSpec) -> Vec<FieldError> {
    Vec::new()
}
