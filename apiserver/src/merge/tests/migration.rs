//! Migrations.

use c5c3_api::Migration;
use c5c3_api::migration::{JobType, MigrationStatus};
use uuid::Uuid;

use super::scene::at;
use crate::merge::{EarlierMigration, MigrationEnd, migration};
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

fn join(ends: &[(&str, &JobPicture)], active_on: &[&str], earlier: Option<&EarlierMigration>) -> Migration {
    let ends: Vec<MigrationEnd<'_>> = ends.iter().map(|(host, job)| MigrationEnd { host, job }).collect();
    migration(Uuid::nil(), "ns", &ends, active_on, earlier).unwrap()
}

fn status(ends: &[(&str, &JobPicture)], active_on: &[&str]) -> MigrationStatus {
    join(ends, active_on, None).status.unwrap()
}

/// What is remembered of it.
fn shown(migration: &Migration) -> EarlierMigration {
    let status = migration.status.as_ref().unwrap();
    let (origin, destination) = (status.origin.clone(), status.destination.clone());
    EarlierMigration { began: status.started.0, origin, destination }
}

fn ends(status: &MigrationStatus) -> (Option<&str>, Option<&str>) {
    (status.origin.as_deref(), status.destination.as_deref())
}

#[test]
fn the_operation_says_which_end_is_which() {
    let (outgoing, incoming) =
        (job(OUT, JobKind::Unbounded, (1_000, None)), job(IN, JobKind::Unbounded, (1_001, None)));
    for order in [[("to", &incoming), ("from", &outgoing)], [("from", &outgoing), ("to", &incoming)]] {
        let status = status(&order, &["from", "to"]);
        assert_eq!(ends(&status), (Some("from"), Some("to")));
        assert_eq!((status.type_, status.mem_iteration), (Some(JobType::Unbounded), Some(3)));
        assert_eq!(status.mem_total.as_deref(), Some("1.0 GiB"));
    }
}

#[test]
fn a_completed_migration_went_where_the_domain_runs_and_a_failed_one_nowhere() {
    let completed = job(OUT, JobKind::Completed, (1_000, Some(1_010)));
    assert_eq!(ends(&status(&[("from", &completed)], &["to"])), (Some("from"), Some("to")));
    let failed = job(OUT, JobKind::Failed, (1_000, Some(1_010)));
    assert_eq!(ends(&status(&[("from", &failed)], &["from"])), (Some("from"), None));
}

#[test]
fn a_migration_keeps_its_identity_whichever_end_is_heard_first() {
    let (outgoing, incoming) =
        (job(OUT, JobKind::Unbounded, (998, None)), job(IN, JobKind::Unbounded, (1_000, None)));
    let first = join(&[("to", &incoming)], &["to"], None);
    let both = join(&[("from", &outgoing), ("to", &incoming)], &[], Some(&shown(&first)));
    assert_eq!(first.metadata.uid, both.metadata.uid);
    assert_eq!(first.metadata.creation_timestamp, both.metadata.creation_timestamp);
}

#[test]
fn a_domain_that_moves_on_is_another_migration_of_the_same_name() {
    let first = job(OUT, JobKind::Completed, (1_000, Some(1_010)));
    let earlier = join(&[("a", &first)], &["b"], None);
    let onward = job(OUT, JobKind::Unbounded, (2_000, None));
    let later = join(&[("a", &first), ("b", &onward)], &["b"], Some(&shown(&earlier)));
    assert_eq!(earlier.metadata.name, later.metadata.name);
    assert_ne!(earlier.metadata.uid, later.metadata.uid);
    assert_eq!(ends(later.status.as_ref().unwrap()), (Some("b"), None));
}

#[test]
fn an_end_of_an_earlier_migration_is_not_the_other_end_of_a_later_one() {
    // b, between the two, cannot be heard.
    let left = job(OUT, JobKind::Completed, (1_000, Some(1_010)));
    let arrived = job(IN, JobKind::Completed, (2_000, Some(2_010)));
    assert_eq!(ends(&status(&[("a", &left), ("c", &arrived)], &["c"])), (None, Some("c")));
}

#[test]
fn without_any_end_there_is_no_migration() {
    assert_eq!(migration(Uuid::nil(), "ns", &[], &["a"], None), None);
}

#[test]
fn the_end_that_says_nothing_is_where_else_the_domain_is_active() {
    let running = job(OUT, JobKind::Unbounded, (1_000, None));
    let ends_of = |active_on: &[&str]| {
        let status = status(&[("from", &running)], active_on);
        (status.origin, status.destination)
    };
    let from = Some("from".to_owned());
    assert_eq!(ends_of(&["from", "to"]), (from.clone(), Some("to".to_owned())));
    assert_eq!(ends_of(&["from"]), (from.clone(), None), "it has not begun to arrive");
    assert_eq!(ends_of(&["from", "to", "other"]), (from, None), "two others prove nothing");
    let incoming = job(IN, JobKind::Unbounded, (1_000, None));
    assert_eq!(ends(&status(&[("to", &incoming)], &["from", "to"])), (Some("from"), Some("to")));
}

#[test]
fn a_migration_that_failed_still_says_where_it_was_going() {
    let running = job(OUT, JobKind::Unbounded, (1_000, None));
    let before = join(&[("from", &running)], &["from", "to"], None);
    for kind in [JobKind::Failed, JobKind::Cancelled] {
        let over = job(OUT, kind, (1_000, Some(1_010)));
        let after = join(&[("from", &over)], &["from"], Some(&shown(&before)));
        assert_eq!(ends(after.status.as_ref().unwrap()), (Some("from"), Some("to")));
        assert_eq!(before.metadata.uid, after.metadata.uid);
    }
}
