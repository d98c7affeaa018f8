//! What the switch is, as its sources say it now.
//!
//! A value that no source has told is absent: a missing number is not 0, a missing list is not empty.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::interfaces::{Bridge, Interfaces};
use super::summary::Summary;
use crate::{Condition, Finding, Severity, SourceStatus};

/// What the switch is, as its sources say it now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OVSNodeStatus {
    /// The `metadata.generation` that the conditions were computed from.
    ///
    /// Source: this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// Version of Open vSwitch.
    ///
    /// Source: OVSDB Open_vSwitch, `ovs_version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ovs_version: Option<String>,
    /// Version of the database server.
    ///
    /// Source: unixctl `version` of ovsdb-server; else OVSDB Open_vSwitch, `db_version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ovsd_version: Option<String>,
    /// Whether packets are moved in user space.
    ///
    /// Source: OVSDB Open_vSwitch, `dpdk_initialized`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpdk_enabled: Option<bool>,
    /// Version of DPDK.
    ///
    /// Source: OVSDB Open_vSwitch, `dpdk_version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpdk_version: Option<String>,
    /// Bridges.
    ///
    /// Source: OVSDB Bridge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub bridges: Option<Vec<Bridge>>,
    /// Interfaces that lead off the host.
    ///
    /// Source: OVSDB Port and Interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interfaces: Option<Interfaces>,
    /// ovn-controller and its connection to OVN.
    ///
    /// Source: unixctl of ovn-controller, OVSDB Open_vSwitch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ovn_controller: Option<OvnController>,
    /// Flows of the integration bridge.
    ///
    /// Source: OpenFlow table statistics of `br-int`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_stats: Option<FlowStats>,
    /// Packets and bytes over all interfaces, since the switch started.
    ///
    /// Source: OVSDB Interface, `statistics`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Metrics>,
    /// What is wrong with the switch.
    ///
    /// Source: OVSDB, OpenFlow and OVN compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub issues: Option<Vec<Issue>>,
    /// Counts for `kubectl get`. Not part of the architecture's kind.
    ///
    /// Source: this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// What is true about the switch, since when and why.
    ///
    /// Source: all sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// The sources that this status was computed from, and whether they answer.
    ///
    /// Source: this server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub sources: Vec<SourceStatus>,
    /// Where the sources contradict each other.
    ///
    /// Source: this server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type", "subject"]))]
    pub findings: Vec<Finding>,
}

/// ovn-controller and its connection to OVN.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OvnController {
    /// Whether it is connected to the southbound database.
    ///
    /// Source: unixctl `connection-status` of ovn-controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connected: Option<bool>,
    /// The southbound database, such as `ssl:192.0.2.1:6642`.
    ///
    /// Source: OVSDB Open_vSwitch, `external_ids:ovn-remote`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sb_connection: Option<String>,
    /// Name of the chassis in OVN.
    ///
    /// Source: OVSDB Open_vSwitch, `external_ids:system-id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chassis_id: Option<String>,
    /// How packets to other hosts are wrapped. Not part of the architecture's kind.
    ///
    /// Source: OVSDB Open_vSwitch, `external_ids:ovn-encap-type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encap_type: Option<String>,
    /// Address that other hosts send such packets to. Not part of the architecture's kind.
    ///
    /// Source: OVSDB Open_vSwitch, `external_ids:ovn-encap-ip`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encap_ip: Option<String>,
    /// Which bridge leads to which physical network, such as `physnet1:br-ex`. Not part of the architecture's kind.
    ///
    /// Source: OVSDB Open_vSwitch, `external_ids:ovn-bridge-mappings`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bridge_mappings: Option<String>,
}

/// Flows of the integration bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowStats {
    /// How many there are.
    ///
    /// Source: OpenFlow table statistics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub total_flows: Option<i64>,
    /// How many there are in each table that has any.
    ///
    /// Source: OpenFlow table statistics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["table"]))]
    pub flows_per_table: Option<Vec<TableFlows>>,
}

/// Flows of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TableFlows {
    /// Number of the table.
    ///
    /// Source: OpenFlow table statistics.
    #[schemars(range(min = 0))]
    pub table: i64,
    /// How many flows it has.
    ///
    /// Source: OpenFlow table statistics.
    #[schemars(range(min = 0))]
    pub flows: i64,
}

/// Packets and bytes over all interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metrics {
    /// Packets received.
    ///
    /// Source: OVSDB Interface, `statistics:rx_packets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets_received: Option<i64>,
    /// Packets sent.
    ///
    /// Source: OVSDB Interface, `statistics:tx_packets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets_sent: Option<i64>,
    /// Bytes received.
    ///
    /// Source: OVSDB Interface, `statistics:rx_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_received: Option<i64>,
    /// Bytes sent.
    ///
    /// Source: OVSDB Interface, `statistics:tx_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_sent: Option<i64>,
    /// Packets dropped.
    ///
    /// Source: OVSDB Interface, `statistics:rx_dropped` and `tx_dropped`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drops: Option<i64>,
    /// Packets that were broken.
    ///
    /// Source: OVSDB Interface, `statistics:rx_errors` and `tx_errors`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<i64>,
}

/// Something that is wrong with the switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Issue {
    /// How bad it is.
    ///
    /// Source: this server.
    pub severity: Severity,
    /// What it is, as a sentence for people.
    ///
    /// Source: this server.
    pub message: String,
    /// When it was first seen.
    ///
    /// Source: this server.
    pub detected_at: Time,
}
