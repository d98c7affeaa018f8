//! Migration jobs of one host: polled while they run, kept for a while after they ended.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use libvirt_rpc::{JobKind as RpcJobKind, JobStats};
use uuid::Uuid;

use crate::sources::picture::{JobKind, JobPicture};

/// libvirt's number of the operation of an arriving domain.
pub(super) const INCOMING: i32 = 4;
/// libvirt's number of the operation of a leaving domain.
pub(super) const OUTGOING: i32 = 5;

/// How many polls in a row may find no job where one ran before it counts as ended: the event that says how it ended
/// comes sooner, unless the connection was lost in between.
const SILENT_POLLS: u8 = 5;

/// The jobs.
#[derive(Debug)]
pub(super) struct Jobs {
    kept: Duration,
    known: BTreeMap<Uuid, JobPicture>,
    /// Domains that may have a job (something was heard of one, and it has not been seen ended), with the number of
    /// polls in a row that found none.
    suspected: BTreeMap<Uuid, u8>,
}

/// What libvirtd says about the job of a domain.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    /// `None`: there is no job.
    kind: Option<JobKind>,
    operation: Option<i32>,
    error: Option<String>,
    numbers: BTreeMap<String, u64>,
}

impl Jobs {
    pub(super) fn new(kept: Duration) -> Self {
        Self { kept, known: BTreeMap::new(), suspected: BTreeMap::new() }
    }

    /// Domains whose job should be asked for each second.
    pub(super) fn to_poll(&self) -> Vec<Uuid> {
        self.suspected.keys().copied().collect()
    }

    /// Something was heard that a running migration makes a host say.
    pub(super) fn suspect(&mut self, domain: Uuid) {
        self.suspected.entry(domain).or_default();
    }

    /// What a poll of a domain's job said.
    pub(super) fn polled(&mut self, domain: Uuid, told: Told, now: Timestamp) {
        match told.kind {
            Some(JobKind::Bounded | JobKind::Unbounded) if !told.is_migration() => {
                self.suspected.remove(&domain);
            }
            Some(kind @ (JobKind::Bounded | JobKind::Unbounded)) => {
                self.suspected.insert(domain, 0);
                self.record(domain, kind, told, now);
            }
            _ => self.polled_none(domain, now),
        }
    }

    /// There is no job, or none any more. How it ended is told by an event; when there is none, by where the domain is. It is
    /// here, so one that arrives has arrived, and one that should leave has not left: libvirtd 9.0 says nothing at all
    /// on the source when a migration is cancelled.
    fn polled_none(&mut self, domain: Uuid, now: Timestamp) {
        let Some(job) = self.known.get(&domain).filter(|job| job.ended.is_none()) else {
            self.suspected.remove(&domain);
            return;
        };
        let kind = if job.operation == Some(INCOMING) { JobKind::Completed } else { JobKind::Cancelled };
        let silent = self.suspected.entry(domain).or_default();
        *silent += 1;
        if *silent >= SILENT_POLLS {
            self.end(domain, kind, None, now);
        }
    }

