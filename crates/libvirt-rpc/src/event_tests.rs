use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::wire::{List, encode};
use crate::{StoppedDetail, TypedValue};

fn domain() -> DomainRef {
    DomainRef { name: "instance-1".to_owned(), uuid: Uuid::from_u128(7), id: Some(3) }
}

fn job_completed(params: Vec<(String, TypedValue)>) -> JobStats {
    let payload = encode(&(0, domain(), List::<_, 64>(params)));
    match Event::parse(Procedure::EventJobCompleted.raw(), &payload) {
        Ok(Some(Event::JobCompleted { job, .. })) => job,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stop_by_migration_is_told_from_others() {
    let payload = encode(&(5, domain(), 5, 3));
    let event = Event::parse(Procedure::EventLifecycle.raw(), &payload).unwrap().unwrap();
    let stopped = LifecycleEvent::Stopped(StoppedDetail::Migrated);
    assert_eq!(event, Event::Lifecycle { domain: domain(), event: stopped });
}

#[test]
fn an_io_error_has_a_reason_only_where_it_was_asked_for() {
    let body = (domain(), "/var/lib/disk".to_owned(), "virtio-disk0".to_owned(), 1);
    let plain = encode(&(5, body.clone()));
    let reasoned = encode(&(5, body, "enospc".to_owned()));
    let reason = |procedure: Procedure, payload: &[u8]| match Event::parse(procedure.raw(), payload) {
        Ok(Some(Event::IoError { reason, action: IoErrorAction::Paused, .. })) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(Procedure::EventIoError, &plain), None);
    assert_eq!(reason(Procedure::EventIoErrorReason, &reasoned).as_deref(), Some("enospc"));
}

#[test]
fn a_job_with_an_error_message_failed() {
    let operation = ("operation".to_owned(), TypedValue::Int(5));
    let done = job_completed(vec![operation.clone()]);
    assert_eq!((done.kind, done.operation), (JobKind::Completed, Some(crate::JobOperation::MigrationOut)));
    let failed =
        job_completed(vec![operation, ("errmsg".to_owned(), TypedValue::Text("refused".to_owned()))]);
    assert_eq!((failed.kind, failed.error_message()), (JobKind::Failed, Some("refused")));
    assert_eq!(failed.memory_total(), None);
}

#[test]
fn the_announcement_of_a_close_has_no_callback() {
    let event = Event::parse(Procedure::EventConnectionClosed.raw(), &encode(&1)).unwrap();
    assert_eq!(event, Some(Event::ConnectionClosing { reason: 1 }));
}

#[test]
fn unknown_messages_are_skipped_whatever_they_hold() {
    assert_eq!(Event::parse(9999, b"anything"), Ok(None));
    assert_eq!(Event::parse(Procedure::ConnectOpen.raw(), b""), Ok(None));
}

#[test]
fn known_messages_with_bytes_left_over_are_errors() {
    let payload = encode(&(5, domain(), 5, (3, 0)));
    assert_eq!(Event::parse(Procedure::EventLifecycle.raw(), &payload), Err(DecodeError::LeftOver(4)));
}

proptest! {
    #[test]
    fn any_bytes_are_an_event_or_an_error(procedure in 300..460_i32, bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Event::parse(procedure, &bytes);
    }

    #[test]
    fn any_body_after_a_good_reference_is_an_event_or_an_error(
        procedure in 316..365_i32, numbers in proptest::collection::vec(0_u32..8, 0..30),
    ) {
        let mut payload = encode(&(1, domain()));
        payload.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
        let _ = Event::parse(procedure, &payload);
    }
}
