//! One hypervisor host: hardware, domains, switch, faults, and the changes others subscribe to.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast;
use uuid::Uuid;

use super::{Domain, DomainEvent, DomainState, Faults, Switch};

/// How many changes a subscriber may lag behind before it is told that it lost some.
const CHANGES_KEPT: usize = 1024;

/// A simulated hypervisor host.
#[derive(Debug)]
pub struct Host {
    /// Host name; also the name of its Kubernetes Node and of its Nova compute service.
    pub name: String,
    /// Host UUID; also the id of its Nova hypervisor and its Placement resource provider.
    pub uuid: Uuid,
    state: Mutex<HostState>,
    changes: broadcast::Sender<HostChange>,
}

/// Everything about a host that can change.
#[derive(Debug)]
pub struct HostState {
    /// What it is made of and which programs it runs.
    pub hardware: Hardware,
    /// Domains by UUID.
    pub domains: BTreeMap<Uuid, Domain>,
    /// Next run-time id of a domain.
    pub next_domain_id: i32,
    /// Its virtual switch. Sessions keep what they have told of; a change copies it.
    pub switch: Arc<Switch>,
    /// How its servers misbehave.
    pub faults: Faults,
}

/// Hardware and versions.
#[derive(Debug, Clone)]
pub struct Hardware {
    /// `x86_64` or `aarch64`.
    pub arch: String,
    /// Logical CPUs over all NUMA cells.
    pub cpus: u32,
    /// Memory in KiB over all NUMA cells.
    pub memory_kib: u64,
    /// Number of NUMA cells; CPUs and memory are spread evenly.
    pub numa_cells: u32,
    /// libvirt library version, `major * 1_000_000 + minor * 1_000 + release`.
    pub libvirt_version: u64,
    /// QEMU version in the same form.
    pub hypervisor_version: u64,
    /// System vendor, product and serial of sysinfo.
    pub vendor: String,
    /// System product name.
    pub product: String,
    /// System serial number.
    pub serial: String,
    /// Address of the host in the underlay.
    pub ip: String,
}

/// Something that happened on a host.
#[derive(Debug, Clone)]
pub enum HostChange {
    /// A domain's life cycle.
    Domain(Box<DomainEvent>),
    /// A migration began another pass over a domain's memory.
    MigrationIteration {
        /// The domain.
        domain: Box<Domain>,
        /// The pass, from 1.
        iteration: i32,
    },
    /// A job of a domain ended.
    JobCompleted(Box<Domain>),
    /// Rows of the switch changed.
    Switch,
    /// A fault was set or cleared.
    Faults,
}

impl Host {
    /// A host with the given state.
    pub fn new(name: impl Into<String>, uuid: Uuid, state: HostState) -> Self {
        Self {
            name: name.into(),
            uuid,
            state: Mutex::new(state),
            changes: broadcast::Sender::new(CHANGES_KEPT),
        }
    }

    /// Looks at the state.
    pub fn read<R>(&self, look: impl FnOnce(&HostState) -> R) -> R {
        look(&self.lock())
    }

    /// Changes the state; the changes that `alter` pushes are sent to all subscribers, in order.
    pub fn change<R>(&self, alter: impl FnOnce(&mut HostState, &mut Vec<HostChange>) -> R) -> R {
        let mut happened = Vec::new();
        let mut state = self.lock();
        let result = alter(&mut state, &mut happened);
        // Sent under the lock, so that no two changes are seen in the wrong order. A send without subscribers is no error.
        for change in happened {
            let _ = self.changes.send(change);
        }
        result
    }

    /// Changes from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<HostChange> {
        self.changes.subscribe()
    }

    /// Sets the faults of this host's servers.
    pub fn set_faults(&self, alter: impl FnOnce(&mut Faults)) {
        self.change(|state, happened| {
            alter(&mut state.faults);
            happened.push(HostChange::Faults);
        });
    }

    /// Defines a domain (shut off) unless one with this UUID exists.
    pub fn define(&self, domain: Domain) {
        self.change(|state, happened| {
            if let Entry::Vacant(place) = state.domains.entry(domain.uuid) {
                happened.push(lifecycle(&domain, 0, 0));
                place.insert(domain);
            }
        });
    }

    /// Starts a domain that is shut off; `false` when there is none.
    pub fn start(&self, uuid: Uuid) -> bool {
        self.change(|state, happened| {
            let id = state.next_domain_id;
            let Some(domain) = state.domains.get_mut(&uuid).filter(|domain| !domain.state.is_active()) else {
                return false;
            };
            state.next_domain_id += 1;
            domain.activate(id, DomainState::BOOTED);
            // In the order in which the QEMU driver tells it.
            happened.push(lifecycle(domain, 4, 0));
            happened.push(lifecycle(domain, 2, 0));
            true
        })
    }

    /// Stops a domain that runs; `false` when there is none.
    pub fn stop(&self, uuid: Uuid) -> bool {
        self.change(|state, happened| {
            let Some(domain) = state.domains.get_mut(&uuid).filter(|domain| domain.state.is_active()) else {
                return false;
            };
            domain.deactivate(DomainState::SHUTOFF);
            happened.push(lifecycle(domain, 5, 0));
            if !domain.persistent {
                state.domains.remove(&uuid);
            }
            true
        })
    }

    fn lock(&self) -> MutexGuard<'_, HostState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Domain {
    /// Gives the domain a run-time id and a running state.
    pub fn activate(&mut self, id: i32, state: DomainState) {
        self.id = Some(id);
        self.state = state;
        self.running_since = Some(std::time::Instant::now());
    }

    /// Takes the run-time id away.
    pub fn deactivate(&mut self, state: DomainState) {
        self.id = None;
        self.state = state;
        self.running_since = None;
    }
}

/// A life-cycle change of `domain` as it is now.
pub(crate) fn lifecycle(domain: &Domain, event: i32, detail: i32) -> HostChange {
    HostChange::Domain(Box::new(DomainEvent { domain: domain.clone(), event, detail }))
}
