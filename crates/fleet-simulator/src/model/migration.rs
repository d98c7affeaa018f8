//! A live migration that takes its time: passes over memory, numbers that move, the hand-over, the result.
//!
//! Both ends show the job while it runs, as libvirt does, so that what joins the ends has something to join.

use std::time::{Duration, Instant};

use uuid::Uuid;

use super::host::lifecycle;
use super::{Domain, DomainState, Host, HostChange, Job, JobKind};

/// How often the numbers move.
const STEP: Duration = Duration::from_millis(100);
/// Passes over memory.
const PASSES: u64 = 5;
/// `VIR_DOMAIN_JOB_OPERATION_MIGRATION_IN` and `…_OUT`.
const OPERATION_IN: i32 = 4;
const OPERATION_OUT: i32 = 5;
/// Guest pages in bytes.
const PAGE: u64 = 4096;
/// Down time of every migration.
const DOWNTIME_MS: u64 = 37;

/// Migrates a running domain in about `duration`: job numbers on both ends every 100 ms, an iteration event per pass, the
/// hand-over, then the end of the job. `false` when the domain does not run at `from`, at the start or at the end, or when its
/// job is taken away meanwhile: so a migration is cancelled.
pub async fn migrate(from: &Host, to: &Host, uuid: Uuid, duration: Duration) -> bool {
    let Some(total) = begin(from, to, uuid) else { return false };
    let started = Instant::now();
    let mut pass = 0;
    loop {
        let done = fraction(started.elapsed(), duration);
        let progress = Progress::at(total, done, started.elapsed());
        if !advance(from, &progress, uuid, progress.iteration > pass) {
            forget_arriving(to, uuid);
            return false;
        }
        advance(to, &progress, uuid, false);
        pass = progress.iteration;
        if done >= 1.0 {
            break;
        }
        tokio::time::sleep(STEP.min(duration)).await;
    }
    finish(from, to, uuid, started)
}

/// Job numbers at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Progress {
    iteration: u64,
    total: u64,
    processed: u64,
    remaining: u64,
    bps: u64,
    dirty_rate: u64,
}

impl Progress {
    /// After `done` (0 to 1) of the whole: each pass has half the memory of the one before, so what remains is a
    /// saw-tooth that falls.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "simulated byte counts need no more precision than a double has, and are never negative"
    )]
    fn at(total: u64, done: f64, elapsed: Duration) -> Self {
        let place = (done * PASSES as f64).min(PASSES as f64 - 1e-9);
        let pass = place.floor();
        let of_pass = total as f64 / 2_f64.powf(pass);
        let remaining = if done >= 1.0 { 0.0 } else { of_pass * (1.0 - place.fract()) };
        let sent_before: f64 = (0..pass as u32).map(|pass| total as f64 / 2_f64.powf(f64::from(pass))).sum();
        let processed = sent_before + of_pass - remaining;
        Self {
            iteration: pass as u64 + 1,
            total,
            processed: processed as u64,
            remaining: remaining as u64,
            bps: (processed / elapsed.as_secs_f64().max(0.1)) as u64,
            dirty_rate: total / PAGE / 100,
        }
    }
}

fn fraction(elapsed: Duration, duration: Duration) -> f64 {
    if duration.is_zero() { 1.0 } else { (elapsed.as_secs_f64() / duration.as_secs_f64()).min(1.0) }
}

/// Puts the job on both ends; gives the bytes to move.
fn begin(from: &Host, to: &Host, uuid: Uuid) -> Option<u64> {
    let leaving = from.change(|state, _| {
        let domain = state.domains.get_mut(&uuid).filter(|domain| domain.state.is_active())?;
        domain.job = Some(job(domain, OPERATION_OUT, &to.name));
        Some(domain.clone())
    })?;
    let total = leaving.memory_kib * 1024;
    to.change(|state, happened| {
        let mut arriving = leaving.clone();
        arriving.activate(state.next_domain_id, DomainState::PAUSED_MIGRATION);
        arriving.job = Some(job(&leaving, OPERATION_IN, &from.name));
        state.next_domain_id += 1;
        happened.push(lifecycle(&arriving, 2, 1));
        state.domains.insert(uuid, arriving);
    });
    Some(total)
}

