//! A fleet made from a few numbers, the same each time for the same numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use uuid::Uuid;

use super::host::lifecycle;
use super::{
    Aggregate, Bond, Bridge, Cloud, CloudApi, CloudState, ComputeService, Credentials, Domain, DomainState,
    Fault, Faults, Hardware, Host, HostState, Interface, InterfaceKind, Ovn, Port, Switch, Traffic,
};

/// Name space of all UUIDs the simulator draws, so that a fleet is the same in every run.
const NAMESPACE: Uuid = Uuid::from_u128(0x6335_6333_666c_6565_7473_696d_756c_6174);

/// How large a fleet to make.
#[derive(Debug, Clone)]
pub struct FleetOptions {
    /// Number of hosts.
    pub hosts: usize,
    /// Running instances per host.
    pub instances: usize,
    /// Prefix of host names: `<prefix>-1`, `<prefix>-2` …
    pub prefix: String,
    /// Availability zones that hosts are spread over.
    pub zones: Vec<String>,
    /// Another number makes other instances: other UUIDs and sizes.
    pub seed: u64,
    /// Instances of a host that have a port on its switch.
    pub plugged: usize,
}

impl Default for FleetOptions {
    fn default() -> Self {
        Self {
            hosts: 3,
            instances: 3,
            prefix: "host".to_owned(),
            zones: vec!["zone-a".to_owned(), "zone-b".to_owned()],
            seed: 0,
            plugged: usize::MAX,
        }
    }
}

/// All hosts and the cloud above them.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// Hosts in the order of their numbers.
    pub hosts: Vec<Arc<Host>>,
    /// OpenStack.
    pub cloud: Arc<Cloud>,
}

impl Fleet {
    /// Makes a fleet.
    pub fn new(options: &FleetOptions) -> Self {
        let names: Vec<String> =
            (1..=options.hosts).map(|number| format!("{}-{number}", options.prefix)).collect();
        let hosts: Vec<_> =
            names.iter().enumerate().map(|(index, name)| host(index, name, &names, options)).collect();
        let cloud = Arc::new(Cloud::new(cloud(&hosts, options)));
        Self { hosts: hosts.into_iter().map(Arc::new).collect(), cloud }
    }

    /// The host of that name.
    pub fn host(&self, name: &str) -> Option<&Arc<Host>> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// Availability zone of the host at `index`.
    pub fn zone(options: &FleetOptions, index: usize) -> String {
        let zones = options.zones.len().max(1);
        options.zones.get(index % zones).cloned().unwrap_or_else(|| "nova".to_owned())
    }

    /// Moves a domain in one step, with the events that libvirt sends at both ends; `false` when it does not run at `from`.
    pub fn hand_over(from: &Host, to: &Host, uuid: Uuid) -> bool {
        let moved = from.change(|state, happened| {
            let domain = state.domains.get_mut(&uuid).filter(|domain| domain.state.is_active())?;
            let arriving = domain.clone();
            domain.state = DomainState::PAUSED_MIGRATION;
            happened.push(lifecycle(domain, 3, 1));
            Some(arriving)
        });
        let Some(mut arriving) = moved else { return false };
        to.change(|state, happened| {
            arriving.activate(state.next_domain_id, DomainState::MIGRATED_IN);
            state.next_domain_id += 1;
            happened.push(lifecycle(&arriving, 2, 1));
            happened.push(lifecycle(&arriving, 4, 1));
            state.domains.insert(uuid, arriving);
        });
        from.change(|state, happened| {
            if let Some(mut gone) = state.domains.remove(&uuid) {
                gone.deactivate(DomainState::SHUTOFF_MIGRATED);
                happened.push(lifecycle(&gone, 5, 3));
                happened.push(lifecycle(&gone, 1, 0));
            }
        });
        true
    }
}

/// A UUID that is the same in every run for the same words.
pub(crate) fn uuid(words: &str) -> Uuid {
    Uuid::new_v5(&NAMESPACE, words.as_bytes())
}

