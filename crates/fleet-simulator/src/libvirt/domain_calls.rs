//! Calls about domains.

use libvirt_rpc::wire::{List, Procedure, encode};
use libvirt_rpc::xml::DomainXml;
use libvirt_rpc::{DomainInfo, DomainRef};
use uuid::Uuid;

use super::daemon::Daemon;
use super::failure::Failure;
use super::host_calls::read;
use super::session::Client;
use super::{devices, documents, jobs, migration_calls, stats};
use crate::model::{Domain, DomainState, Fault, Host, HostChange, lifecycle};

/// Most domains in one list.
const DOMAINS_MAX: usize = 16_384;

/// Whether [`carry_out`] knows the call.
pub(super) fn is_known(procedure: Procedure) -> bool {
    is_change(procedure)
        || matches!(
            procedure,
            Procedure::ConnectListAllDomains
                | Procedure::DomainLookupById
                | Procedure::DomainLookupByName
                | Procedure::DomainLookupByUuid
                | Procedure::DomainGetState
                | Procedure::DomainGetInfo
                | Procedure::DomainGetXmlDesc
                | Procedure::DomainGetJobStats
                | Procedure::DomainGetJobInfo
                | Procedure::ConnectGetAllDomainStats
                | Procedure::DomainGetBlockInfo
                | Procedure::DomainBlockStats
                | Procedure::DomainInterfaceStats
                | Procedure::DomainGetDiskErrors
                | Procedure::DomainMigrateGetMaxDowntime
                | Procedure::DomainMigrateGetMaxSpeed
        )
}

/// Calls that a read-only connection may not make.
fn is_change(procedure: Procedure) -> bool {
    matches!(
        procedure,
        Procedure::DomainAbortJob
            | Procedure::DomainCreateXml
            | Procedure::DomainDestroy
            | Procedure::DomainSuspend
            | Procedure::DomainResume
            | Procedure::DomainMigrateSetMaxDowntime
            | Procedure::DomainMigrateSetMaxSpeed
            | Procedure::DomainMigrateStartPostCopy
    )
}

/// Calls that have to wait for the job of another.
fn needs_lock(procedure: Procedure) -> bool {
    matches!(
        procedure,
        Procedure::DomainGetInfo
            | Procedure::DomainBlockStats
            | Procedure::DomainInterfaceStats
            | Procedure::DomainDestroy
            | Procedure::DomainSuspend
            | Procedure::DomainResume
    )
}

