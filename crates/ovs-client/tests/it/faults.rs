//! Servers that stall, drop and break off, and what the client makes of it.

use std::time::{Duration, Instant};

use fleet_simulator::model::Fault;
use ovs_client::openflow;
use ovs_client::ovsdb::{Closed, Connection, Error, Options};
use ovs_client::switch::SwitchView;

use crate::peer::Peer;

fn quick() -> Options {
    Options {
        request_deadline: Duration::from_millis(300),
        probe_interval: Duration::from_millis(400),
        ..Options::default()
    }
}

#[tokio::test]
async fn a_server_that_accepts_and_never_answers_fails_the_open_in_time() {
    let peer = Peer::simulated().await;
    peer.host().set_faults(|faults| faults.ovsdb = Fault::Stall);
    let began = Instant::now();
    let error = SwitchView::open(&peer.tcp, &quick()).await.unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error:?}");
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn a_server_that_falls_silent_ends_the_view_after_two_probe_intervals() {
    let peer = Peer::simulated().await;
    let view = SwitchView::open(&peer.tcp, &quick()).await.unwrap();
    peer.host().set_faults(|faults| faults.ovsdb = Fault::Stall);
    let error = tokio::time::timeout(Duration::from_secs(5), view.changed()).await.unwrap().unwrap_err();
    assert!(matches!(error, Error::Closed { reason: Closed::Silent(_), .. }), "{error:?}");
    // The last picture stays readable: it is up to the caller to say how old it is.
    assert!(view.switch().bridge("br-int").is_some());
}

#[tokio::test]
async fn a_server_that_drops_the_connection_ends_the_view_and_what_went_meanwhile_is_gone_after() {
    let peer = Peer::simulated().await;
    let view = SwitchView::open(&peer.tcp, &Options::default()).await.unwrap();
    let domain = peer.host().read(|state| *state.domains.keys().next().unwrap());
    let taps = |view: &SwitchView| view.switch().interfaces().filter(|one| one.iface_id().is_some()).count();
    let before = taps(&view);
    peer.host().set_faults(|faults| faults.ovsdb = Fault::Refuse);
    let error = loop {
        match view.changed().await {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Closed { reason: Closed::ByPeer | Closed::Read(_), .. }), "{error:?}");
    assert!(view.read_counters().await.is_err());
    assert!(SwitchView::open(&peer.tcp, &Options::default()).await.is_err());
    assert!(peer.host().unplug(domain));
    peer.host().set_faults(|faults| faults.ovsdb = Fault::None);
    let again = SwitchView::open(&peer.tcp, &Options::default()).await.unwrap();
    assert_eq!(taps(&again), before - 1);
}

#[tokio::test]
async fn a_picture_that_was_followed_equals_one_that_is_read_afresh() {
    let peer = Peer::simulated().await;
    let view = peer.view().await;
    let host = peer.host();
    let domains: Vec<_> = host.read(|state| state.domains.keys().copied().collect());
    for round in 0..40_usize {
        let domain = domains[round % domains.len()];
        assert!(host.unplug(domain) || host.plug(domain));
        host.set_bond_member("bond0", if round % 3 == 0 { "eno1" } else { "eno2" }, round % 2 == 0);
        host.change_switch(|switch| {
            switch.external_ids.insert("round".to_owned(), round.to_string());
            switch.ovs_version = (round % 4 > 0).then(|| format!("3.4.{round}"));
            true
        });
        tokio::task::yield_now().await;
    }
    crate::peer::eventually(&view, "the last round", |switch| {
        (switch.external_id("round") == Some("39")).then_some(())
    })
    .await;
    let mut followed = view.switch();
    let mut fresh = peer.view().await.switch();
    // Counters are read when asked for, not followed.
    for switch in [&mut followed, &mut fresh] {
        let ports = switch.bridges.iter_mut().flat_map(|bridge| &mut bridge.ports);
        ports.flat_map(|port| &mut port.interfaces).for_each(|interface| interface.statistics = None);
    }
    assert_eq!(followed, fresh);
}

#[tokio::test]
async fn half_a_message_is_never_taken_for_a_whole_one() {
    let peer = Peer::simulated().await;
    let connection = Connection::connect(&peer.tcp, &Options::default()).await.unwrap();
    peer.host().set_faults(|faults| faults.ovsdb = Fault::HalfFrame);
    let error = connection.list_dbs().await.unwrap_err();
    assert!(
        matches!(error, Error::Closed { reason: Closed::InsideMessage | Closed::Read(_), .. }),
        "{error:?}"
    );
    SwitchView::open(&peer.tcp, &Options::default()).await.unwrap();
}

#[tokio::test]
async fn flows_of_a_switch_that_stalls_drops_or_breaks_off_are_an_error_never_zero() {
    let peer = Peer::simulated().await;
    let options = openflow::Options { request_deadline: Duration::from_millis(200), ..Default::default() };
    let socket = peer.management("br-int");
    let set = |fault: Fault| peer.host().set_faults(|faults| faults.openflow = fault);
    set(Fault::Stall);
    let error = openflow::Connection::open(&socket, &options).await.unwrap_err();
    assert!(matches!(error, openflow::Error::Deadline { .. }), "{error:?}");
    set(Fault::None);
    let mut connection = openflow::Connection::open(&socket, &options).await.unwrap();
    set(Fault::Stall);
    assert!(matches!(connection.tables().await.unwrap_err(), openflow::Error::Deadline { .. }));
    set(Fault::None);
    assert!(matches!(connection.tables().await.unwrap_err(), openflow::Error::Broken));
    let mut connection = openflow::Connection::open(&socket, &options).await.unwrap();
    set(Fault::HalfFrame);
    assert!(matches!(connection.tables().await.unwrap_err(), openflow::Error::Stream { .. }));
    set(Fault::Refuse);
    let error = openflow::Connection::open(&socket, &options).await.unwrap_err();
    assert!(matches!(error, openflow::Error::Stream { .. }), "{error:?}");
}

#[tokio::test]
async fn a_new_bridge_has_a_management_socket_and_a_removed_one_has_none() {
    let peer = Peer::simulated().await;
    let view = peer.view().await;
    let bridge = crate::peer::TestBridge::add(&view, "ovc-new").await;
    let open = async || openflow::Connection::open(&peer.management("ovc-new"), &Default::default()).await;
    let appears = async {
        while open().await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), appears).await.unwrap();
    bridge.remove(&view).await;
    let vanishes = async {
        while open().await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), vanishes).await.unwrap();
}
