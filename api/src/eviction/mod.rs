//! The kind Eviction: the wish that a host be emptied, and how far that has come.
//!
//! Deleting an Eviction stops further migrations and nothing else.

mod validation;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use validation::{validate, validate_update};

use crate::kind::{Column, ColumnType, Kind, Scope};
use crate::{Condition, Finding, SourceStatus};
use validation::rule;

/// The wish that a host be emptied, and how far that has come.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema)]
pub struct Eviction {
    /// Name, labels, and the rest of the standard metadata. Controllers name it after the host.
    pub metadata: ObjectMeta,
    /// Which host, and why.
    pub spec: EvictionSpec,
    /// How far it has come, computed from Nova while you ask. Never stored, not writable.
    pub status: Option<EvictionStatus>,
}

crate::object::kubernetes_object!(Eviction, EvictionSpec, EvictionStatus, ClusterResourceScope, None);

const API_VERSION: &str = "hypervisor.c5c3.io/v1";

/// The definition of the kind.
pub const KIND: Kind = Kind {
    group: "hypervisor.c5c3.io",
    version: "v1",
    kind: "Eviction",
    list_kind: "EvictionList",
    plural: "evictions",
    singular: "eviction",
    short_names: &["evi"],
    categories: &["c5c3"],
    scope: Scope::Cluster,
    description: "The wish that a host be emptied: its instances are moved to other hosts, one after the other. \
                  Deleting it stops further migrations and nothing else.",
    columns: &[
        Column::text("Hypervisor", ".spec.hypervisor", "The host that is emptied."),
        Column::text("Reason", ".spec.reason", "Why it is emptied."),
        Column::text("State", r#".status.conditions[?(@.type=="Evicting")].reason"#, "How far it has come."),
        Column::text("Created", ".metadata.creationTimestamp", "Time since it was asked for.")
            .of(ColumnType::Date),
    ],
    selectable_fields: &[".spec.hypervisor"],
    conditions: crate::condition::eviction::CONDITIONS,
    example: include_str!("example.yaml"),
    raw_schema: crate::schema::raw::<Eviction>,
};

/// Which host is emptied, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvictionSpec {
    /// Name of the Hypervisor. Cannot be changed.
    ///
    /// Set by: people, the maintenance controller, or the node agent on shutdown.
    #[schemars(length(min = 1), extend("x-kubernetes-validations" = [
        {"rule": rule::IMMUTABLE.cel, "message": rule::IMMUTABLE.message},
    ]))]
    pub hypervisor: String,
    /// Why, in free text.
    ///
    /// Set by: people, the maintenance controller, or the node agent on shutdown.
    #[schemars(length(min = 1))]
    pub reason: String,
}

/// How far an eviction has come, as Nova says it now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvictionStatus {
    /// The `metadata.generation` that the conditions were computed from.
    ///
    /// Source: this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// UUID of the Nova hypervisor: despite the name, not that of the service.
    ///
    /// Source: Nova os-hypervisors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypervisor_service_id: Option<String>,
    /// Memory of the instances that are left, in MiB. Absent, not 0, while Nova has not said.
    ///
    /// Source: libvirt domains of the host; Nova os-hypervisors, `memory_mb_used`, when the eviction begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub outstanding_ram_mb: Option<i64>,
    /// UUIDs of the servers that are left. The last one is handled next.
    ///
    /// Source: libvirt domains of the host; Nova servers of the host while the eviction runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub outstanding_instances: Option<Vec<String>>,
    /// What is true about the eviction, since when and why.
    ///
    /// Source: all sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
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