fn host(index: usize, name: &str, names: &[String], options: &FleetOptions) -> Host {
    let ip = address(index);
    let domains: BTreeMap<Uuid, Domain> = (0..options.instances)
        .map(|number| {
            let domain = domain(index * options.instances + number + 1, number, options.seed);
            (domain.uuid, domain)
        })
        .collect();
    let switch = switch(name, &ip, names, domains.values().take(options.plugged));
    let hardware = Hardware {
        arch: "x86_64".to_owned(),
        cpus: 64,
        memory_kib: 512 * 1024 * 1024,
        numa_cells: 2,
        libvirt_version: 10_000_000,
        hypervisor_version: 8_002_000,
        vendor: "Simulated".to_owned(),
        product: "Fleet Host".to_owned(),
        serial: format!("SIM{index:06}"),
        ip,
    };
    let next_domain_id = i32::try_from(options.instances).unwrap_or(i32::MAX - 1) + 1;
    let switch = Arc::new(switch);
    let state = HostState { hardware, domains, next_domain_id, switch, faults: Faults::default() };
    Host::new(name, uuid(&format!("host/{name}")), state)
}

/// Address of a host in a private underlay; nothing listens there, it is only told.
fn address(index: usize) -> String {
    let number = index + 11;
    format!("10.{}.{}.{}", 100 + number / 65_536, number / 256 % 256, number % 256)
}

fn domain(number: usize, position: usize, seed: u64) -> Domain {
    let (uuid, turn) = match seed {
        0 => (uuid(&format!("server/{number}")), position),
        seed => {
            let uuid = uuid(&format!("server/{seed}/{number}"));
            (uuid, usize::from(uuid.as_bytes().first().copied().unwrap_or_default()))
        }
    };
    let size = [2_u64, 4, 8].get(turn % 3).copied().unwrap_or(2);
    let memory_kib = size * 1024 * 1024;
    let mut domain = Domain {
        uuid,
        name: format!("instance-{number:08x}"),
        id: None,
        state: DomainState::SHUTOFF,
        vcpus: u16::try_from(size).unwrap_or(2),
        memory_kib,
        max_memory_kib: memory_kib,
        running_since: None,
        persistent: true,
        server_name: Some(format!("server-{number}")),
        job: None,
    };
    domain.activate(i32::try_from(position).unwrap_or(i32::MAX - 1) + 1, DomainState::BOOTED);
    domain
}

fn switch<'a>(name: &str, ip: &str, names: &[String], domains: impl Iterator<Item = &'a Domain>) -> Switch {
    let mut integration = vec![port(name, "br-int", InterfaceKind::Internal, 65_534)];
    for (index, peer) in names.iter().enumerate().filter(|(_, peer)| *peer != name).take(8) {
        let mut tunnel = port(name, &format!("ovn-{peer}-0"), InterfaceKind::Geneve, 100 + index);
        for interface in &mut tunnel.interfaces {
            interface.options.insert("remote_ip".to_owned(), address(index));
            interface.options.insert("key".to_owned(), "flow".to_owned());
        }
        integration.push(tunnel);
    }
    for (index, domain) in domains.enumerate() {
        integration.push(tap(name, domain, 1_000 + index));
    }
    let bond = bond_port(name, "bond0", &["eno1", "eno2"]);
    let external = vec![port(name, "br-ex", InterfaceKind::Internal, 65_534), bond];
    let external_ids = [
        ("system-id", name),
        ("hostname", name),
        ("ovn-remote", "tcp:10.99.0.1:6642"),
        ("ovn-encap-type", "geneve"),
        ("ovn-encap-ip", ip),
        ("ovn-bridge-mappings", "physnet1:br-ex"),
    ];
    Switch {
        ovs_version: Some("3.4.1".to_owned()),
        program_version: "3.4.1".to_owned(),
        dpdk_initialized: false,
        dpdk_version: None,
        external_ids: external_ids
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect(),
        bridges: vec![
            Bridge {
                uuid: uuid(&format!("bridge/{name}/br-int")),
                name: "br-int".to_owned(),
                datapath_type: "system".to_owned(),
                fail_mode: Some("secure".to_owned()),
                ports: integration,
                flows: (0..=40).map(|table| (table, 20 + u32::from(table) * 3)).collect(),
            },
            Bridge {
                uuid: uuid(&format!("bridge/{name}/br-ex")),
                name: "br-ex".to_owned(),
                datapath_type: "system".to_owned(),
                fail_mode: None,
                ports: external,
                flows: BTreeMap::from([(0, 1)]),
            },
        ],
        ovn: Ovn { running: true, connected: true, version: "24.03.2".to_owned() },
    }
}

/// A port with one interface of the same name.
pub(crate) fn port(host: &str, name: &str, kind: InterfaceKind, ofport: usize) -> Port {
    let interface = interface(host, name, kind, ofport);
    Port {
        uuid: uuid(&format!("port/{host}/{name}")),
        name: name.to_owned(),
        tag: None,
        bond: None,
        interfaces: vec![interface],
    }
}

