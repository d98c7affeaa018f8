//! The kind Hypervisor: a host that runs instances, as libvirt, Nova, Placement and its Node say it is now.
//!
//! Its name is the name of the Node. The spec is what people want; the status is computed while you ask.

mod operating_system;
mod resources;
mod spec;
mod status;
mod validation;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::JsonSchema;

pub use operating_system::{OperatingSystem, UpdateStatus};
pub use resources::{Capabilities, Cell, DomainCapabilities, ResourceList, resource};
pub use spec::{AggregateGroup, Group, HypervisorSpec, Maintenance, TraitGroup};
pub use status::{Aggregate, ComputeService, HypervisorStatus, Instance};
pub use validation::{validate, validate_update};

use crate::kind::{Column, ColumnType, Kind, Scope};

/// A host that runs instances.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema)]
pub struct Hypervisor {
    /// Name, labels, and the rest of the standard metadata. The name is the name of the Node.
    pub metadata: ObjectMeta,
    /// What people want of the host.
    #[schemars(default)]
    pub spec: HypervisorSpec,
    /// What the host is, computed from its sources while you ask. Never stored, not writable.
    pub status: Option<HypervisorStatus>,
}

crate::object::kubernetes_object!(
    Hypervisor,
    HypervisorSpec,
    HypervisorStatus,
    ClusterResourceScope,
    Some(HypervisorSpec::default())
);

const API_VERSION: &str = "hypervisor.c5c3.io/v1";

/// The definition of the kind.
pub const KIND: Kind = Kind {
    group: "hypervisor.c5c3.io",
    version: "v1",
    kind: "Hypervisor",
    list_kind: "HypervisorList",
    plural: "hypervisors",
    singular: "hypervisor",
    short_names: &["hv"],
    categories: &["c5c3"],
    scope: Scope::Cluster,
    description: "A host that runs instances. The name is the name of its Node; the status is computed from libvirt, \
                  Open vSwitch, Nova, Placement and the Node while you ask.",
    columns: &[
        Column::text(
            "Zone",
            r".metadata.labels.topology\.kubernetes\.io/zone",
            "Availability zone of the Node.",
        )
        .wide(2),
        Column::text(
            "Building Block",
            r".metadata.labels.kubernetes\.metal\.cloud\.sap/bb",
            "Building block of the Node.",
        )
        .wide(2),
        Column::text(
            "Group",
            r".metadata.labels.worker\.garden\.sapcloud\.io/group",
            "Worker group of the Node.",
        )
        .wide(2),
        Column::text(
            "Ready",
            r#".status.conditions[?(@.type=="Ready")].status"#,
            "Whether it can take instances.",
        ),
        Column::text("State", r#".status.conditions[?(@.type=="Ready")].reason"#, "Why it is ready or not."),
        Column::text(
            "Taint",
            r#".status.conditions[?(@.type=="Tainted")].message"#,
            "Whether somebody changed it by hand.",
        ),
        Column::text(
            "Lifecycle",
            ".spec.lifecycleEnabled",
            "Whether it is on- and offboarded automatically.",
        )
        .of(ColumnType::Boolean),
        Column::text("High Availability", ".spec.highAvailability", "Whether high availability is wanted.")
            .of(ColumnType::Boolean),
        Column::text("Skip Tests", ".spec.skipTests", "Whether onboarding skips the smoke test.")
            .of(ColumnType::Boolean),
        Column::text("Version", ".status.operatingSystem.prettyVersion", "Operating system."),
        Column::text("IP", ".status.internalIp", "Internal address of the Node."),
        Column::text(
            "Instances",
            ".status.numInstances",
            "Domains that libvirt has, inactive ones included.",
        )
        .of(ColumnType::Integer),
        Column::text("Hardware", ".status.operatingSystem.hardwareModel", "Model of the machine.").wide(2),
        Column::text("Kernel", ".status.operatingSystem.kernelRelease", "Release of the kernel.").wide(2),
        Column::text(
            "Onboarding",
            r#".status.conditions[?(@.type=="Onboarding")].reason"#,
            "How far onboarding has come.",
        )
        .wide(3),
        Column::text("Service ID", ".status.serviceId", "UUID of the Nova compute service.").wide(3),
        Column::text("Hypervisor ID", ".status.hypervisorId", "UUID of the Nova hypervisor.").wide(3),
        Column::text("Age", ".metadata.creationTimestamp", "Time since the host was first known.")
            .of(ColumnType::Date),
    ],
    selectable_fields: &[
        ".spec.lifecycleEnabled",
        ".spec.highAvailability",
        ".spec.maintenance",
        ".status.evicted",
        ".status.hypervisorId",
        ".status.internalIp",
        ".status.libVirtVersion",
        ".status.serviceId",
    ],
    conditions: crate::condition::hypervisor::CONDITIONS,
    example: include_str!("example.yaml"),
    raw_schema: crate::schema::raw::<Hypervisor>,
};
