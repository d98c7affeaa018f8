//! Conventions of network clusters.

use std::collections::BTreeMap;

use c5c3_api::topology::NetworkCluster;

use super::super::conventions::{Attachment, ResolvedHost, resolve_hosts};
use crate::conventions::names;

/// A network cluster, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// What it shares with compute clusters.
    pub attachment: Attachment,
    /// Nodes that are labelled.
    pub hosts: Vec<ResolvedHost>,
}

pub(crate) fn resolve(declared: &NetworkCluster, field: &str) -> Network {
    let gateways = Some(names::labelled(names::GATEWAY_LABEL));
    let attachment = Attachment::resolve(
        &declared.name,
        field,
        declared.local,
        declared.lifecycle,
        declared.access.as_ref(),
        declared.chassis.as_ref(),
        gateways,
    );
    let mut labels = attachment.chassis.node_selector.clone();
    // A cluster that is emptied loses its gateway labels first: that is what moves the gateways' work away.
    if !attachment.draining {
        labels.extend(attachment.chassis.gateway_node_selector.clone().unwrap_or_default());
    }
    let hosts = resolve_hosts(&declared.hosts, field, &labels, &BTreeMap::new());
    Network { attachment, hosts }
}