/// The tap port of a domain, named as Neutron and Nova name it.
pub(crate) fn tap(host: &str, domain: &Domain, ofport: usize) -> Port {
    let neutron_port = uuid(&format!("neutron-port/{}", domain.uuid)).to_string();
    let name = format!("tap{}", neutron_port.get(..11).unwrap_or(&neutron_port));
    let mut port = port(host, &name, InterfaceKind::Tap, ofport);
    for interface in &mut port.interfaces {
        interface.external_ids.insert("iface-id".to_owned(), neutron_port.clone());
        interface.external_ids.insert("iface-status".to_owned(), "active".to_owned());
        interface.external_ids.insert("vm-uuid".to_owned(), domain.uuid.to_string());
        interface.external_ids.insert("attached-mac".to_owned(), interface.mac.clone());
        interface.external_ids.insert("ovn-installed".to_owned(), "true".to_owned());
    }
    port
}

fn bond_port(host: &str, name: &str, members: &[&str]) -> Port {
    Port {
        uuid: uuid(&format!("port/{host}/{name}")),
        name: name.to_owned(),
        tag: None,
        bond: Some(Bond {
            mode: "balance-tcp".to_owned(),
            lacp: Some("active".to_owned()),
            active_member: members.first().map(|member| (*member).to_owned()),
        }),
        interfaces: members
            .iter()
            .enumerate()
            .map(|(index, member)| interface(host, member, InterfaceKind::Physical, index + 1))
            .collect(),
    }
}

fn interface(host: &str, name: &str, kind: InterfaceKind, ofport: usize) -> Interface {
    let id = uuid(&format!("interface/{host}/{name}"));
    let [_, a, b, c, d, e, ..] = *id.as_bytes();
    let counters = [
        "rx_packets",
        "tx_packets",
        "rx_bytes",
        "tx_bytes",
        "rx_dropped",
        "tx_dropped",
        "rx_errors",
        "tx_errors",
    ];
    Interface {
        uuid: id,
        name: name.to_owned(),
        kind,
        ofport: i32::try_from(ofport).ok(),
        admin_up: true,
        link_up: true,
        link_speed: match kind {
            InterfaceKind::Physical => Some(25_000_000_000),
            InterfaceKind::Tap => Some(10_000_000_000),
            _ => None,
        },
        mtu: match kind {
            InterfaceKind::Geneve | InterfaceKind::Patch => None,
            InterfaceKind::Tap => Some(1_442),
            _ => Some(1_500),
        },
        mac: format!("02:{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}"),
        error: None,
        external_ids: BTreeMap::new(),
        options: BTreeMap::new(),
        statistics: counters.into_iter().map(|name| (name.to_owned(), 0)).collect(),
    }
}

fn cloud(hosts: &[Host], options: &FleetOptions) -> CloudState {
    let service = |(index, host): (usize, &Host)| {
        let service = ComputeService {
            uuid: uuid(&format!("service/{}", host.name)),
            enabled: true,
            disabled_reason: None,
            up: true,
            forced_down: false,
            zone: Fleet::zone(options, index),
        };
        (host.name.clone(), service)
    };
    let aggregate = |(id, zone): (i64, &String)| Aggregate {
        id,
        uuid: uuid(&format!("aggregate/{zone}")),
        name: zone.clone(),
        availability_zone: Some(zone.clone()),
        hosts: hosts
            .iter()
            .enumerate()
            .filter(|(index, _)| Fleet::zone(options, *index) == *zone)
            .map(|(_, host)| host.name.clone())
            .collect(),
        metadata: BTreeMap::from([("availability_zone".to_owned(), zone.clone())]),
    };
    let traits = |host: &Host| {
        let names = ["HW_CPU_X86_AVX2", "COMPUTE_NET_ATTACH_INTERFACE", "CUSTOM_SIMULATED"];
        let names: BTreeSet<String> = names.into_iter().map(str::to_owned).collect();
        (host.uuid, names)
    };
    CloudState {
        credentials: Credentials {
            username: "admin".to_owned(),
            password: "simulated".to_owned(),
            project: "admin".to_owned(),
            application_credential_id: uuid("application-credential").simple().to_string(),
            application_credential_secret: "simulated-secret".to_owned(),
        },
        services: hosts.iter().enumerate().map(service).collect(),
        aggregates: (1..).zip(&options.zones).map(aggregate).collect(),
        traits: hosts.iter().map(traits).collect(),
        generations: BTreeMap::new(),
        fault: Fault::None,
        api: CloudApi::default(),
        traffic: Traffic::default(),
    }
}
