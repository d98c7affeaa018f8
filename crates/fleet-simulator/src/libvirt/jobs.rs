//! A job of the model as libvirt reports it.

use libvirt_rpc::wire::{List, encode};
use libvirt_rpc::{JobKind as WireKind, TypedParams, TypedValue};

use super::failure::Failure;
use crate::model::{Domain, Job, JobKind};

/// `VIR_DOMAIN_JOB_STATS_COMPLETED`.
const COMPLETED: u32 = 1;
/// `VIR_DOMAIN_JOB_STATS_KEEP_COMPLETED`.
const KEEP_COMPLETED: u32 = 2;

/// `VIR_DOMAIN_JOB_OPERATION_MIGRATION_IN`.
const OPERATION_IN: i32 = 4;

/// Number of the kind on the wire.
pub(super) fn kind(job: &Job) -> WireKind {
    match job.kind {
        JobKind::Unbounded => WireKind::Unbounded,
        JobKind::Completed => WireKind::Completed,
        JobKind::Failed => WireKind::Failed,
        JobKind::Cancelled => WireKind::Cancelled,
    }
}

/// Answers `domain_get_job_stats`; an ended job is told once and then forgotten, unless it is to be kept.
pub(super) fn stats(domain: &mut Domain, flags: u32) -> Result<Vec<u8>, Failure> {
    let wants_ended = flags & COMPLETED != 0;
    if !wants_ended && !domain.state.is_active() {
        return Err(Failure::Invalid("domain is not running"));
    }
    let job = domain.job.as_ref().filter(|job| is_running(job) != wants_ended);
    if !wants_ended {
        refuse_on_target(job)?;
    }
    let (kind, params) = job.map_or((WireKind::None, TypedParams::default()), |job| (kind(job), params(job)));
    if wants_ended && flags & KEEP_COMPLETED == 0 && job.is_some() {
        domain.job = None;
    }
    let params: List<(String, TypedValue), 64> = List(params.0);
    Ok(encode(&(kind.raw(), params)))
}

/// Answers `domain_get_job_info`.
pub(super) fn info(domain: &Domain) -> Result<Vec<u8>, Failure> {
    if !domain.state.is_active() {
        return Err(Failure::Invalid("domain is not running"));
    }
    let job = domain.job.as_ref().filter(|job| is_running(job));
    refuse_on_target(job)?;
    let kind = job.map_or(WireKind::None, kind);
    let elapsed = job.map_or(0, elapsed_ms);
    let memory = job.map_or([0; 3], memory);
    let mut payload = encode(&kind.raw());
    for number in [elapsed, 0].into_iter().chain(memory).chain(memory).chain([0; 3]) {
        payload.extend(encode(&number));
    }
    Ok(payload)
}

/// Answers `domain_abort_job`: the job is gone, and with it what it was doing.
pub(super) fn abort(domain: &mut Domain) -> Result<Vec<u8>, Failure> {
    if !domain.state.is_active() {
        return Err(Failure::Invalid("domain is not running"));
    }
    if !domain.job.as_ref().is_some_and(is_running) {
        return Err(Failure::Invalid("no job is active on the domain"));
    }
    domain.job = None;
    Ok(Vec::new())
}

fn is_running(job: &Job) -> bool {
    job.kind == JobKind::Unbounded
}

/// QEMU counts a migration on its source only.
fn refuse_on_target(job: Option<&Job>) -> Result<(), Failure> {
    if job.is_some_and(|job| job.operation == OPERATION_IN) { Err(Failure::StatsOfTarget) } else { Ok(()) }
}

/// The typed parameters of a job, as the QEMU driver gives them.
pub(super) fn params(job: &Job) -> TypedParams {
    let mut params = vec![("operation", TypedValue::Int(job.operation))];
    let mut add = |name, value| params.push((name, TypedValue::Ulong(value)));
    let [total, processed, remaining] = memory(job);
    add("time_elapsed", elapsed_ms(job));
    if let Some(downtime) = job.downtime_ms {
        add("downtime", downtime);
    }
    add("data_total", total);
    add("data_processed", processed);
    add("data_remaining", remaining);
    add("memory_total", total);
    add("memory_processed", processed);
    add("memory_remaining", remaining);
    if job.memory_bps > 0 {
        add("memory_bps", job.memory_bps);
    }
    add("memory_dirty_rate", job.memory_dirty_rate);
    add("memory_iteration", job.memory_iteration);
    add("memory_page_size", 4096);
    add("disk_total", 0);
    add("disk_processed", 0);
    add("disk_remaining", 0);
    if let Some(error) = &job.error {
        params.push(("errmsg", TypedValue::Text(error.clone())));
    }
    TypedParams::from_iter(params)
}

fn elapsed_ms(job: &Job) -> u64 {
    let running = || u64::try_from(job.started.elapsed().as_millis()).unwrap_or(u64::MAX);
    job.elapsed_ms.unwrap_or_else(running)
}

fn memory(job: &Job) -> [u64; 3] {
    [job.memory_total, job.memory_processed, job.memory_remaining]
}
