//! Conventions that attachments share: access, chassis, hosts.

use std::collections::BTreeMap;

use c5c3_api::topology::{Access, BridgeMapping, Chassis, Encapsulation, Host, Lifecycle, NodeSelector};

use super::connection::Way;
use crate::conventions::names;

/// A cluster with chassis: its name, how to get in, its chassis.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// Path of its entry in the document.
    pub field: String,
    /// Name of the cluster.
    pub cluster: String,
    /// Whether it is the management cluster itself.
    pub local: bool,
    /// Whether it is being emptied.
    pub draining: bool,
    /// How to get in.
    pub access: ResolvedAccess,
    /// Its chassis.
    pub chassis: ResolvedChassis,
}

/// How to get into a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedAccess {
    /// Version range of the access chart.
    pub chart_version: String,
    /// Address of the API server, when the registration is made from the account's token.
    pub server: Option<String>,
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

/// A node whose labels and annotations are set.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedHost {
    /// Path of its entry in the document.
    pub field: String,
    /// Name of the node.
    pub name: String,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
}

impl Attachment {
    pub(super) fn resolve(
        cluster: &str,
        field: &str,
        local: Option<bool>,
        lifecycle: Option<Lifecycle>,
        access: Option<&Access>,
        chassis: Option<&Chassis>,
        gateways: Option<NodeSelector>,
    ) -> Self {
        let chassis = chassis.cloned().unwrap_or_default();
        Self {
            field: field.to_owned(),
            cluster: cluster.to_owned(),
            local: local.unwrap_or(false),
            draining: is_draining(lifecycle),
            access: resolve_access(access),
            chassis: ResolvedChassis {
                name: format!("{cluster}-chassis"),
                node_selector: chassis.node_selector.unwrap_or_else(|| names::labelled(names::CHASSIS_LABEL)),
                gateway_node_selector: chassis.gateway_node_selector.or(gateways),
                bridge_mappings: chassis.bridge_mappings,
                encapsulation: chassis.encapsulation.unwrap_or(Encapsulation::Geneve),
                underlay_mtu: chassis.underlay_mtu,
            },
        }
    }

    /// The way into it, for operators that work in `namespace`.
    pub(crate) fn way(&self, namespace: &str) -> Way<'_> {
        Way {
            field: &self.field,
            cluster: &self.cluster,
            access: &self.access,
            local: self.local,
            draining: self.draining,
            namespaces: vec![namespace.to_owned()],
            privileged: vec![namespace.to_owned()],
            hosts_services: false,
        }
    }
}

pub(super) fn is_draining(lifecycle: Option<Lifecycle>) -> bool {
    lifecycle == Some(Lifecycle::Draining)
}

pub(super) fn resolve_access(declared: Option<&Access>) -> ResolvedAccess {
    let declared = declared.cloned().unwrap_or_default();
    ResolvedAccess {
        chart_version: declared.chart_version.unwrap_or_else(|| ">=0.1.0 <1.0.0".to_owned()),
        server: declared.server,
    }
}

/// Hosts with the labels and annotations of what they are part of; their own are added and win.
pub(super) fn resolve_hosts(
    declared: &[Host],
    field: &str,
    labels: &BTreeMap<String, String>,
    annotations: &BTreeMap<String, String>,
) -> Vec<ResolvedHost> {
    let with = |base: &BTreeMap<String, String>, own: &BTreeMap<String, String>| {
        let mut all = base.clone();
        all.extend(own.clone());
        all
    };
    declared
        .iter()
        .enumerate()
        .map(|(index, host)| ResolvedHost {
            field: format!("{field}.hosts[{index}]"),
            name: host.name.clone(),
            labels: with(labels, &host.labels),
            annotations: with(annotations, &host.annotations),
        })
        .collect()
}
