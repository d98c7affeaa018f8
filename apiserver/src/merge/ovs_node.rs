//! An OVSNode from what the host's Open vSwitch and ovn-controller say.

use std::collections::BTreeMap;

use c5c3_api::ovs_node::{
    Bond, BondState, Bridge, BridgeState, DatapathType, FlowStats, InterfaceState, Interfaces, Metrics,
    NodeReference, OVSNodeSpec, OVSNodeStatus, OvnController, PhysicalInterface, Summary, TableFlows, Tunnel,
};
use c5c3_api::{OVSNode, format, labels};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::identity::{time, uid};
use super::source_status::source;
use super::{HostView, ovs_node_conditions, ovs_node_issues};
use ovs_client::switch::{Interface, LinkState, Port};

use crate::sources::picture::{DaemonPicture, FlowPicture, SwitchPicture};

/// Bridge whose flows ovn-controller writes.
const INTEGRATION_BRIDGE: &str = "br-int";

/// Interface types that lead to another host.
const TUNNELS: &[&str] = &["geneve", "vxlan", "stt", "gre"];

/// The OVSNode of a host. `earlier` is the status shown before: transition times are carried over from it.
pub fn ovs_node(host: &HostView<'_>, namespace: &str, earlier: Option<&OVSNodeStatus>) -> OVSNode {
    let mut status = OVSNodeStatus { observed_generation: Some(1), ..OVSNodeStatus::default() };
    if let Some(switch) = host.switch.value() {
        from_switch(switch, host.daemons.value(), host.flows.value(), &mut status);
    }
    if let Some(daemons) = host.daemons.value() {
        status.ovs_version = status.ovs_version.or_else(|| daemons.vswitchd_version.clone());
        status.ovsd_version.clone_from(&daemons.ovsdb_version);
        if let Some(controller) = &mut status.ovn_controller {
            controller.connected = daemons.ovn_connected;
        }
    }
    status.flow_stats = host.flows.value().and_then(flow_stats);
    status.issues = host.switch.value().map(|switch| ovs_node_issues::issues(host, switch, &status, earlier));
    status.summary = Some(Summary::of(&status));
    status.conditions = ovs_node_conditions::conditions(host, &status, earlier);
    status.sources = vec![
        source(c5c3_api::source::name::OPENFLOW, host.flows),
        source(c5c3_api::source::name::OVS_VSWITCHD, host.daemons),
        source(c5c3_api::source::name::OVSDB, host.switch),
    ];
    OVSNode {
        metadata: metadata(host, namespace),
        spec: OVSNodeSpec { node_ref: NodeReference { name: host.name.to_owned() } },
        status: Some(status),
    }
}

fn metadata(host: &HostView<'_>, namespace: &str) -> ObjectMeta {
    let told = host.node.value().map_or(host.configured_labels, |node| &node.labels);
    let kept = [labels::HOSTNAME, labels::ZONE].into_iter().filter_map(|key| told.get_key_value(key));
    let kept: BTreeMap<String, String> = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
    ObjectMeta {
        name: Some(host.name.to_owned()),
        namespace: Some(namespace.to_owned()),
        uid: Some(uid("ovs.c5c3.io", "OVSNode", namespace, host.name, &host.incarnation.of)),
        creation_timestamp: Some(time(host.incarnation.created)),
        generation: Some(1),
        labels: Some(kept).filter(|kept| !kept.is_empty()),
        ..ObjectMeta::default()
    }
}

fn from_switch(
    switch: &SwitchPicture,
    daemons: Option<&DaemonPicture>,
    flows: Option<&FlowPicture>,
    status: &mut OVSNodeStatus,
) {
    if let Some(root) = &switch.root {
        status.ovs_version.clone_from(&root.ovs_version);
        status.dpdk_enabled = root.dpdk_initialized;
        // A build without DPDK says "none", which is no version.
        status.dpdk_version = root.dpdk_version.clone().filter(|version| version != "none");
    }
    let bridge = |found: &ovs_client::switch::Bridge| Bridge {
        name: found.name.clone(),
        ports: i64::try_from(found.ports.len()).ok(),
        flows: flows
            .and_then(|flows| flows.bridges.get(&found.name))
            .and_then(|tables| total(tables.values())),
        datapath_type: match found.datapath_type.as_deref() {
            Some("netdev") => Some(DatapathType::Netdev),
            // An empty column means the kernel's datapath.
            Some("system" | "") => Some(DatapathType::System),
            _ => None,
        },
        status: Some(if found.datapath_id.is_some() { BridgeState::Active } else { BridgeState::Inactive }),
    };
    status.bridges = Some(switch.bridges.iter().map(bridge).collect());
    status.interfaces = Some(interfaces(switch, daemons));
    status.metrics = Some(metrics(switch));
    let external = |key: &str| switch.external_id(key).map(str::to_owned);
    status.ovn_controller = Some(OvnController {
        connected: None,
        sb_connection: external("ovn-remote"),
        chassis_id: external("system-id"),
        encap_type: external("ovn-encap-type"),
        encap_ip: external("ovn-encap-ip"),
        bridge_mappings: external("ovn-bridge-mappings"),
    });
}

