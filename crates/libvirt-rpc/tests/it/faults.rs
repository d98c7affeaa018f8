//! What the simulator can do wrong on purpose, and how it looks from here.

use std::time::{Duration, Instant};

use fleet_simulator::model::{Fault, Fleet, FleetOptions, migrate};
use libvirt_rpc::{
    CallError, CloseReason, Connection, DomainFilter, DomainRef, Event, EventKind, JobKind, JobOperation,
    LifecycleEvent, OpenError, ResumedDetail, StoppedDetail,
};

use crate::target::{SOON, Target, simulator_tcp, simulator_unix, wait_for};

async fn target() -> Target {
    simulator_tcp().await.pop().unwrap()
}

fn set_fault(target: &Target, fault: Fault) {
    target.simulated.as_ref().unwrap().host.set_faults(|faults| faults.libvirt = fault);
}

#[tokio::test]
async fn a_daemon_that_accepts_and_never_answers_times_out_at_open() {
    let target = target().await;
    set_fault(&target, Fault::Stall);
    let mut options = target.options();
    options.connect_timeout = Duration::from_millis(200);
    let error = Connection::open(&target.endpoint, options).await.unwrap_err();
    assert!(matches!(&error, OpenError::Timeout { step: "its authentication", .. }), "{error:?}");
}

#[tokio::test]
async fn a_call_without_an_answer_ends_at_its_deadline_and_keepalive_ends_the_connection() {
    let target = target().await;
    let mut options = target.options();
    options.call_timeout = Duration::from_millis(100);
    options.keepalive_interval = Some(Duration::from_millis(100));
    options.keepalive_count = 2;
    let (connection, _events) = target.open_with(options).await;
    set_fault(&target, Fault::Stall);
    let error = connection.lib_version().await.unwrap_err();
    assert!(matches!(error, CallError::Timeout { .. }), "{error:?}");
    assert!(connection.is_alive(), "a deadline alone is no reason to give up a connection");
    let reason = tokio::time::timeout(SOON, connection.closed()).await.unwrap();
    assert!(matches!(reason, CloseReason::Silence(_)), "{reason:?}");
}

#[tokio::test]
async fn calls_in_flight_fail_at_once_when_the_daemon_goes() {
    let target = target().await;
    let (connection, mut events) = target.open().await;
    set_fault(&target, Fault::Stall);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let connection = connection.clone();
        calls.spawn(async move { connection.lib_version().await });
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    let dropped = Instant::now();
    set_fault(&target, Fault::Refuse);
    for outcome in calls.join_all().await {
        let error = outcome.unwrap_err();
        assert!(error.is_disconnected(), "{error:?}");
    }
    assert!(dropped.elapsed() < Duration::from_secs(1));
    assert_eq!(events.next().await, None);
    // Whoever comes now is closed at once, and told so.
    let error = Connection::open(&target.endpoint, target.options()).await.unwrap_err();
    assert!(matches!(error, OpenError::Handshake { .. } | OpenError::Connect { .. }), "{error:?}");
    set_fault(&target, Fault::None);
    target.open().await;
}

#[tokio::test]
async fn half_a_frame_is_no_answer() {
    let target = simulator_unix().await.pop().unwrap();
    let (connection, _events) = target.open().await;
    set_fault(&target, Fault::HalfFrame);
    let error = connection.hostname().await.unwrap_err();
    let CallError::Disconnected { reason, .. } = error else { panic!("{error:?}") };
    assert!(matches!(reason, CloseReason::MidFrame(_)), "{reason:?}");
    let (connection, _events) = target.open().await;
    connection.hostname().await.unwrap();
}

