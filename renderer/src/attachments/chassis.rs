//! The OVN chassis of an attached cluster.

use c5c3_api::topology::Encapsulation;
use serde_json::{Map, Value, json};

use super::connection;
use super::conventions::Attachment;
use crate::conventions::{ResolvedControlPlane, ResolvedManagement};
use crate::plan::{self, Health, Layer, metadata};

/// The chassis, once the cluster is registered and OVN answers. It counts as ready when it reaches its central: whether nodes carry the
/// label yet is the business of whoever adds nodes.
pub(super) fn layer(
    control_plane: &ResolvedControlPlane,
    attachment: &Attachment,
    management: &ResolvedManagement,
) -> Layer {
    let way = attachment.way(&control_plane.namespace);
    connection::layer(&way, management, "chassis")
        .after(way.after("registration"))
        .after([plan::step_of(&control_plane.name, "ovn")])
        .with(
            "ovn-chassis.yaml",
            "ovn-chassis",
            Health::Condition("CentralReady"),
            object(control_plane, attachment),
        )
}
fn object(control_plane: &ResolvedControlPlane, attachment: &Attachment) -> Value {
    let chassis = &attachment.chassis;
    let mut spec = Map::new();
    spec.insert("centralRef".to_owned(), json!({ "name": control_plane.ovn.name }));
    if let Some(target) = attachment.way(&control_plane.namespace).target() {
        spec.insert("targetClusterRef".to_owned(), target);
    }
    spec.insert("nodeSelector".to_owned(), json!(chassis.node_selector));
    if let Some(selector) = &chassis.gateway_node_selector {
        spec.insert("gateway".to_owned(), json!({ "nodeSelector": selector }));
    }
    if !chassis.bridge_mappings.is_empty() {
        spec.insert("bridgeMappings".to_owned(), json!(chassis.bridge_mappings));
    }
    let encapsulation = match chassis.encapsulation {
        Encapsulation::Geneve => "geneve",
        Encapsulation::Vxlan => "vxlan",
    };
    spec.insert("encapType".to_owned(), json!(encapsulation));
    spec.insert("updateStrategy".to_owned(), json!({ "type": "OnDelete" }));
    json!({
        "apiVersion": "ovn.openstack.c5c3.io/v1alpha1",
        "kind": "OVNChassis",
        "metadata": plan::drained(metadata(&chassis.name, Some(&control_plane.namespace)), attachment.draining),
        "spec": spec,
    })
}
