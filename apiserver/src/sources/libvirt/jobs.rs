//! Migration jobs of one host: polled while they run, kept for a while after they ended.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use libvirt_rpc::{JobKind as RpcJobKind, JobStats};
use uuid::Uuid;

use crate::sources::picture::{JobKind, JobPicture};

/// libvirt's number of the operation of an arriving domain.
pub(super) const INCOMING: i32 = 4;
/// libvirt's number of the operation of a leaving domain.
pub(super) const OUTGOING: i32 = 5;

/// The jobs.
#[derive(Debug)]
pub(super) struct Jobs {
    kept: Duration,
    known: BTreeMap<Uuid, JobPicture>,
    /// Domains that may have a job: something was heard of one, and it has not been seen ended.
    suspected: BTreeSet<Uuid>,
}

impl Jobs {
    pub(super) fn new(kept: Duration) -> Self {
        Self { kept, known: BTreeMap::new(), suspected: BTreeSet::new() }
    }

    /// Domains whose job should be asked for each second.
    pub(super) fn to_poll(&self) -> Vec<Uuid> {
        self.suspected.iter().copied().collect()
    }

    /// Something was heard that a running migration makes a host say.
    pub(super) fn suspect(&mut self, domain: Uuid) {
        self.suspected.insert(domain);
    }

    /// What a poll of a domain's job said.
    pub(super) fn polled(&mut self, domain: Uuid, stats: &JobStats, now: Timestamp) {
        match picture_kind(stats.kind) {
            Some(kind @ (JobKind::Bounded | JobKind::Unbounded)) => {
                let operation = stats.operation.map(|operation| operation.raw());
                // Saves, dumps and snapshots are jobs too, but no migrations.
                if operation.is_some_and(|operation| operation != INCOMING && operation != OUTGOING) {
                    self.suspected.remove(&domain);
                    return;
                }
                self.record(domain, kind, operation, stats, now);
            }
            // No job (any more): how it ended is told by an event, or by where the domain is.
            _ => {
                let running = self.known.get(&domain).is_some_and(|job| job.ended.is_none());
                if !running {
                    self.suspected.remove(&domain);
                }
            }
        }
    }

    /// The daemon said that a job ended, with its last numbers.
    pub(super) fn completed(&mut self, domain: Uuid, stats: &JobStats, now: Timestamp) {
        let operation = stats.operation.map(|operation| operation.raw());
        if operation.is_some_and(|operation| operation != INCOMING && operation != OUTGOING) {
            return;
        }
        let kind = picture_kind(stats.kind).unwrap_or(JobKind::Completed);
        self.record(domain, kind, operation, stats, now);
        self.end(domain, kind, None, now);
    }

    /// The job of a domain ended in a way that was seen otherwise: `kind` counts unless the daemon already said how.
    pub(super) fn end(&mut self, domain: Uuid, kind: JobKind, operation: Option<i32>, now: Timestamp) {
        self.suspected.remove(&domain);
        let ended = JobPicture {
            kind,
            operation,
            started: now,
            ended: Some(now),
            error: None,
            numbers: BTreeMap::new(),
        };
        match self.known.get_mut(&domain) {
            Some(job) if job.ended.is_none() => {
                job.kind = kind;
                job.ended = Some(now);
            }
            // A migration that was over before it was first polled is still one that people want to see.
            None if operation.is_some() => {
                self.known.insert(domain, ended);
            }
            _ => {}
        }
    }

    /// Forgets jobs that ended long ago, and tells what is left.
    pub(super) fn current(&mut self, now: Timestamp) -> BTreeMap<Uuid, JobPicture> {
        let kept = jiff::SignedDuration::try_from(self.kept).unwrap_or(jiff::SignedDuration::MAX);
        self.known.retain(|_, job| job.ended.is_none_or(|ended| now.duration_since(ended) < kept));
        self.known.clone()
    }

    fn record(
        &mut self,
        domain: Uuid,
        kind: JobKind,
        operation: Option<i32>,
        stats: &JobStats,
        now: Timestamp,
    ) {
        let numbers: BTreeMap<String, u64> =
            stats.params.0.iter().filter_map(|(name, value)| Some((name.clone(), value.as_u64()?))).collect();
        let elapsed = numbers.get("time_elapsed").copied().unwrap_or_default();
        let elapsed = jiff::SignedDuration::from_millis(i64::try_from(elapsed).unwrap_or_default());
        // The start is fixed at first sight: computed anew from each poll it would wander by the time of the call.
        let started = match self.known.get(&domain) {
            Some(job) if job.ended.is_none() => job.started,
            _ => now.checked_sub(elapsed).unwrap_or(now),
        };
        let error = stats.error_message().map(str::to_owned);
        self.known.insert(domain, JobPicture { kind, operation, started, ended: None, error, numbers });
    }
}

fn picture_kind(kind: RpcJobKind) -> Option<JobKind> {
    match kind {
        RpcJobKind::Bounded => Some(JobKind::Bounded),
        RpcJobKind::Unbounded => Some(JobKind::Unbounded),
        RpcJobKind::Completed => Some(JobKind::Completed),
        RpcJobKind::Failed => Some(JobKind::Failed),
        RpcJobKind::Cancelled => Some(JobKind::Cancelled),
        _ => None,
    }
}
