//! Bulk statistics of domains, network counters from the host's switch.

use libvirt_rpc::wire::{List, encode};
use libvirt_rpc::{DomainRef, StatsGroups, TypedValue};
use uuid::Uuid;

use super::devices;
use super::domain_calls::{cpu_time_ns, domain_ref};
use super::failure::Failure;
use super::host_calls::read;
use crate::model::{Domain, Fault, Host, HostState};

const DOMAINS_MAX: usize = 16_384;
const PARAMS_MAX: usize = 262_144;
/// `VIR_CONNECT_GET_ALL_DOMAINS_STATS_ACTIVE` and `…_INACTIVE`.
const ACTIVE: u32 = 1;
const INACTIVE: u32 = 2;
/// `VIR_CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT`.
const NOWAIT: u32 = 0x2000_0000;

type Params = Vec<(String, TypedValue)>;
type Record = (DomainRef, List<(String, TypedValue), PARAMS_MAX>);

/// Answers `connect_get_all_domain_stats`.
pub(super) fn all(host: &Host, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (List(wanted), groups, flags): (List<DomainRef, DOMAINS_MAX>, u32, u32) = read(arguments)?;
    let locked = host.read(|state| state.faults.libvirt == Fault::JobLock);
    if locked && flags & NOWAIT == 0 {
        return Err(Failure::JobLocked);
    }
    // What is known without the lock.
    let groups_of = |domain: &Domain| {
        if locked && domain.state.is_active() { StatsGroups::STATE.0 } else { groups }
    };
    let records: Vec<Record> = host.read(|state| {
        let named = |uuid: Uuid| wanted.is_empty() || wanted.iter().any(|domain| domain.uuid == uuid);
        let domains = state.domains.values().filter(|domain| named(domain.uuid) && passes(domain, flags));
        domains.map(|domain| (domain_ref(domain), List(params(state, domain, groups_of(domain))))).collect()
    });
    if records.len() > DOMAINS_MAX {
        return Err(Failure::ReplyTooLarge);
    }
    Ok(encode(&List::<Record, DOMAINS_MAX>(records)))
}

fn passes(domain: &Domain, flags: u32) -> bool {
    let own = if domain.state.is_active() { ACTIVE } else { INACTIVE };
    flags & (ACTIVE | INACTIVE) == 0 || flags & own != 0
}

fn params(state: &HostState, domain: &Domain, groups: u32) -> Params {
    let mut params = Params::new();
    let wants = |group: StatsGroups| groups == 0 || groups & group.0 != 0;
    let active = domain.state.is_active();
    if wants(StatsGroups::STATE) {
        add(&mut params, "state.state", TypedValue::Int(domain.state.state));
        add(&mut params, "state.reason", TypedValue::Int(domain.state.reason));
    }
    if wants(StatsGroups::CPU_TOTAL) && active {
        add(&mut params, "cpu.time", TypedValue::Ulong(cpu_time_ns(domain)));
    }
    if wants(StatsGroups::BALLOON) {
        if active {
            add(&mut params, "balloon.current", TypedValue::Ulong(domain.memory_kib));
        }
        add(&mut params, "balloon.maximum", TypedValue::Ulong(domain.max_memory_kib));
    }
    if wants(StatsGroups::VCPU) {
        vcpus(&mut params, domain);
    }
    if wants(StatsGroups::INTERFACE) && active {
        devices::add_interfaces(&mut params, state, domain);
    }
    if wants(StatsGroups::BLOCK) && active {
        devices::add_blocks(&mut params, domain);
    }
    params
}

fn vcpus(params: &mut Params, domain: &Domain) {
    let count = u32::from(domain.vcpus);
    add(params, "vcpu.current", TypedValue::Uint(count));
    add(params, "vcpu.maximum", TypedValue::Uint(count));
    if domain.state.is_active() {
        let time = cpu_time_ns(domain) / u64::from(domain.vcpus.max(1));
        for number in 0..count {
            add(params, &format!("vcpu.{number}.state"), TypedValue::Int(1));
            add(params, &format!("vcpu.{number}.time"), TypedValue::Ulong(time));
        }
    }
}

fn add(params: &mut Params, name: &str, value: TypedValue) {
    params.push((name.to_owned(), value));
}
