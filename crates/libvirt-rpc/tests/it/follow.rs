//! Following one daemon through restarts, lost events and silence: what is known in the end is what is true.

use std::collections::BTreeMap;
use std::time::Duration;

use fleet_simulator::model::Fault;
use libvirt_rpc::{
    AwayReason, CloseReason, Connection, DomainFilter, DomainState, EventKind, Followed, Follower, OpenError,
    OpenOptions,
};
use uuid::Uuid;

use crate::target::{SOON, Target, rig_tcp, simulator_tcp, unique};

fn follower(target: &Target, options: OpenOptions) -> Follower {
    Follower::new(target.endpoint.clone(), options, [EventKind::Lifecycle])
        .with_pauses(Duration::from_millis(20), Duration::from_millis(200))
}

fn set_fault(target: &Target, fault: Fault) {
    target.simulated.as_ref().unwrap().host.set_faults(|faults| faults.libvirt = fault);
}

async fn next(follower: &mut Follower) -> Followed {
    tokio::time::timeout(SOON, follower.next()).await.expect("nothing new")
}

async fn states(connection: &Connection) -> BTreeMap<Uuid, DomainState> {
    let mut states = BTreeMap::new();
    for domain in connection.list_all_domains(DomainFilter::NONE).await.unwrap() {
        states.insert(domain.uuid, connection.domain_state(&domain).await.unwrap());
    }
    states
}

#[tokio::test]
async fn what_happened_while_away_is_found_in_the_list() {
    let target = simulator_tcp().await.pop().unwrap();
    let host = &target.simulated.as_ref().unwrap().host;
    let mut follower = follower(&target, target.options());
    let Followed::Opened { connection, refused } = next(&mut follower).await else { panic!("not opened") };
    assert!(refused.is_empty());
    let (uuid, before) = states(&connection).await.pop_first().unwrap();
    assert!(before.is_active());

    set_fault(&target, Fault::Refuse);
    let Followed::Away { reason: AwayReason::Closed(_), .. } = next(&mut follower).await else {
        panic!("still there")
    };
    // Nobody is told of this.
    host.stop(uuid);
    set_fault(&target, Fault::None);
    let connection = loop {
        match next(&mut follower).await {
            Followed::Opened { connection, .. } => break connection,
            Followed::Away { reason: AwayReason::Open(_), .. } => {}
            other => panic!("{other:?}"),
        }
    };
    assert!(!states(&connection).await.get(&uuid).copied().is_some_and(DomainState::is_active));
    // And it is subscribed again.
    host.start(uuid);
    let Followed::Event(event) = next(&mut follower).await else { panic!("no event") };
    assert_eq!(event.domain().unwrap().uuid, uuid);
}

#[tokio::test]
async fn events_that_are_not_sent_are_made_up_for_by_listing() {
    let target = simulator_tcp().await.pop().unwrap();
    let host = &target.simulated.as_ref().unwrap().host;
    let (connection, mut events) = target.open().await;
    connection.register_event(EventKind::Lifecycle).await.unwrap();
    let (uuid, before) = states(&connection).await.pop_first().unwrap();
    set_fault(&target, Fault::LostEvents);
    host.stop(uuid);
    connection.lib_version().await.unwrap();
    assert_eq!(events.try_next(), None, "nothing tells of it");
    let after = states(&connection).await.get(&uuid).copied();
    assert_ne!(after, Some(before), "whoever lists sees it");
}

#[tokio::test]
async fn events_that_find_no_room_are_told_as_missed() {
    let target = simulator_tcp().await.pop().unwrap();
    let host = &target.simulated.as_ref().unwrap().host;
    let mut options = target.options();
    options.event_capacity = 4;
    let mut follower = follower(&target, options);
    let Followed::Opened { connection, .. } = next(&mut follower).await else { panic!("not opened") };
    let uuid = *states(&connection).await.first_key_value().unwrap().0;
    for _ in 0..10 {
        host.stop(uuid);
        host.start(uuid);
    }
    connection.lib_version().await.unwrap();
    for _ in 0..4 {
        assert!(matches!(next(&mut follower).await, Followed::Event(_)));
    }
    let Followed::Missed { count } = next(&mut follower).await else { panic!("not told") };
    assert_eq!(count, 30 - 4);
}

/// With the defaults a daemon that hangs is given up after 20 s, and found again when it goes on.
#[tokio::test]
async fn thirty_seconds_of_silence_end_a_connection_and_not_the_following() {
    let target = simulator_tcp().await.pop().unwrap();
    let mut follower = follower(&target, target.options());
    let Followed::Opened { .. } = next(&mut follower).await else { panic!("not opened") };
    let began = std::time::Instant::now();
    set_fault(&target, Fault::Stall);
    let awake = async {
        tokio::time::sleep(Duration::from_secs(30)).await;
        set_fault(&target, Fault::None);
    };
    let follow = async {
        let told = tokio::time::timeout(Duration::from_secs(29), follower.next()).await.expect("given up");
        let Followed::Away { reason: AwayReason::Closed(CloseReason::Silence(silence)), .. } = told else {
            panic!("{told:?}")
        };
        assert!(silence >= Duration::from_secs(19), "{silence:?}");
        loop {
            match tokio::time::timeout(Duration::from_secs(29), follower.next()).await.expect("back") {
                Followed::Opened { .. } => return began.elapsed(),
                Followed::Away { reason: AwayReason::Open(OpenError::Timeout { .. }), .. } => {}
                other => panic!("{other:?}"),
            }
        }
    };
    let (back, ()) = tokio::join!(follow, awake);
    assert!(back >= Duration::from_secs(30), "{back:?}");
}

