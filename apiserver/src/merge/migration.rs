//! A Migration from the jobs of a domain at both ends.

use c5c3_api::migration::{JobOperation, JobType, MigrationSpec, MigrationStatus};
use c5c3_api::{Migration, format};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use uuid::Uuid;

use super::identity::{time, uid};
use crate::sources::picture::{JobKind, JobPicture};

/// libvirt's numbers of the two migration operations.
const INCOMING: i32 = 4;

/// How far two hosts' tellings of the same moment may be apart.
const DOUBT: SignedDuration = SignedDuration::from_secs(3);

/// What one host says about the migration of a domain.
#[derive(Debug, Clone, Copy)]
pub struct MigrationEnd<'a> {
    /// The host.
    pub host: &'a str,
    /// The job there.
    pub job: &'a JobPicture,
}

/// What is remembered of a migration that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierMigration {
    /// When it began.
    pub began: Timestamp,
    /// Where it came from.
    pub origin: Option<String>,
    /// Where it goes.
    pub destination: Option<String>,
}

/// The Migration of a domain, from the ends that are known; `None` without any.
///
/// The source has the better numbers, so its job is shown; which end is which is read from the operation, never from
/// who reported first. QEMU tells of a migration on its source only: the other end is then the one other host of
/// `active_on`, where the domain is active (it waits there for its memory). `earlier` is the migration that was shown
/// before: the same one keeps when it began, and with that its UID, and ends that are not to be seen any more.
pub fn migration(
    domain: Uuid,
    namespace: &str,
    ends: &[MigrationEnd<'_>],
    active_on: &[&str],
    earlier: Option<&EarlierMigration>,
) -> Option<Migration> {
    let (source, target) = pair(ends);
    let shown = source.or(target)?;
    let known = earlier
        .filter(|earlier| [source, target].into_iter().flatten().any(|end| covers(end.job, earlier.began)));
    let started = known.map_or(shown.job.started, |earlier| earlier.began);
    let mut status = MigrationStatus::began(time(started));
    let took_place = !matches!(shown.job.kind, JobKind::Failed | JobKind::Cancelled);
    let elsewhere = || {
        let mut others = active_on.iter().filter(|host| **host != shown.host);
        others.next().filter(|_| took_place && others.next().is_none()).map(|host| (*host).to_owned())
    };
    status.origin = source
        .map(|end| end.host.to_owned())
        .or_else(|| elsewhere().filter(|_| is_running(shown.job)))
        .or_else(|| known.and_then(|earlier| earlier.origin.clone()));
    status.destination = target
        .map(|end| end.host.to_owned())
        .or_else(elsewhere)
        .or_else(|| known.and_then(|earlier| earlier.destination.clone()));
    status.type_ = Some(match shown.job.kind {
        JobKind::Bounded => JobType::Bounded,
        JobKind::Unbounded => JobType::Unbounded,
        JobKind::Completed => JobType::Completed,
        JobKind::Failed => JobType::Failed,
        JobKind::Cancelled => JobType::Cancelled,
    });
    status.operation = shown.job.operation.map(JobOperation::from_libvirt);
    status.err_msg.clone_from(&shown.job.error);
    numbers(shown.job, &mut status);
    let name = domain.to_string();
    let metadata = ObjectMeta {
        uid: Some(uid("hypervisor.c5c3.io", "Migration", namespace, &name, &started.as_second().to_string())),
        name: Some(name),
        namespace: Some(namespace.to_owned()),
        creation_timestamp: Some(time(started)),
        generation: Some(1),
        ..ObjectMeta::default()
    };
    Some(Migration { metadata, spec: MigrationSpec::default(), status: Some(status) })
}

/// The two ends of the newest migration. An end of an earlier one, which a host that was left or unreachable still
/// tells of, is not the other end of a later one: the two jobs have to overlap.
fn pair<'a>(ends: &[MigrationEnd<'a>]) -> (Option<MigrationEnd<'a>>, Option<MigrationEnd<'a>>) {
    let Some(newest) = ends.iter().max_by_key(|end| end.job.started) else { return (None, None) };
    let of = |incoming: bool| {
        ends.iter()
            .filter(|end| is_incoming(end) == incoming && overlap(end.job, newest.job))
            .max_by_key(|end| end.job.started)
            .copied()
    };
    (of(false), of(true))
}

fn is_running(job: &JobPicture) -> bool {
    matches!(job.kind, JobKind::Bounded | JobKind::Unbounded)
}

fn is_incoming(end: &MigrationEnd<'_>) -> bool {
    end.job.operation == Some(INCOMING)
}

fn overlap(one: &JobPicture, other: &JobPicture) -> bool {
    covers(one, other.started) || covers(other, one.started)
}

/// Whether a moment is within the job, give or take what two clocks' and two polls' worth of doubt amounts to.
fn covers(job: &JobPicture, moment: Timestamp) -> bool {
    let from = job.started.saturating_sub(DOUBT).unwrap_or(Timestamp::MIN);
    let until =
        job.ended.map_or(Timestamp::MAX, |ended| ended.saturating_add(DOUBT).unwrap_or(Timestamp::MAX));
    (from..=until).contains(&moment)
}

fn numbers(job: &JobPicture, status: &mut MigrationStatus) {
    let number = |name: &str| job.numbers.get(name).copied();
    let span = |name: &str| number(name).map(format::go_duration);
    let bytes = |name: &str| number(name).map(format::iec_bytes);
    let rate = |name: &str| number(name).map(format::iec_rate);
    status.time_elapsed = span("time_elapsed");
    status.time_remaining = span("time_remaining");
    status.downtime = span("downtime");
    status.setup_time = span("setup_time");
    status.data_total = bytes("data_total");
    status.data_processed = bytes("data_processed");
    status.data_remaining = bytes("data_remaining");
    status.mem_total = bytes("memory_total");
    status.mem_processed = bytes("memory_processed");
    status.mem_remaining = bytes("memory_remaining");
    status.mem_normal_bytes = bytes("memory_normal_bytes");
    status.mem_page_size = bytes("memory_page_size");
    status.mem_bps = rate("memory_bps");
    status.mem_dirty_rate = number("memory_dirty_rate").map(format::page_rate);
    status.mem_iteration = number("memory_iteration");
    status.mem_constant = number("memory_constant");
    status.mem_normal = number("memory_normal");
    status.mem_postcopy_requests = number("memory_postcopy_requests");
    status.disk_total = bytes("disk_total");
    status.disk_processed = bytes("disk_processed");
    status.disk_remaining = bytes("disk_remaining");
    status.disk_bps = rate("disk_bps");
    status.auto_converge_throttle = number("auto_converge_throttle").map(format::percent);
}
