//! The kind OVSNode: the virtual switch of a host, and its connection to OVN.
//!
//! The wide form of the architecture: bridges, physical interfaces, bonds, flow and packet counts, issues. Ours, beyond
//! it: the tunnels to other hosts, and a summary that `kubectl get` can print.

mod interfaces;
mod status;
mod summary;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use interfaces::{
    Bond, BondState, Bridge, BridgeState, DatapathType, InterfaceState, Interfaces, PhysicalInterface, Tunnel,
};
pub use status::{FlowStats, Issue, Metrics, OVSNodeStatus, OvnController, TableFlows};
pub use summary::Summary;

use crate::kind::{Column, ColumnType, Kind, Scope};
use crate::validation::{FieldError, FieldPath};

/// The virtual switch of a host, and its connection to OVN.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema)]
pub struct OVSNode {
    /// Name, labels, and the rest of the standard metadata. The name is the name of the Node.
    pub metadata: ObjectMeta,
    /// Which Node it is.
    pub spec: OVSNodeSpec,
    /// What the switch is, computed from Open vSwitch and OVN while you ask. Never stored, not writable.
    pub status: Option<OVSNodeStatus>,
}

crate::object::kubernetes_object!(OVSNode, OVSNodeSpec, OVSNodeStatus, NamespaceResourceScope, None);

const API_VERSION: &str = "ovs.c5c3.io/v1alpha1";

/// The definition of the kind.
pub const KIND: Kind = Kind {
    group: "ovs.c5c3.io",
    version: "v1alpha1",
    kind: "OVSNode",
    list_kind: "OVSNodeList",
    plural: "ovsnodes",
    singular: "ovsnode",
    short_names: &[],
    categories: &["c5c3"],
    scope: Scope::Namespaced,
    description: "The virtual switch of a host and its connection to OVN. The name is the name of the Node; the \
                  status is computed from the host's Open vSwitch and ovn-controller while you ask.",
    columns: &[
        Column::text(
            "Ready",
            r#".status.conditions[?(@.type=="Ready")].status"#,
            "Whether its network works.",
        ),
        Column::text(
            "State",
            r#".status.conditions[?(@.type=="Ready")].reason"#,
            "Why it works or does not.",
        ),
        Column::text("OVS", ".status.ovsVersion", "Version of Open vSwitch."),
        Column::text("DPDK", ".status.dpdkEnabled", "Whether packets are moved in user space.")
            .of(ColumnType::Boolean),
        Column::text("Bridges", ".status.summary.bridges", "Active bridges of all bridges."),
        Column::text("Bonds", ".status.summary.bonds", "Whole bonds of all bonds."),
        Column::text("Tunnels", ".status.summary.tunnels", "Tunnels that are up of all tunnels."),
        Column::text("OVN", ".status.ovnController.connected", "Whether ovn-controller is connected.")
            .of(ColumnType::Boolean),
        Column::text("Flows", ".status.flowStats.totalFlows", "OpenFlow flows of the integration bridge.")
            .of(ColumnType::Integer),
        Column::text("Issues", ".status.summary.issues", "How many issues there are.")
            .of(ColumnType::Integer),
        Column::text("OVSDB", ".status.ovsdVersion", "Version of the database server.").wide(1),
        Column::text("DPDK Version", ".status.dpdkVersion", "Version of DPDK.").wide(1),
        Column::text("Chassis", ".status.ovnController.chassisId", "Name of the OVN chassis.").wide(1),
        Column::text("Southbound", ".status.ovnController.sbConnection", "OVN database it is connected to.")
            .wide(1),
        Column::text("Drops", ".status.metrics.drops", "Packets dropped.").of(ColumnType::Integer).wide(1),
        Column::text("Errors", ".status.metrics.errors", "Packets that were broken.")
            .of(ColumnType::Integer)
            .wide(1),
        Column::text("Age", ".metadata.creationTimestamp", "Time since the host was first known.")
            .of(ColumnType::Date),
    ],
    selectable_fields: &[
        ".spec.nodeRef.name",
        ".status.dpdkEnabled",
        ".status.ovnController.chassisId",
        ".status.ovnController.connected",
        ".status.ovsVersion",
    ],
    conditions: crate::condition::ovs_node::CONDITIONS,
    example: include_str!("example.yaml"),
    raw_schema: crate::schema::raw::<OVSNode>,
};

/// Which Node the switch is on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OVSNodeSpec {
    /// The Node that the switch is on.
    ///
    /// Set by: this server.
    pub node_ref: NodeReference,
}

/// A Node, by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeReference {
    /// Name of the Node.
    ///
    /// Set by: this server.
    #[schemars(length(min = 1))]
    pub name: String,
}

/// What is wrong with this spec.
#[must_use]
pub fn validate(spec: &OVSNodeSpec) -> Vec<FieldError> {
    let mut errors = Vec::new();
    FieldPath::new("spec").child("nodeRef").child("name").not_empty(&spec.node_ref.name, &mut errors);
    errors
}
