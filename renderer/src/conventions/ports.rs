//! Ports that nodes of one cluster must reach on another; firewalls between clusters are made from this list.

use c5c3_api::topology::Encapsulation;

use super::{OvnStore, Resolved, ResolvedControlPlane};
use crate::plan::OpenPort;

/// All of them, sorted.
pub(crate) fn open_ports(resolved: &Resolved) -> Vec<OpenPort> {
    let mut ports = Vec::new();
    for control_plane in &resolved.control_planes {
        of_management(control_plane, &resolved.management.name, &mut ports);
        of_chassis(control_plane, &mut ports);
        of_storage(control_plane, &mut ports);
    }
    ports.sort();
    ports.dedup();
    ports
}

fn add(ports: &mut Vec<OpenPort>, cluster: &str, range: String, from: &str, purpose: &str) {
    ports.push(OpenPort {
        cluster: cluster.to_owned(),
        ports: range,
        from: from.to_owned(),
        purpose: purpose.to_owned(),
    });
}

fn of_management(control_plane: &ResolvedControlPlane, management: &str, ports: &mut Vec<OpenPort>) {
    let name = control_plane.name.as_str();
    add(
        ports,
        management,
        "443/tcp".to_owned(),
        "compute nodes, users",
        &format!("services of {name}, through its Gateway"),
    );
    let ovn = &control_plane.ovn;
    if !ovn.externally_reachable {
        return;
    }
    let host = ovn.cluster.as_deref().unwrap_or(management);
    let range = |store: &OvnStore| {
        let last = store.node_port_base + store.replicas.saturating_sub(1);
        if last == store.node_port_base {
            format!("{last}/tcp")
        } else {
            format!("{}-{last}/tcp", store.node_port_base)
        }
    };
    add(ports, host, range(&ovn.northbound), "Neutron", &format!("OVN Northbound of {name}"));
    let chassis = "compute and gateway nodes";
    add(ports, host, range(&ovn.southbound), chassis, &format!("OVN Southbound of {name}"));
    if let Some(relay) = &ovn.relay {
        add(ports, host, format!("{}/tcp", relay.node_port), chassis, &format!("OVN relay of {name}"));
    }
}

fn of_chassis(control_plane: &ResolvedControlPlane, ports: &mut Vec<OpenPort>) {
    for attachment in control_plane.attachments() {
        let (port, tunnel) = match attachment.chassis.encapsulation {
            Encapsulation::Geneve => ("6081/udp", "Geneve"),
            Encapsulation::Vxlan => ("4789/udp", "VXLAN"),
        };
        let purpose = format!("{tunnel} tunnels of {}", control_plane.name);
        add(ports, &attachment.cluster, port.to_owned(), "compute and gateway nodes", &purpose);
    }
    for compute in &control_plane.compute {
        let cluster = compute.attachment.cluster.as_str();
        let peers = format!("hypervisors of the migration domain {}", compute.libvirt.migration_domain);
        let range = compute.libvirt.migration_ports;
        add(ports, cluster, "16514/tcp".to_owned(), &peers, "libvirt, for migrations");
        add(ports, cluster, format!("{}-{}/tcp", range.first, range.last), &peers, "migrating instances");
        add(ports, cluster, "5900-6923/tcp".to_owned(), "console proxy", "consoles of instances");
    }
}

fn of_storage(control_plane: &ResolvedControlPlane, ports: &mut Vec<OpenPort>) {
    for storage in &control_plane.storage {
        let clients = "compute nodes, Cinder";
        add(ports, &storage.cluster, "3300/tcp".to_owned(), clients, "Ceph monitors");
        add(ports, &storage.cluster, "6789/tcp".to_owned(), clients, "Ceph monitors, first protocol");
        add(ports, &storage.cluster, "6800-7300/tcp".to_owned(), clients, "Ceph OSDs");
        if let Some(store) = &storage.object_store {
            add(ports, &storage.cluster, format!("{}/tcp", store.port), "Glance", "object store");
        }
    }
}
