//! What the simulator can do wrong on purpose, and how it looks from here.

use std::time::{Duration, Instant};

use fleet_simulator::model::Fault;
use libvirt_rpc::{CallError, CloseReason, Connection, Event, EventKind, OpenError, StatsFlags, StatsGroups};

use crate::target::{SOON, Target, simulator_tcp, simulator_unix};

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
    let error = Connection::open(&*target.connector(), options).await.unwrap_err();
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
    let error = Connection::open(&*target.connector(), target.options()).await.unwrap_err();
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

/// A migrating domain holds its lock all the time: what waits for it is refused after 30 s, what does not wait says what is known.
#[tokio::test]
async fn a_busy_domain_delays_nothing_that_does_not_wait() {
    let target = target().await;
    let (connection, _events) = target.open().await;
    set_fault(&target, Fault::JobLock);
    let groups = StatsGroups::STATE | StatsGroups::CPU_TOTAL | StatsGroups::BALLOON;
    let waiting = connection.all_domain_stats(&[], groups, StatsFlags::NONE).await.unwrap_err();
    assert!(waiting.remote().unwrap().is_busy(), "{waiting:?}");
    let stats = connection.all_domain_stats(&[], groups, StatsFlags::NOWAIT).await.unwrap();
    assert!(!stats.is_empty());
    for stats in stats {
        assert!(stats.state().is_some());
        let domain = &stats.domain;
        assert_eq!((stats.memory_kib(), stats.cpu_time_ns()), (None, None), "{domain}");
        assert!(connection.domain_state(domain).await.unwrap().is_active());
        assert!(connection.domain_info(domain).await.unwrap_err().remote().unwrap().is_busy());
    }
}
