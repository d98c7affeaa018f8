//! A live migration seen from both ends: simulated, and of a domain without disks between two hosts of the rig.

use std::sync::Arc;
use std::time::Duration;

use fleet_simulator::libvirt::Listener;
use fleet_simulator::model::{Fleet, FleetOptions, Host};
use libvirt_rpc::{
    CallError, Connection, DomainRef, DomainState, Endpoint, ErrorCode, Event, EventKind, Events, JobKind,
    JobOperation, JobStats, LifecycleEvent, MigrateFlags, MigrateParams, OpenOptions, ResumedDetail,
    RunningReason, StartedDetail, StatsFlags, StatsGroups, StoppedDetail, SuspendedDetail,
};
use tokio::task::JoinHandle;

use crate::target::{SOON, loopback, rig_hosts, unique, wait_for};

/// One end of a migration.
struct End {
    connection: Connection,
    events: Events,
}

/// Two hosts and a domain on the first.
struct Pair {
    from: End,
    to: End,
    domain: DomainRef,
    /// The second host, as the first's daemon knows it.
    destination: String,
}

impl Pair {
    async fn simulated() -> Self {
        let fleet = Fleet::new(&FleetOptions { hosts: 2, instances: 0, ..FleetOptions::default() });
        let (from, to) = (Arc::clone(&fleet.hosts[0]), Arc::clone(&fleet.hosts[1]));
        let destination = format!("qemu+tcp://{}/system", to.name);
        let ends = [
            End::open(&serve(&from, Some((&destination, &to))).await).await,
            End::open(&serve(&to, None).await).await,
        ];
        Self::with(ends, destination).await
    }

    async fn real() -> Option<Self> {
        let mut addresses = rig_hosts().into_iter().map(|(_, address)| address);
        let (from, to) = (addresses.next()?, addresses.next()?);
        let endpoint =
            |host: &String| Endpoint::Tcp { host: host.clone(), port: libvirt_rpc::DEFAULT_TCP_PORT };
        let ends = [End::open(&endpoint(&from)).await, End::open(&endpoint(&to)).await];
        Some(Self::with(ends, format!("qemu+tcp://{to}/system")).await)
    }

    async fn with([mut from, to]: [End; 2], destination: String) -> Self {
        let name = unique("moving");
        let xml = format!(
            "<domain type='qemu'><name>{name}</name><memory unit='MiB'>512</memory><vcpu>1</vcpu>\
             <os><type arch='x86_64'>hvm</type></os></domain>"
        );
        let domain = from.connection.create_transient(&xml).await.unwrap();
        from.expect(&domain, LifecycleEvent::Started(StartedDetail::Booted)).await;
        Self { from, to, domain, destination }
    }

    /// Starts the migration, slow enough to be watched.
    fn migrate(&self, flags: MigrateFlags) -> JoinHandle<Result<(), CallError>> {
        let patient = self.from.connection.with_call_timeout(Duration::from_secs(60));
        let (domain, destination) = (self.domain.clone(), self.destination.clone());
        let params = MigrateParams::default().bandwidth(1);
        let flags = MigrateFlags::LIVE | flags;
        tokio::spawn(async move { patient.migrate_peer_to_peer(&domain, &destination, &params, flags).await })
    }
}

impl End {
    async fn open(endpoint: &Endpoint) -> Self {
        let (connection, events) =
            Connection::open(endpoint, OpenOptions::new("qemu:///system")).await.unwrap();
        let kinds = [EventKind::Lifecycle, EventKind::MigrationIteration, EventKind::JobCompleted];
        assert!(connection.register_events(&kinds).await.unwrap().is_empty());
        Self { connection, events }
    }

    async fn expect(&mut self, moved: &DomainRef, wanted: LifecycleEvent) {
        wait_for(&mut self.events, |event| match event {
            Event::Lifecycle { domain, event } if domain.uuid == moved.uuid && *event == wanted => Some(()),
            _ => None,
        })
        .await;
    }

    async fn expect_pass(&mut self, moved: &DomainRef, wanted: i32) {
        wait_for(&mut self.events, |event| match event {
            Event::MigrationIteration { domain, iteration }
                if domain.uuid == moved.uuid && *iteration == wanted =>
            {
                Some(())
            }
            _ => None,
        })
        .await;
    }

    async fn expect_job(&mut self, moved: &DomainRef) -> JobStats {
        wait_for(&mut self.events, |event| match event {
            Event::JobCompleted { domain, job } if domain.uuid == moved.uuid => Some(job.clone()),
            _ => None,
        })
        .await
    }
}

/// A simulated daemon, with a host that it can send domains to.
async fn serve(host: &Arc<Host>, destination: Option<(&str, &Arc<Host>)>) -> Endpoint {
    let (listener, port) = loopback().await;
    let mut listener = Listener::from(listener);
    if let Some((uri, to)) = destination {
        listener = listener.with_destination(uri, Arc::clone(to));
    }
    tokio::spawn(fleet_simulator::libvirt::serve(Arc::clone(host), listener));
    Endpoint::Tcp { host: "127.0.0.1".to_owned(), port }
}

