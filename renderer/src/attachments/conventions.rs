//! Conventions of network clusters, and of what they share with compute clusters.

use c5c3_api::topology::{Access, BridgeMapping, Chassis, Encapsulation, NetworkCluster, NodeSelector};

use super::control_plane::default_chassis_selector;
use super::names;

/// An attached cluster: its name, how to get in, its chassis.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// Path of its entry in the document.
    pub field: String,
    /// Name of the cluster.
    pub cluster: String,
    /// Version range of the access chart.
    pub access_chart_version: String,
    /// Its chassis.
    pub chassis: ResolvedChassis,
}

/// The chassis of one cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedChassis {
    /// Name of the `OVNChassis`.
    pub name: String,
    /// Nodes.
    pub node_selector: NodeSelector,
    /// Gateways among them.
    pub gateway_node_selector: Option<NodeSelector>,
    /// Physical networks.
    pub bridge_mappings: Vec<BridgeMapping>,
    /// Tunnel type.
    pub encapsulation: Encapsulation,
    /// MTU below the tunnels.
    pub underlay_mtu: Option<u32>,
}

/// A network cluster, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// What it shares with compute clusters.
    pub attachment: Attachment,
}

pub(super) fn resolve(declared: &NetworkCluster, field: &str) -> Network {
    let gateways = Some(names::labelled(names::GATEWAY_LABEL));
    Network {
        attachment: attachment(
            &declared.name,
            field,
            declared.access.as_ref(),
            declared.chassis.as_ref(),
            gateways,
        ),
    }
}

/// Resolves the shared part.
pub(super) fn attachment(
    cluster: &str,
    field: &str,
    access: Option<&Access>,
    chassis: Option<&Chassis>,
    gateways: Option<NodeSelector>,
) -> Attachment {
    let chassis = chassis.cloned().unwrap_or_default();
    Attachment {
        field: field.to_owned(),
        cluster: cluster.to_owned(),
        access_chart_version: access
            .and_then(|access| access.chart_version.clone())
            .unwrap_or_else(|| ">=0.1.0 <1.0.0".to_owned()),
        chassis: ResolvedChassis {
            name: format!("{cluster}-chassis"),
            node_selector: chassis.node_selector.unwrap_or_else(default_chassis_selector),
            gateway_node_selector: chassis.gateway_node_selector.or(gateways),
            bridge_mappings: chassis.bridge_mappings,
            encapsulation: chassis.encapsulation.unwrap_or(Encapsulation::Geneve),
            underlay_mtu: chassis.underlay_mtu,
        },
    }
}
