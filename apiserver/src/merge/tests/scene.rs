//! A host and a cloud in which everything is well.

use std::collections::BTreeMap;
use std::sync::Arc;

use c5c3_api::{Condition, Eviction, Hypervisor, OVSNode, SourceState, labels};
use jiff::Timestamp;
use ovs_client::switch::{Bond, Bridge, Interface, LinkState, OpenVSwitch, Port};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::intent::{IntentKey, IntentRecord, StoreVersion};
use crate::merge::{self, CloudView, HostView, Incarnation};
use crate::sources::observation::Observation;
use crate::sources::picture::{
    BondPicture, Cell, ComputePicture, DaemonPicture, DomainPicture, FlowPicture, LibvirtPicture,
    MembershipPicture, NodePicture, NovaAggregate, NovaHypervisor, NovaService, ServersPicture,
    SwitchPicture,
};

/// Hypervisor id of the host, in Nova and Placement.
pub(crate) const HYPERVISOR: &str = "6f6a2d4c-0000-4000-8000-000000000001";
/// A domain that runs.
pub(crate) const RUNNING: Uuid = Uuid::from_u128(1);
/// A domain that is shut off.
pub(crate) const STOPPED: Uuid = Uuid::from_u128(2);

/// That second.
pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// A host and its cloud; every part can be changed before it is looked at.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) incarnation: Incarnation,
    pub(crate) configured_labels: BTreeMap<String, String>,
    pub(crate) node: Observation<NodePicture>,
    pub(crate) libvirt: Observation<LibvirtPicture>,
    pub(crate) switch: Observation<SwitchPicture>,
    pub(crate) flows: Observation<FlowPicture>,
    pub(crate) daemons: Observation<DaemonPicture>,
    pub(crate) servers: Observation<ServersPicture>,
    pub(crate) intent: Option<IntentRecord>,
    pub(crate) nodes_known: bool,
    pub(crate) active_elsewhere: BTreeMap<Uuid, Vec<String>>,
    pub(crate) compute: Observation<ComputePicture>,
    pub(crate) memberships: Observation<MembershipPicture>,
    pub(crate) now: Timestamp,
}

impl Scene {
    /// Everything answers and is as it should be.
    pub(crate) fn healthy() -> Self {
        let now = at(1_000);
        Self {
            incarnation: Incarnation { of: "node-uid".to_owned(), created: at(10) },
            configured_labels: BTreeMap::new(),
            node: Observation::fresh(node(), now),
            libvirt: Observation::fresh(libvirt(), now),
            switch: Observation::fresh(switch(), now),
            flows: Observation::fresh(flows(), now),
            daemons: Observation::fresh(daemons(), now),
            servers: Observation::default(),
            intent: None,
            nodes_known: true,
            active_elsewhere: BTreeMap::new(),
            compute: Observation::fresh(compute(), now),
            memberships: Observation::fresh(memberships(), now),
            now,
        }
    }

    /// Nothing has been heard of anything.
    pub(crate) fn silent() -> Self {
        Self {
            node: Observation::default(),
            libvirt: Observation::default(),
            switch: Observation::default(),
            flows: Observation::default(),
            daemons: Observation::default(),
            compute: Observation::default(),
            memberships: Observation::default(),
            ..Self::healthy()
        }
    }