fn job(domain: &Domain, operation: i32, peer: &str) -> Job {
    Job {
        kind: JobKind::Unbounded,
        operation,
        started: Instant::now(),
        elapsed_ms: None,
        memory_total: domain.memory_kib * 1024,
        memory_processed: 0,
        memory_remaining: domain.memory_kib * 1024,
        memory_bps: 0,
        memory_dirty_rate: 0,
        memory_iteration: 0,
        downtime_ms: None,
        error: None,
        peer: peer.to_owned(),
    }
}

/// Writes the numbers into the job on one end; `false` when domain or job is gone there: stopped or cancelled.
fn advance(host: &Host, progress: &Progress, uuid: Uuid, new_pass: bool) -> bool {
    host.change(|state, happened| {
        let Some(domain) = state.domains.get_mut(&uuid).filter(|domain| domain.state.is_active()) else {
            return false;
        };
        let Some(job) = domain.job.as_mut() else { return false };
        job.memory_total = progress.total;
        job.memory_processed = progress.processed;
        job.memory_remaining = progress.remaining;
        job.memory_bps = progress.bps;
        job.memory_dirty_rate = progress.dirty_rate;
        job.memory_iteration = progress.iteration;
        if new_pass {
            let iteration = i32::try_from(progress.iteration).unwrap_or(i32::MAX);
            happened.push(HostChange::MigrationIteration { domain: Box::new(domain.clone()), iteration });
        }
        true
    })
}

/// The source is gone or stays: so what arrived goes.
fn forget_arriving(to: &Host, uuid: Uuid) {
    to.change(|state, happened| {
        if let Some(mut arriving) = state.domains.remove(&uuid) {
            arriving.deactivate(DomainState { state: 5, reason: 6 });
            happened.push(lifecycle(&arriving, 5, 5));
        }
    });
}

/// Hands the domain over and ends the job on both ends, with the events of libvirt in libvirt's order.
fn finish(from: &Host, to: &Host, uuid: Uuid, started: Instant) -> bool {
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let paused = from.change(|state, happened| {
        let Some(domain) = state.domains.get_mut(&uuid).filter(|domain| domain.state.is_active()) else {
            return false;
        };
        domain.state = DomainState::PAUSED_MIGRATION;
        happened.push(lifecycle(domain, 3, 1));
        true
    });
    if !paused {
        forget_arriving(to, uuid);
        return false;
    }
    to.change(|state, happened| {
        if let Some(domain) = state.domains.get_mut(&uuid) {
            complete(domain, elapsed_ms);
            domain.state = DomainState::MIGRATED_IN;
            if domain.persistent {
                happened.push(lifecycle(domain, 0, 0));
            }
            happened.push(lifecycle(domain, 4, 1));
        }
    });
    from.change(|state, happened| {
        if let Some(mut gone) = state.domains.remove(&uuid) {
            complete(&mut gone, elapsed_ms);
            gone.deactivate(DomainState::SHUTOFF_MIGRATED);
            // No "undefined" follows, though the domain is gone: so does libvirtd 9.0 with --undefinesource.
            happened.push(lifecycle(&gone, 5, 3));
            happened.push(HostChange::JobCompleted(Box::new(gone)));
        }
    });
    true
}

fn complete(domain: &mut Domain, elapsed_ms: u64) {
    if let Some(job) = domain.job.as_mut() {
        job.kind = JobKind::Completed;
        job.elapsed_ms = Some(elapsed_ms);
        job.downtime_ms = Some(DOWNTIME_MS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_remains_is_a_saw_tooth_that_ends_at_zero() {
        let second = Duration::from_secs(1);
        let at = |done| Progress::at(1 << 30, done, second);
        assert_eq!((at(0.0).iteration, at(0.0).remaining), (1, 1 << 30));
        assert!(at(0.19).remaining < at(0.21).remaining, "a new pass starts over");
        assert_eq!((at(1.0).iteration, at(1.0).remaining), (PASSES, 0));
        assert!(at(1.0).processed > 1 << 30, "pages that are sent again count again");
    }
}