#[tokio::test]
async fn a_daemon_that_is_not_there_is_tried_again_with_growing_pauses() {
    let endpoint: libvirt_rpc::Endpoint = "unix:/nonexistent/libvirt-sock".parse().unwrap();
    let mut follower = Follower::new(endpoint, OpenOptions::default(), [])
        .with_pauses(Duration::from_millis(1), Duration::from_millis(64));
    let mut pauses = Vec::new();
    for _ in 0..8 {
        let Followed::Away { reason: AwayReason::Open(error), pause } = next(&mut follower).await else {
            panic!("there")
        };
        assert!(matches!(error, OpenError::Connect { .. }), "{error:?}");
        pauses.push(pause);
    }
    assert!(pauses[0] <= Duration::from_millis(1) && pauses[7] > Duration::from_millis(31), "{pauses:?}");
}

#[tokio::test]
async fn waiting_for_what_is_new_can_be_given_up_at_any_time() {
    let target = simulator_tcp().await.pop().unwrap();
    let mut follower = follower(&target, target.options());
    let opened = async {
        loop {
            // Far too short to open a connection in one go.
            if let Ok(told) = tokio::time::timeout(Duration::from_micros(50), follower.next()).await {
                return told;
            }
        }
    };
    let told = tokio::time::timeout(SOON, opened).await.expect("never got anywhere");
    assert!(matches!(told, Followed::Opened { .. }), "{told:?}");
}

#[tokio::test]
async fn a_real_daemon_is_followed() {
    for target in rig_tcp().await.into_iter().take(1) {
        let mut follower = follower(&target, target.options());
        let Followed::Opened { connection, refused } = next(&mut follower).await else {
            panic!("not opened")
        };
        assert!(refused.is_empty());
        let xml = target.domain_xml(&unique("followed"));
        let started = connection.create_transient(&xml).await.unwrap();
        connection.destroy(&started).await.unwrap();
        loop {
            let Followed::Event(event) = next(&mut follower).await else { panic!("no event") };
            if event.domain().is_some_and(|domain| domain.uuid == started.uuid) {
                break;
            }
        }
    }
}

/// What lies between a client and a daemon, and can be cut.
struct Line {
    endpoint: libvirt_rpc::Endpoint,
    cut: tokio::sync::watch::Sender<bool>,
}

impl Line {
    async fn to(address: String) -> Self {
        let (listener, port) = crate::target::loopback().await;
        let (cut, is_cut) = tokio::sync::watch::channel(false);
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let (address, mut is_cut) = (address.clone(), is_cut.clone());
                tokio::spawn(async move {
                    if *is_cut.borrow() {
                        return;
                    }
                    let mut far = tokio::net::TcpStream::connect(address).await.unwrap();
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
                        _ = is_cut.wait_for(|cut| *cut) => {}
                    }
                });
            }
        });
        Self { endpoint: libvirt_rpc::Endpoint::Tcp { host: "127.0.0.1".to_owned(), port }, cut }
    }
}

#[tokio::test]
async fn what_happened_at_a_real_daemon_while_away_is_found_in_the_list() {
    for target in rig_tcp().await.into_iter().take(1) {
        let libvirt_rpc::Endpoint::Tcp { host, port } = &target.endpoint else { panic!("TCP") };
        let line = Line::to(format!("{host}:{port}")).await;
        let (direct, _events) = target.open().await;
        let started = direct.create_transient(&target.domain_xml(&unique("away"))).await.unwrap();
        let mut follower = Follower::new(line.endpoint.clone(), target.options(), [EventKind::Lifecycle])
            .with_pauses(Duration::from_millis(20), Duration::from_millis(200));
        let Followed::Opened { connection, .. } = next(&mut follower).await else { panic!("not opened") };
        let known = async |connection: &Connection| {
            let listed = connection.list_all_domains(DomainFilter::NONE).await.unwrap();
            listed.iter().any(|domain| domain.uuid == started.uuid)
        };
        assert!(known(&connection).await);

        line.cut.send(true).unwrap();
        let Followed::Away { .. } = next(&mut follower).await else { panic!("still there") };
        direct.destroy(&started).await.unwrap();
        line.cut.send(false).unwrap();
        let connection = loop {
            match next(&mut follower).await {
                Followed::Opened { connection, .. } => break connection,
                Followed::Away { .. } => {}
                other => panic!("{other:?}"),
            }
        };
        assert!(!known(&connection).await, "nobody told of it, and the list knows");
        // Asked for again: what happens now is told.
        let started = direct.create_transient(&target.domain_xml(&unique("again"))).await.unwrap();
        direct.destroy(&started).await.unwrap();
        loop {
            let Followed::Event(event) = next(&mut follower).await else { panic!("no event") };
            if event.domain().is_some_and(|domain| domain.uuid == started.uuid) {
                break;
            }
        }
    }
}