    pub(crate) fn view(&self) -> HostView<'_> {
        HostView {
            name: "host-1",
            nova_host: "host-1",
            configured_labels: &self.configured_labels,
            incarnation: &self.incarnation,
            node: &self.node,
            libvirt: &self.libvirt,
            switch: &self.switch,
            flows: &self.flows,
            daemons: &self.daemons,
            servers: &self.servers,
            intent: self.intent.as_ref(),
            nodes_known: self.nodes_known,
            active_elsewhere: &self.active_elsewhere,
            now: self.now,
        }
    }

    pub(crate) fn cloud(&self) -> CloudView<'_> {
        CloudView { compute: &self.compute, memberships: &self.memberships }
    }

    pub(crate) fn hypervisor(&self) -> Hypervisor {
        merge::hypervisor(&self.view(), &self.cloud(), None)
    }

    pub(crate) fn ovs_node(&self) -> OVSNode {
        merge::ovs_node(&self.view(), "ovn-system", None)
    }

    pub(crate) fn eviction(&self) -> Eviction {
        let record = wish("Eviction", "e", serde_json::json!({"hypervisor": "host-1", "reason": "disk"}));
        merge::eviction(&record, Some(&self.view()), &self.cloud(), None, self.now)
    }

    /// Has somebody want that of the host.
    pub(crate) fn wanting(mut self, spec: Value) -> Self {
        self.intent = Some(wish("Hypervisor", "host-1", spec));
        self
    }

    /// Has the picture of libvirt changed.
    pub(crate) fn with_libvirt(mut self, alter: impl FnOnce(&mut LibvirtPicture)) -> Self {
        self.libvirt = altered(&self.libvirt, alter);
        self
    }

    /// Has the picture of the Node changed.
    pub(crate) fn with_node(mut self, alter: impl FnOnce(&mut NodePicture)) -> Self {
        self.node = altered(&self.node, alter);
        self
    }

    /// Has the picture of the switch changed.
    pub(crate) fn with_switch(mut self, alter: impl FnOnce(&mut SwitchPicture)) -> Self {
        self.switch = altered(&self.switch, alter);
        self
    }

    /// Has the picture of the daemons changed.
    pub(crate) fn with_daemons(mut self, alter: impl FnOnce(&mut DaemonPicture)) -> Self {
        self.daemons = altered(&self.daemons, alter);
        self
    }

    /// Has the compute service of the host changed.
    pub(crate) fn with_service(mut self, alter: impl FnOnce(&mut NovaService)) -> Self {
        self.compute = altered(&self.compute, |compute| alter(compute.services.get_mut("host-1").unwrap()));
        self
    }
}

/// The condition of that type, which has to be there.
pub(crate) fn condition<'a>(conditions: &'a [Condition], type_: &str) -> &'a Condition {
    Condition::find(conditions, type_).unwrap_or_else(|| panic!("no condition {type_}"))
}

/// That source, silent since now, with what it said before.
pub(crate) fn silent<T>(source: &Observation<T>) -> Observation<T> {
    source.failed(SourceState::Unreachable, "connection refused", at(1_000))
}

pub(crate) fn wish(kind: &str, name: &str, spec: Value) -> IntentRecord {
    let mut object = json!({"metadata": {
        "name": name, "uid": Uuid::from_u128(77).to_string(), "creationTimestamp": at(20).to_string(),
        "generation": 3,
    }});
    object["spec"] = spec;
    IntentRecord { key: IntentKey::cluster(kind, name), version: StoreVersion::of(9), object }
}

fn altered<T: Clone>(source: &Observation<T>, alter: impl FnOnce(&mut T)) -> Observation<T> {
    let mut value = source.value().unwrap().clone();
    alter(&mut value);
    Observation::fresh(value, source.observed_at.unwrap())
}