fn interfaces(switch: &SwitchPicture, daemons: Option<&DaemonPicture>) -> Interfaces {
    let mut physical = Vec::new();
    let mut bonds = Vec::new();
    let mut tunnels = Vec::new();
    for port in switch.ports() {
        let bond = port.bond.as_ref().map(|settings| bond(port, settings.mode.clone(), daemons));
        for interface in &port.interfaces {
            // A member of a bond leads off the host whatever drives it.
            if interface.is_physical() || (bond.is_some() && interface.iface_id().is_none()) {
                physical.push(PhysicalInterface {
                    name: interface.name.clone(),
                    status: interface.link_state.map(link),
                    speed: interface.link_speed.map(format::link_speed),
                    bond: bond.as_ref().map(|bond| bond.name.clone()),
                });
            } else if TUNNELS.contains(&interface.kind.as_str()) {
                tunnels.push(tunnel(interface, port));
            }
        }
        bonds.extend(bond);
    }
    physical.sort_by(|left: &PhysicalInterface, right| left.name.cmp(&right.name));
    bonds.sort_by(|left: &Bond, right| left.name.cmp(&right.name));
    tunnels.sort_by(|left: &Tunnel, right| left.name.cmp(&right.name));
    Interfaces { physical: Some(physical), bonds: Some(bonds), tunnels: Some(tunnels) }
}

fn bond(port: &Port, mode: Option<String>, daemons: Option<&DaemonPicture>) -> Bond {
    let members = i64::try_from(port.interfaces.len()).ok();
    let told = daemons.and_then(|daemons| daemons.bonds.get(&port.name)).map(|bond| bond.enabled.len());
    // Without `bond/show`, a member with a link counts, and an unknown link makes the number unknown.
    let seen = || {
        port.interfaces
            .iter()
            .map(|interface| interface.link_state.map(|state| usize::from(state == LinkState::Up)))
            .sum::<Option<usize>>()
    };
    let active_members = told.or_else(seen).and_then(|count| i64::try_from(count).ok());
    Bond {
        name: port.name.clone(),
        mode,
        status: members.zip(active_members).map(|(members, active)| BondState::of(members, active)),
        members,
        active_members,
    }
}

fn tunnel(interface: &Interface, port: &Port) -> Tunnel {
    Tunnel {
        name: interface.name.clone(),
        type_: Some(interface.kind.clone()),
        remote_ip: interface.options.get("remote_ip").cloned(),
        local_ip: interface.options.get("local_ip").cloned(),
        remote_chassis: port.external_ids.get("ovn-chassis-id").cloned(),
        egress_interface: interface.status.get("tunnel_egress_iface").cloned(),
        status: interface.link_state.map(link),
    }
}

fn link(state: LinkState) -> InterfaceState {
    match state {
        LinkState::Up => InterfaceState::Up,
        LinkState::Down => InterfaceState::Down,
    }
}

fn flow_stats(flows: &FlowPicture) -> Option<FlowStats> {
    let tables = flows.bridges.get(INTEGRATION_BRIDGE)?;
    let row = |(table, flows): (&u8, &u64)| {
        Some(TableFlows { table: i64::from(*table), flows: i64::try_from(*flows).ok()? })
    };
    Some(FlowStats {
        total_flows: total(tables.values()),
        flows_per_table: Some(tables.iter().filter_map(row).collect()),
    })
}

fn total<'a>(numbers: impl Iterator<Item = &'a u64>) -> Option<i64> {
    i64::try_from(numbers.sum::<u64>()).ok()
}

fn metrics(switch: &SwitchPicture) -> Metrics {
    // A counter that no interface has is absent; one that some lack is the sum over the others.
    let sum = |names: &[&str]| {
        let counters = switch.interfaces().filter_map(|interface| interface.statistics.as_ref());
        let mut found = counters.flat_map(|counters| names.iter().filter_map(|name| counters.get(*name)));
        let first = *found.next()?;
        Some(found.fold(first, |total, value| total.saturating_add(*value)))
    };
    Metrics {
        packets_received: sum(&["rx_packets"]),
        packets_sent: sum(&["tx_packets"]),
        bytes_received: sum(&["rx_bytes"]),
        bytes_sent: sum(&["tx_bytes"]),
        drops: sum(&["rx_dropped", "tx_dropped"]),
        errors: sum(&["rx_errors", "tx_errors"]),
    }
}
