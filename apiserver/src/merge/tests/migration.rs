//! Migrations.

use c5c3_api::Migration;
use c5c3_api::migration::{JobType, MigrationStatus};
use jiff::Timestamp;
use uuid::Uuid;

use super::scene::at;
use crate::merge::{MigrationEnd, migration};
use crate::sources::picture::{JobKind, JobPicture};

const IN: i32 = 4;
const OUT: i32 = 5;

fn job(operation: i32, kind: JobKind, span: (i64, Option<i64>)) -> JobPicture {
    JobPicture {
        kind,
        operation: Some(operation),
        started: at(span.0),
        ended: span.1.map(at),
        error: None,
        numbers: [("memory_iteration".to_owned(), 3), ("memory_total".to_owned(), 1 << 30)].into(),
    }
}

fn join(ends: &[(&str, &JobPicture)], runs_on: Option<&str>, earlier: Option<Timestamp>) -> Migration {
    let ends: Vec<MigrationEnd<'_>> = ends.iter().map(|(host, job)| MigrationEnd { host, job }).collect();
    migration(Uuid::nil(), "ns", &ends, runs_on, earlier).unwrap()
}

fn status(ends: &[(&str, &JobPicture)], runs_on: Option<&str>) -> MigrationStatus {
    join(ends, runs_on, None).status.unwrap()
}

fn ends(status: &MigrationStatus) -> (Option<&str>, Option<&str>) {
    (status.origin.as_deref(), status.destination.as_deref())
}

#[test]
fn the_operation_says_which_end_is_which() {
    let (outgoing, incoming) =
        (job(OUT, JobKind::Unbounded, (1_000, None)), job(IN, JobKind::Unbounded, (1_001, None)));
    for order in [[("to", &incoming), ("from", &outgoing)], [("from", &outgoing), ("to", &incoming)]] {
        let status = status(&order, Some("from"));
        assert_eq!(ends(&status), (Some("from"), Some("to")));
        assert_eq!((status.type_, status.mem_iteration), (Some(JobType::Unbounded), Some(3)));
        assert_eq!(status.mem_total.as_deref(), Some("1.0 GiB"));
    }
}

#[test]
fn a_completed_migration_went_where_the_domain_runs_and_a_failed_one_nowhere() {
    let completed = job(OUT, JobKind::Completed, (1_000, Some(1_010)));
    assert_eq!(ends(&status(&[("from", &completed)], Some("to"))), (Some("from"), Some("to")));
    let failed = job(OUT, JobKind::Failed, (1_000, Some(1_010)));
    assert_eq!(ends(&status(&[("from", &failed)], Some("from"))), (Some("from"), None));
}

#[test]
fn a_migration_keeps_its_identity_whichever_end_is_heard_first() {
    let (outgoing, incoming) =
        (job(OUT, JobKind::Unbounded, (998, None)), job(IN, JobKind::Unbounded, (1_000, None)));
    let first = join(&[("to", &incoming)], None, None);
    let began = first.status.as_ref().unwrap().started.0;
    let both = join(&[("from", &outgoing), ("to", &incoming)], None, Some(began));
    assert_eq!(first.metadata.uid, both.metadata.uid);
    assert_eq!(first.metadata.creation_timestamp, both.metadata.creation_timestamp);
}

#[test]
fn a_domain_that_moves_on_is_another_migration_of_the_same_name() {
    let first = job(OUT, JobKind::Completed, (1_000, Some(1_010)));
    let earlier = join(&[("a", &first)], Some("b"), None);
    let onward = job(OUT, JobKind::Unbounded, (2_000, None));
    let later = join(&[("a", &first), ("b", &onward)], Some("b"), Some(at(1_000)));
    assert_eq!(earlier.metadata.name, later.metadata.name);
    assert_ne!(earlier.metadata.uid, later.metadata.uid);
    assert_eq!(ends(later.status.as_ref().unwrap()), (Some("b"), None));
}

#[test]
fn an_end_of_an_earlier_migration_is_not_the_other_end_of_a_later_one() {
    // b, between the two, cannot be heard.
    let left = job(OUT, JobKind::Completed, (1_000, Some(1_010)));
    let arrived = job(IN, JobKind::Completed, (2_000, Some(2_010)));
    assert_eq!(ends(&status(&[("a", &left), ("c", &arrived)], Some("c"))), (None, Some("c")));
}

#[test]
fn without_any_end_there_is_no_migration() {
    assert_eq!(migration(Uuid::nil(), "ns", &[], Some("a"), None), None);
}