async fn a_migration_is_followed_from_both_ends(pair: Pair, flags: MigrateFlags) {
    let moving = pair.migrate(flags);
    let Pair { mut from, mut to, domain, .. } = pair;
    from.expect_pass(&domain, 1).await;
    to.expect(&domain, LifecycleEvent::Started(StartedDetail::Migrated)).await;

    let running = from.connection.job_stats(&domain).await.unwrap();
    assert_eq!((running.kind, running.operation), (JobKind::Unbounded, Some(JobOperation::MigrationOut)));
    assert!(running.memory_total().unwrap() >= 512 * 1024 * 1024, "{running:?}");
    assert!(running.time_elapsed_ms().is_some() && running.memory_iteration() >= Some(1), "{running:?}");
    let by_the_older_call = from.connection.job_info(&domain).await.unwrap();
    assert_eq!(by_the_older_call.memory_total(), running.memory_total());
    // Slow from the start; let it end.
    from.connection.set_max_downtime(&domain, Duration::from_millis(900)).await.unwrap();
    assert_eq!(from.connection.max_downtime(&domain).await.unwrap(), Duration::from_millis(900));
    from.connection.set_max_speed(&domain, 8).await.unwrap();
    let post_copy = from.connection.start_post_copy(&domain).await.unwrap_err();
    assert!(post_copy.is_operation_invalid(), "not asked for at the start: {post_copy:?}");
    // Neither end waits for the job to be over.
    for end in [&from, &to] {
        let asked = std::time::Instant::now();
        let groups = StatsGroups::STATE | StatsGroups::VCPU;
        let records = end.connection.all_domain_stats(&[], groups, StatsFlags::NOWAIT).await.unwrap();
        let record =
            records.iter().find(|record| record.domain.uuid == domain.uuid).expect("a record of the domain");
        assert!(record.state().is_some_and(DomainState::is_active), "{record:?}");
        assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    }
    let refused = to.connection.job_stats(&domain).await.unwrap_err();
    assert_eq!(refused.remote().unwrap().code, ErrorCode::OperationUnsupported, "{refused:?}");
    assert!(!refused.is_unsupported(), "the call is there, only not for this domain now");

    from.expect(&domain, LifecycleEvent::Suspended(SuspendedDetail::Migrated)).await;
    to.expect(&domain, LifecycleEvent::Resumed(ResumedDetail::Migrated)).await;
    from.expect(&domain, LifecycleEvent::Stopped(StoppedDetail::Migrated)).await;
    let ended = from.expect_job(&domain).await;
    assert_eq!((ended.kind, ended.operation), (JobKind::Completed, Some(JobOperation::MigrationOut)));
    assert!(ended.downtime_ms().is_some() && ended.memory_remaining() == Some(0), "{ended:?}");
    tokio::time::timeout(SOON, moving).await.unwrap().unwrap().unwrap();

    assert!(from.connection.domain_state(&domain).await.unwrap_err().is_no_domain());
    let state = to.connection.domain_state(&domain).await.unwrap();
    assert_eq!(state, DomainState::Running(RunningReason::Migrated));
    let kept = to.connection.completed_job_stats(&domain).await.unwrap();
    assert_eq!((kept.kind, kept.operation), (JobKind::Completed, Some(JobOperation::MigrationIn)));
    to.connection.destroy(&domain).await.unwrap();
}

/// Nothing but the end of the arriving domain tells that a migration was cancelled: the source stays silent.
async fn a_cancelled_migration_leaves_the_domain_where_it_was(pair: Pair) {
    let moving = pair.migrate(MigrateFlags::NONE);
    let Pair { mut from, mut to, domain, .. } = pair;
    from.expect_pass(&domain, 1).await;
    from.connection.abort_job(&domain).await.unwrap();
    to.expect(&domain, LifecycleEvent::Stopped(StoppedDetail::Failed)).await;
    let ended = tokio::time::timeout(SOON, moving).await.unwrap().unwrap().unwrap_err();
    assert_eq!(ended.remote().unwrap().code, ErrorCode::OperationAborted, "{ended:?}");
    assert!(from.connection.domain_state(&domain).await.unwrap().is_running());
    assert_eq!(from.connection.job_stats(&domain).await.unwrap().kind, JobKind::None);
    assert!(to.connection.domain_state(&domain).await.unwrap_err().is_no_domain());
    let ended = |event: &Event| matches!(event, Event::Lifecycle { .. } | Event::JobCompleted { .. });
    let about_it = |event: &Event| event.domain().is_some_and(|about| about.uuid == domain.uuid);
    let told: Vec<_> = std::iter::from_fn(|| from.events.try_next()).collect();
    assert!(!told.iter().any(|event| about_it(event) && ended(event)), "{told:?}");
    from.connection.destroy(&domain).await.unwrap();
}

#[tokio::test]
async fn a_simulated_migration_is_followed_from_both_ends() {
    a_migration_is_followed_from_both_ends(Pair::simulated().await, MigrateFlags::NONE).await;
}

#[tokio::test]
async fn a_real_migration_is_followed_from_both_ends() {
    if let Some(pair) = Pair::real().await {
        a_migration_is_followed_from_both_ends(pair, MigrateFlags::NONE).await;
    }
}

/// Memory travels within the connection of the two daemons, so no port of QEMU's must be reachable.
#[tokio::test]
async fn a_real_tunnelled_migration_is_followed_from_both_ends() {
    if let Some(pair) = Pair::real().await {
        a_migration_is_followed_from_both_ends(pair, MigrateFlags::TUNNELLED).await;
    }
}

#[tokio::test]
async fn a_simulated_migration_that_is_cancelled_leaves_the_domain_where_it_was() {
    a_cancelled_migration_leaves_the_domain_where_it_was(Pair::simulated().await).await;
}

#[tokio::test]
async fn a_real_migration_that_is_cancelled_leaves_the_domain_where_it_was() {
    if let Some(pair) = Pair::real().await {
        a_cancelled_migration_leaves_the_domain_where_it_was(pair).await;
    }
}
