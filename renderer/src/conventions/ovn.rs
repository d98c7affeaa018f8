//! Conventions of the OVN central.

use c5c3_api::topology::{IssuerKind, OvnCentral, OvnDatabase};

/// The OVN central, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedOvn {
    /// Path of its entry in the document.
    pub field: String,
    /// Name.
    pub name: String,
    /// Cluster that hosts it, when not the management cluster.
    pub cluster: Option<String>,
    /// Name of the issuer.
    pub issuer_name: String,
    /// Kind of the issuer.
    pub issuer_kind: &'static str,
    /// Northbound database.
    pub northbound: OvnStore,
    /// Southbound database.
    pub southbound: OvnStore,
    /// Relay.
    pub relay: Option<ResolvedRelay>,
    /// Whether node ports are opened: some chassis, or Neutron, is on another cluster.
    pub externally_reachable: bool,
}

/// One OVN database.
#[derive(Clone, Debug, PartialEq)]
pub struct OvnStore {
    /// Members.
    pub replicas: u32,
    /// Volume size.
    pub storage: String,
    /// First node port.
    pub node_port_base: u32,
}

/// A relay.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedRelay {
    /// Replicas.
    pub replicas: u32,
    /// Node port.
    pub node_port: u32,
}

pub(super) fn resolve(
    declared: Option<&OvnCentral>,
    field: &str,
    control_plane: &str,
    has_remote_chassis: bool,
) -> ResolvedOvn {
    let declared = declared.cloned().unwrap_or_default();
    let (issuer_name, issuer_kind) = declared.issuer.map_or_else(
        || (format!("{control_plane}-ovn-ca-issuer"), IssuerKind::ClusterIssuer),
        |issuer| (issuer.name, issuer.kind.unwrap_or(IssuerKind::ClusterIssuer)),
    );
    let externally_reachable = has_remote_chassis || declared.cluster.is_some();
    ResolvedOvn {
        field: field.to_owned(),
        name: declared.name.unwrap_or_else(|| format!("{control_plane}-ovn")),
        cluster: declared.cluster,
        issuer_name,
        issuer_kind: match issuer_kind {
            IssuerKind::Issuer => "Issuer",
            IssuerKind::ClusterIssuer => "ClusterIssuer",
        },
        northbound: store(declared.northbound.unwrap_or_default(), 30_641),
        southbound: store(declared.southbound.unwrap_or_default(), 30_651),
        relay: declared.relay.map(|relay| ResolvedRelay {
            replicas: relay.replicas.unwrap_or(2),
            node_port: relay.node_port.unwrap_or(30_661),
        }),
        externally_reachable,
    }
}

fn store(declared: OvnDatabase, node_port_base: u32) -> OvnStore {
    OvnStore {
        replicas: declared.replicas.unwrap_or(3),
        storage: declared.storage.unwrap_or_else(|| "1Gi".to_owned()),
        node_port_base: declared.node_port_base.unwrap_or(node_port_base),
    }
}