pub(crate) fn pairs(list: &[(&str, &str)]) -> BTreeMap<String, String> {
    list.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn node() -> NodePicture {
    NodePicture {
        uid: "node-uid".to_owned(),
        created: Some(at(10)),
        labels: pairs(&[(labels::ZONE, "zone-a"), (labels::LIFECYCLE, "true"), ("other", "x")]),
        internal_ip: Some("10.0.0.1".to_owned()),
        kernel_version: Some("6.12".to_owned()),
        os_image: Some("Garden Linux 1877".to_owned()),
        ..NodePicture::default()
    }
}

pub(crate) fn libvirt() -> LibvirtPicture {
    let domain = |active: bool, name: &str| DomainPicture {
        name: name.to_owned(),
        active,
        state: if active { 1 } else { 5 },
        reason: 1,
        vcpus: Some(4),
        memory_kib: Some(8 << 20),
    };
    let cell = |id| Cell { id, memory_kib: Some(64 << 20), cpus: Some(16) };
    LibvirtPicture {
        libvirt_version: Some("10.0.0".to_owned()),
        hypervisor_version: Some("8.2.2".to_owned()),
        cpu_arch: Some("x86_64".to_owned()),
        memory_kib: Some(128 << 20),
        cpus: Some(32),
        cells: vec![cell(0), cell(1)],
        domains: Arc::new(
            [(RUNNING, domain(true, "instance-1")), (STOPPED, domain(false, "instance-2"))].into(),
        ),
        ..LibvirtPicture::default()
    }
}

fn interface(name: &str, kind: &str) -> Interface {
    let mut interface = Interface::default();
    name.clone_into(&mut interface.name);
    kind.clone_into(&mut interface.kind);
    interface.ofport = Some(1);
    interface.link_state = Some(LinkState::Up);
    interface.statistics = Some(
        [("rx_packets".to_owned(), 10), ("rx_dropped".to_owned(), 1), ("tx_dropped".to_owned(), 2)].into(),
    );
    interface
}

fn port(name: &str, interfaces: Vec<Interface>) -> Port {
    let mut port = Port::default();
    name.clone_into(&mut port.name);
    port.interfaces = interfaces;
    port
}

fn bridge(name: &str, ports: Vec<Port>) -> Bridge {
    let mut bridge = Bridge::default();
    name.clone_into(&mut bridge.name);
    bridge.datapath_id = Some("0000aa".to_owned());
    bridge.datapath_type = Some("system".to_owned());
    bridge.ports = ports;
    bridge
}

pub(crate) fn switch() -> SwitchPicture {
    let physical = |name: &str| {
        let mut interface = interface(name, "system");
        interface.status = pairs(&[("driver_name", "mlx5_core")]);
        interface.link_speed = Some(25_000_000_000);
        interface
    };
    let mut bond = port("bond0", vec![physical("eno1"), physical("eno2")]);
    bond.bond = Some(Bond::default());
    let mut tunnel = interface("ovn-host-2-0", "geneve");
    tunnel.options = pairs(&[("remote_ip", "10.0.0.2")]);
    let mut tap = interface("tap1", "");
    tap.external_ids = pairs(&[("vm-uuid", &RUNNING.to_string()), ("iface-id", "p")]);
    let mut root = OpenVSwitch::default();
    root.ovs_version = Some("3.4.1".to_owned());
    root.external_ids = pairs(&[
        ("hostname", "host-1"),
        ("system-id", "host-1"),
        ("ovn-remote", "tcp:10.0.0.9:6642"),
        ("ovn-bridge-mappings", "physnet1:br-ex"),
    ]);
    let mut switch = SwitchPicture::default();
    switch.root = Some(root);
    switch.bridges = vec![
        bridge("br-ex", vec![bond]),
        bridge("br-int", vec![port("ovn-host-2-0", vec![tunnel]), port("tap1", vec![tap])]),
    ];
    switch
}

fn flows() -> FlowPicture {
    FlowPicture { bridges: [("br-int".to_owned(), [(0, 5), (8, 7)].into())].into() }
}

fn daemons() -> DaemonPicture {
    let enabled = ["eno1", "eno2"].map(str::to_owned).into();
    let bond = BondPicture { enabled, ..BondPicture::default() };
    DaemonPicture {
        vswitchd_version: Some("3.4.1".to_owned()),
        ovsdb_version: Some("3.4.1".to_owned()),
        bonds: [("bond0".to_owned(), bond)].into(),
        ovn_connected: Some(true),
        ..DaemonPicture::default()
    }
}

fn compute() -> ComputePicture {
    let service = NovaService {
        id: "service-id".to_owned(),
        status: Some("enabled".to_owned()),
        state: Some("up".to_owned()),
        ..NovaService::default()
    };
    let hypervisor = NovaHypervisor { id: HYPERVISOR.to_owned(), hostname: "host-1".to_owned() };
    ComputePicture {
        hypervisors: [("host-1".to_owned(), hypervisor)].into(),
        services: [("host-1".to_owned(), service)].into(),
    }
}

fn memberships() -> MembershipPicture {
    let aggregate = NovaAggregate { name: "zone-a".to_owned(), ..NovaAggregate::default() };
    MembershipPicture {
        aggregates: [("host-1".to_owned(), vec![aggregate])].into(),
        traits: [(HYPERVISOR.to_owned(), vec!["CUSTOM_A".to_owned()])].into(),
    }
}