#[tokio::test]
async fn a_slow_follower_delays_no_reply_and_learns_what_it_missed() {
    let target = target().await;
    let mut options = target.options();
    options.event_capacity = 4;
    let (connection, mut events) = target.open_with(options).await;
    connection.register_event(EventKind::Lifecycle).await.unwrap();
    let simulated = target.simulated.as_ref().unwrap();
    let uuid = simulated.host.read(|state| *state.domains.keys().next().unwrap());
    let stop_and_start = || {
        simulated.host.stop(uuid);
        simulated.host.start(uuid);
    };
    for _ in 0..20 {
        stop_and_start();
        connection.lib_version().await.unwrap();
    }
    let mut lost = 0;
    let mut taken = 0;
    while let Some(event) = events.try_next() {
        match event {
            Event::Lost { count } => lost += count,
            _ => taken += 1,
        }
    }
    assert_eq!((taken, lost), (4, 56), "{:?}", connection.counters());
}

#[tokio::test]
async fn a_migration_is_followed_from_both_ends() {
    let fleet = Fleet::new(&FleetOptions { hosts: 2, instances: 1, ..FleetOptions::default() });
    let (from, to) = (fleet.hosts[0].clone(), fleet.hosts[1].clone());
    let (here, mut leaving) = follow(from.clone()).await;
    let (there, mut arriving) = follow(to.clone()).await;
    let domain: DomainRef = here.list_all_domains(DomainFilter::NONE).await.unwrap().remove(0);
    let uuid = domain.uuid;
    let moving = tokio::spawn(async move { migrate(&from, &to, uuid, Duration::from_secs(1)).await });

    let iteration = |event: &Event| match event {
        Event::MigrationIteration { domain, iteration } if domain.uuid == uuid => Some(*iteration),
        _ => None,
    };
    assert_eq!(wait_for(&mut leaving, iteration).await, 1);
    assert_eq!(wait_for(&mut leaving, iteration).await, 2);
    let out = here.job_stats(&domain).await.unwrap();
    assert_eq!((out.kind, out.operation), (JobKind::Unbounded, Some(JobOperation::MigrationOut)));
    assert!(out.memory_remaining().unwrap() > 0 && out.memory_iteration() >= Some(2), "{out:?}");
    let inward = there.job_stats(&domain).await.unwrap();
    assert_eq!((inward.kind, inward.operation), (JobKind::Unbounded, Some(JobOperation::MigrationIn)));
    let old_call = here.job_info(&domain).await.unwrap();
    assert_eq!((old_call.kind, old_call.memory_total()), (JobKind::Unbounded, out.memory_total()));

    wait_for(&mut arriving, lifecycle(uuid, LifecycleEvent::Resumed(ResumedDetail::Migrated))).await;
    wait_for(&mut leaving, lifecycle(uuid, LifecycleEvent::Stopped(StoppedDetail::Migrated))).await;
    let completed = wait_for(&mut leaving, |event| match event {
        Event::JobCompleted { job, .. } => Some(job.clone()),
        _ => None,
    });
    let completed = completed.await;
    assert_eq!((completed.kind, completed.memory_remaining()), (JobKind::Completed, Some(0)));
    assert!(moving.await.unwrap());
    assert!(here.domain_state(&domain).await.unwrap_err().is_no_domain());
    assert!(there.domain_state(&domain).await.unwrap().is_running());
    let kept = there.completed_job_stats(&domain).await.unwrap();
    assert_eq!((kept.kind, kept.downtime_ms()), (JobKind::Completed, Some(37)));
}

fn lifecycle(uuid: uuid::Uuid, wanted: LifecycleEvent) -> impl Fn(&Event) -> Option<()> {
    move |event| match event {
        Event::Lifecycle { domain, event } if domain.uuid == uuid && *event == wanted => Some(()),
        _ => None,
    }
}

async fn follow(host: std::sync::Arc<fleet_simulator::model::Host>) -> (Connection, libvirt_rpc::Events) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(fleet_simulator::libvirt::serve(host, listener));
    let endpoint = libvirt_rpc::Endpoint::Tcp { host: "127.0.0.1".to_owned(), port };
    let opened = Connection::open(&endpoint, libvirt_rpc::OpenOptions::default()).await.unwrap();
    let kinds = [EventKind::Lifecycle, EventKind::MigrationIteration, EventKind::JobCompleted];
    assert!(opened.0.register_events(&kinds).await.unwrap().is_empty());
    opened
}
