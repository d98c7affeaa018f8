//! Labels, annotations and taints that Nodes, Hypervisors and Evictions share with the polling operators.
//!
//! They are how existing clusters are labelled today; none is renamed.

/// Label of a Node that runs instances; its value does not matter.
pub const VIRT_DRIVER: &str = "nova.openstack.cloud.sap/virt-driver";
/// Label of a Node whose host is on- and offboarded automatically.
pub const LIFECYCLE: &str = "cobaltcore.cloud.sap/node-hypervisor-lifecycle";
/// Value of [`LIFECYCLE`] that skips the smoke test.
pub const LIFECYCLE_SKIP_TESTS: &str = "skip-tests";
/// Annotation of a Node: the Nova aggregates of its host, separated by commas.
pub const AGGREGATES: &str = "nova.openstack.cloud.sap/aggregates";
/// Annotation of a Node: the custom traits of its host, separated by commas.
pub const CUSTOM_TRAITS: &str = "nova.openstack.cloud.sap/custom-traits";
/// Name of the host, without its domain.
pub const HOSTNAME: &str = "kubernetes.io/hostname";
/// Availability zone.
pub const ZONE: &str = "topology.kubernetes.io/zone";
/// Region.
pub const REGION: &str = "topology.kubernetes.io/region";
/// Building block.
pub const BUILDING_BLOCK: &str = "kubernetes.metal.cloud.sap/bb";
/// Worker group.
pub const WORKER_GROUP: &str = "worker.garden.sapcloud.io/group";
/// Condition of a Node that is going away.
pub const NODE_CONDITION_TERMINATING: &str = "Terminating";
/// Taint (`NoExecute`) of a Node whose host is being taken out of service.
pub const OFFBOARDING_TAINT: &str = "kvm.cloud.sap/offboarding";

/// Labels that a Hypervisor takes from its Node, and an Eviction from its Hypervisor.
pub const TRANSFERRED: &[&str] = &[
    HOSTNAME,
    BUILDING_BLOCK,
    "kubernetes.metal.cloud.sap/cluster",
    "kubernetes.metal.cloud.sap/name",
    "kubernetes.metal.cloud.sap/type",
    WORKER_GROUP,
    "worker.gardener.cloud/pool",
    REGION,
    ZONE,
];
