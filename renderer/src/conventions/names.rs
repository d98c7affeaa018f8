//! Labels and names that upstream's guides use and this renderer keeps.

use c5c3_api::topology::NodeSelector;

/// Label of nodes that are OVN chassis.
pub(crate) const CHASSIS_LABEL: &str = "openstack.c5c3.io/chassis";
/// Label of chassis that are gateways.
pub(crate) const GATEWAY_LABEL: &str = "openstack.c5c3.io/gateway";
/// Label that puts a node into a pool.
pub(crate) const POOL_LABEL: &str = "openstack.c5c3.io/nova-compute-pool";

/// Label that makes a node a hypervisor, and says of which kind.
pub(crate) const DRIVER_LABEL: &str = "nova.openstack.cloud.sap/virt-driver";
/// Label by which the hypervisor operator takes a node over.
pub(crate) const LIFECYCLE_LABEL: &str = "cobaltcore.cloud.sap/node-hypervisor-lifecycle";
/// Label of a node's availability zone.
pub(crate) const ZONE_LABEL: &str = "topology.kubernetes.io/zone";
/// Annotation with the traits of a hypervisor.
pub(crate) const TRAITS_ANNOTATION: &str = "nova.openstack.cloud.sap/custom-traits";
/// Annotation with the aggregates of a hypervisor.
pub(crate) const AGGREGATES_ANNOTATION: &str = "nova.openstack.cloud.sap/aggregates";

/// A selector of one label with the value `true`.
pub(crate) fn labelled(label: &str) -> NodeSelector {
    NodeSelector::from([(label.to_owned(), "true".to_owned())])
}