/// Carries out a call that [`is_known`].
pub(super) fn carry_out(
    daemon: &Daemon,
    client: &Client,
    procedure: Procedure,
    arguments: &[u8],
) -> Result<Vec<u8>, Failure> {
    let host = &daemon.host;
    if client.read_only && is_change(procedure) {
        return Err(Failure::ReadOnly(procedure));
    }
    if needs_lock(procedure) && host.read(|state| state.faults.libvirt == Fault::JobLock) {
        return Err(Failure::JobLocked);
    }
    match procedure {
        Procedure::ConnectListAllDomains => list(host, arguments),
        Procedure::DomainLookupById => {
            let id: i32 = read(arguments)?;
            look_up(host, |domain| domain.id == Some(id)).ok_or(Failure::NoDomainNamed(id.to_string()))
        }
        Procedure::DomainLookupByName => {
            let name: String = read(arguments)?;
            look_up(host, |domain| domain.name == name).ok_or(Failure::NoDomainNamed(name))
        }
        Procedure::DomainLookupByUuid => {
            with(host, read(arguments)?, |domain| Ok(encode(&domain_ref(domain))))
        }
        Procedure::DomainGetState => {
            let (domain, _flags): (DomainRef, u32) = read(arguments)?;
            with(host, domain.uuid, |domain| Ok(encode(&(domain.state.state, domain.state.reason))))
        }
        Procedure::DomainGetInfo => {
            let domain: DomainRef = read(arguments)?;
            with(host, domain.uuid, |domain| Ok(encode(&info(domain))))
        }
        Procedure::DomainGetXmlDesc => {
            let (domain, _flags): (DomainRef, u32) = read(arguments)?;
            let hardware = host.read(|state| state.hardware.clone());
            with(host, domain.uuid, |domain| Ok(encode(&documents::domain(domain, &hardware))))
        }
        Procedure::DomainGetJobStats => {
            let (domain, flags): (DomainRef, u32) = read(arguments)?;
            with(host, domain.uuid, |domain| jobs::stats(domain, flags))
        }
        Procedure::DomainGetJobInfo => {
            let domain: DomainRef = read(arguments)?;
            with(host, domain.uuid, |domain| jobs::info(domain))
        }
        Procedure::DomainAbortJob => {
            let domain: DomainRef = read(arguments)?;
            with(host, domain.uuid, jobs::abort)
        }
        Procedure::ConnectGetAllDomainStats => stats::all(host, arguments),
        Procedure::DomainGetBlockInfo => devices::block_info(host, arguments),
        Procedure::DomainBlockStats => devices::block_stats(host, arguments),
        Procedure::DomainInterfaceStats => devices::interface_stats(host, arguments),
        Procedure::DomainGetDiskErrors => devices::disk_errors(host, arguments),
        Procedure::DomainMigrateGetMaxDowntime => migration_calls::downtime(daemon, arguments),
        Procedure::DomainMigrateSetMaxDowntime => migration_calls::set_downtime(daemon, arguments),
        Procedure::DomainMigrateGetMaxSpeed => migration_calls::speed(daemon, arguments),
        Procedure::DomainMigrateSetMaxSpeed => migration_calls::set_speed(daemon, arguments),
        Procedure::DomainMigrateStartPostCopy => migration_calls::start_post_copy(daemon, arguments),
        Procedure::DomainCreateXml => create(host, arguments),
        Procedure::DomainDestroy => destroy(host, arguments),
        Procedure::DomainSuspend => suspend(host, arguments),
        Procedure::DomainResume => resume(host, arguments),
        other => Err(Failure::UnknownProcedure(other.raw())),
    }
}

/// How calls and events name a domain.
pub(super) fn domain_ref(domain: &Domain) -> DomainRef {
    DomainRef { name: domain.name.clone(), uuid: domain.uuid, id: domain.id }
}

/// CPU time in nanoseconds: a tenth of each virtual CPU since it runs.
pub(super) fn cpu_time_ns(domain: &Domain) -> u64 {
    let running = domain.running_since.map(|since| since.elapsed().as_nanos()).unwrap_or_default();
    u64::try_from(running * u128::from(domain.vcpus) / 10).unwrap_or(u64::MAX)
}

fn with<R>(
    host: &Host,
    uuid: Uuid,
    act: impl FnOnce(&mut Domain) -> Result<R, Failure>,
) -> Result<R, Failure> {
    host.change(|state, _| state.domains.get_mut(&uuid).map_or(Err(Failure::NoDomain(uuid)), act))
}

fn look_up(host: &Host, wanted: impl Fn(&Domain) -> bool) -> Option<Vec<u8>> {
    host.read(|state| {
        state.domains.values().find(|domain| wanted(domain)).map(|domain| encode(&domain_ref(domain)))
    })
}

fn info(domain: &Domain) -> DomainInfo {
    let memory = if domain.state.is_active() { domain.memory_kib } else { domain.max_memory_kib };
    DomainInfo::new(domain.state.state, domain.max_memory_kib, memory, domain.vcpus, cpu_time_ns(domain))
}

fn list(host: &Host, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (need_results, flags): (i32, u32) = read(arguments)?;
    let domains: Vec<DomainRef> = host.read(|state| {
        state.domains.values().filter(|domain| passes(domain, flags)).map(domain_ref).collect()
    });
    let count = u32::try_from(domains.len()).unwrap_or(u32::MAX);
    if domains.len() > DOMAINS_MAX {
        return Err(Failure::ReplyTooLarge);
    }
    let domains = if need_results == 0 { Vec::new() } else { domains };
    Ok(encode(&(List::<_, DOMAINS_MAX>(domains), count)))
}