    /// The daemon said that a job ended, with its last numbers.
    pub(super) fn completed(&mut self, domain: Uuid, told: Told, now: Timestamp) {
        if told.is_migration() {
            let kind = told.kind.unwrap_or(JobKind::Completed);
            self.record(domain, kind, told, now);
            self.end(domain, kind, None, now);
        }
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

    /// Forgets jobs that nobody shows any more, and tells what is left.
    pub(super) fn current(&mut self, now: Timestamp) -> BTreeMap<Uuid, JobPicture> {
        let kept = jiff::SignedDuration::try_from(self.kept).unwrap_or(jiff::SignedDuration::MAX);
        self.known.retain(|_, job| job.ended.is_none_or(|ended| now.duration_since(ended) < kept));
        self.known.clone()
    }

    fn record(&mut self, domain: Uuid, kind: JobKind, told: Told, now: Timestamp) {
        let Told { operation, numbers, error, .. } = told;
        let elapsed = numbers.get("time_elapsed").copied().unwrap_or_default();
        let elapsed = jiff::SignedDuration::from_millis(i64::try_from(elapsed).unwrap_or_default());
        let computed = now.checked_sub(elapsed).unwrap_or(now);
        // The start is fixed at first sight: computed anew from each poll it would wander by the time of the call. A
        // job that began before the known one ended is that one, told of once more.
        let started = match self.known.get(&domain) {
            Some(job) if job.ended.is_none_or(|ended| computed < ended) => job.started,
            _ => computed,
        };
        self.known.insert(domain, JobPicture { kind, operation, started, ended: None, error, numbers });
    }
}

impl Told {
    /// Saves, dumps and snapshots are jobs too, but no migrations. Some drivers do not say which it is.
    fn is_migration(&self) -> bool {
        self.operation.is_none_or(|operation| operation == INCOMING || operation == OUTGOING)
    }
}

impl From<&JobStats> for Told {
    fn from(stats: &JobStats) -> Self {
        let numbers = stats.params.0.iter();
        Self {
            kind: picture_kind(stats.kind),
            operation: stats.operation.map(|operation| operation.raw()),
            error: stats.error_message().map(str::to_owned),
            numbers: numbers.filter_map(|(name, value)| Some((name.clone(), value.as_u64()?))).collect(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: Uuid = Uuid::from_u128(7);

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn jobs() -> Jobs {
        Jobs::new(Duration::from_secs(60))
    }

    fn running(operation: i32, elapsed_ms: u64) -> Told {
        Told {
            kind: Some(JobKind::Unbounded),
            operation: Some(operation),
            numbers: [("time_elapsed".to_owned(), elapsed_ms)].into(),
            ..Told::default()
        }
    }

    fn job(jobs: &mut Jobs, now: i64) -> Option<JobPicture> {
        jobs.current(at(now)).remove(&DOMAIN)
    }

    #[test]
    fn the_start_is_fixed_at_first_sight() {
        let mut jobs = jobs();
        jobs.polled(DOMAIN, running(OUTGOING, 2_000), at(100));
        jobs.polled(DOMAIN, running(OUTGOING, 2_900), at(101));
        assert_eq!(job(&mut jobs, 101).unwrap().started, at(98));
    }

    #[test]
    fn the_last_numbers_of_a_job_that_has_ended_are_not_another_job() {
        let mut jobs = jobs();
        jobs.polled(DOMAIN, running(OUTGOING, 0), at(100));
        jobs.end(DOMAIN, JobKind::Completed, Some(OUTGOING), at(108));
        let last = Told { kind: Some(JobKind::Completed), ..running(OUTGOING, 7_000) };
        jobs.completed(DOMAIN, last, at(109));
        let job = job(&mut jobs, 109).unwrap();
        assert_eq!((job.started, job.kind), (at(100), JobKind::Completed));
        assert_eq!(job.numbers["time_elapsed"], 7_000);
    }

    #[test]
    fn a_job_whose_end_was_not_heard_ends_by_where_the_domain_is() {
        for (operation, kind) in [(OUTGOING, JobKind::Cancelled), (INCOMING, JobKind::Completed)] {
            let mut jobs = jobs();
            jobs.polled(DOMAIN, running(operation, 0), at(100));
            for second in 101..105 {
                jobs.polled(DOMAIN, Told::default(), at(second));
                assert_eq!(job(&mut jobs, second).unwrap().ended, None, "an event may still say how");
            }
            jobs.polled(DOMAIN, Told::default(), at(105));
            let job = job(&mut jobs, 105).unwrap();
            assert_eq!((job.kind, job.ended), (kind, Some(at(105))));
            assert!(jobs.to_poll().is_empty());
        }
    }

    #[test]
    fn a_migration_that_was_over_before_it_was_polled_is_seen_and_a_dump_is_not() {
        let mut jobs = jobs();
        jobs.suspect(DOMAIN);
        jobs.end(DOMAIN, JobKind::Completed, Some(INCOMING), at(100));
        assert_eq!(job(&mut jobs, 100).unwrap().kind, JobKind::Completed);
        let dump = Uuid::from_u128(8);
        jobs.polled(dump, running(6, 0), at(100));
        assert!(!jobs.current(at(100)).contains_key(&dump));
    }

    #[test]
    fn an_ended_job_is_forgotten_and_a_running_one_never() {
        let mut jobs = jobs();
        jobs.polled(DOMAIN, running(OUTGOING, 0), at(100));
        assert!(job(&mut jobs, 100_000).is_some());
        jobs.end(DOMAIN, JobKind::Cancelled, None, at(100_000));
        assert!(job(&mut jobs, 100_059).is_some());
        assert!(job(&mut jobs, 100_060).is_none());
    }
}
