//! Labels and names that upstream's guides use and this renderer keeps.

use c5c3_api::topology::NodeSelector;

/// Label of nodes that are OVN chassis.
pub(crate) const CHASSIS_LABEL: &str = "openstack.c5c3.io/chassis";
/// Label of chassis that are gateways.
pub(crate) const GATEWAY_LABEL: &str = "openstack.c5c3.io/gateway";
/// Label that puts a node into a pool.
pub(crate) const POOL_LABEL: &str = "openstack.c5c3.io/nova-compute-pool";

/// A selector of one label with the value `true`.
pub(crate) fn labelled(label: &str) -> NodeSelector {
    NodeSelector::from([(label.to_owned(), "true".to_owned())])
}