/// `virConnectListAllDomainsFlags`: within a group any flag may hold, a group without flags holds.
fn passes(domain: &Domain, flags: u32) -> bool {
    let active = domain.state.is_active();
    let state = match domain.state.state {
        1 => 16,
        3 => 32,
        5 => 64,
        _ => 128,
    };
    let groups = [(3, if active { 1 } else { 2 }), (12, if domain.persistent { 4 } else { 8 }), (240, state)];
    groups.into_iter().all(|(group, own)| flags & group == 0 || flags & own != 0)
}

fn create(host: &Host, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (text, _flags): (String, u32) = read(arguments)?;
    let document = DomainXml::parse(&text).map_err(|error| Failure::BadXml(error.to_string()))?;
    let domain = from_document(host, document)?;
    host.change(|state, happened| {
        let taken = |other: &Domain| other.uuid == domain.uuid || other.name == domain.name;
        if state.domains.values().any(taken) {
            return Err(Failure::AlreadyExists(domain.name.clone()));
        }
        let mut domain = domain;
        domain.activate(state.next_domain_id, DomainState::BOOTED);
        state.next_domain_id += 1;
        // In the order in which the QEMU driver tells it.
        happened.push(lifecycle(&domain, 4, 0));
        happened.push(lifecycle(&domain, 2, 0));
        let reply = encode(&domain_ref(&domain));
        state.domains.insert(domain.uuid, domain);
        Ok(reply)
    })
}

fn from_document(host: &Host, document: DomainXml) -> Result<Domain, Failure> {
    let missing = |what: &str| Failure::BadXml(format!("missing {what}"));
    let name = document.name.ok_or_else(|| missing("name"))?;
    let uuid = match document.uuid {
        Some(text) => text.parse().map_err(|_| Failure::BadXml(format!("malformed uuid '{text}'")))?,
        None => crate::model::uuid(&format!("domain/{}/{name}", host.name)),
    };
    let max_memory_kib = document.memory_kib.ok_or_else(|| missing("memory"))?;
    Ok(Domain {
        uuid,
        name,
        id: None,
        state: DomainState::SHUTOFF,
        vcpus: document.vcpus.and_then(|vcpus| vcpus.try_into().ok()).unwrap_or(1),
        memory_kib: document.current_memory_kib.unwrap_or(max_memory_kib),
        max_memory_kib,
        running_since: None,
        persistent: false,
        server_name: None,
        job: None,
    })
}

fn destroy(host: &Host, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let domain: DomainRef = read(arguments)?;
    host.change(|state, happened| {
        let known = active(state.domains.get_mut(&domain.uuid), domain.uuid)?;
        happened.push(lifecycle(known, 6, 2));
        known.deactivate(DomainState { state: 5, reason: 2 });
        happened.push(lifecycle(known, 5, 1));
        if !known.persistent {
            state.domains.remove(&domain.uuid);
        }
        Ok(Vec::new())
    })
}

fn suspend(host: &Host, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    alter(host, arguments, |domain, happened| {
        domain.state = DomainState { state: 3, reason: 1 };
        happened.push(lifecycle(domain, 3, 0));
    })
}

fn resume(host: &Host, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    alter(host, arguments, |domain, happened| {
        domain.state = DomainState::UNPAUSED;
        happened.push(lifecycle(domain, 4, 0));
    })
}

fn alter(
    host: &Host,
    arguments: &[u8],
    act: impl FnOnce(&mut Domain, &mut Vec<HostChange>),
) -> Result<Vec<u8>, Failure> {
    let domain: DomainRef = read(arguments)?;
    host.change(|state, happened| {
        act(active(state.domains.get_mut(&domain.uuid), domain.uuid)?, happened);
        Ok(Vec::new())
    })
}

fn active(domain: Option<&mut Domain>, uuid: Uuid) -> Result<&mut Domain, Failure> {
    let domain = domain.ok_or(Failure::NoDomain(uuid))?;
    if domain.state.is_active() { Ok(domain) } else { Err(Failure::Invalid("domain is not running")) }
}
