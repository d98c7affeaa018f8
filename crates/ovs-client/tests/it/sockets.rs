//! unixctl: finding daemons and asking them.

use std::time::Duration;

use fleet_simulator::model::{Fault, HostChange};
use ovs_client::Endpoint;
use ovs_client::unixctl::{ConnectionStatus, Error, Options, Program, Target, call, parse_bonds};

use crate::peer::Peer;

const ALL: [(Program, &str); 3] = [
    (Program::OvsVswitchd, "openvswitch"),
    (Program::OvsdbServer, "openvswitch"),
    (Program::OvnController, "ovn"),
];

#[tokio::test]
async fn every_daemon_is_found_and_tells_its_version() {
    for peer in Peer::all().await {
        for (program, directory) in ALL {
            let target = Target::find(&peer.run.join(directory), program, &Options::default()).await.unwrap();
            assert_eq!(target.version.program, program.name());
            assert!(target.version.version.contains('.'), "{:?}", target.version);
            assert_eq!(target.version.library.is_some(), program == Program::OvnController);
            println!("{}: {}", peer.name, target.version);
        }
    }
}

#[tokio::test]
async fn the_controller_tells_whether_it_is_connected() {
    for peer in Peer::all().await {
        let target =
            Target::find(&peer.run.join("ovn"), Program::OvnController, &Options::default()).await.unwrap();
        let text = target.call("connection-status", &[], &Options::default()).await.unwrap();
        assert_eq!(ConnectionStatus::parse(text.as_bytes()), ConnectionStatus::Connected);
    }
}

#[tokio::test]
async fn mistakes_are_refused_in_the_same_words_everywhere() {
    for peer in Peer::all().await {
        let options = Options::default();
        let target =
            Target::find(&peer.run.join("openvswitch"), Program::OvsVswitchd, &options).await.unwrap();
        let refused = async |method: &str, params: &[&str]| match target.call(method, params, &options).await
        {
            Err(Error::Refused { error, .. }) => error.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            refused("nope", &[]).await,
            "\"nope\" is not a valid command (use \"list-commands\" to see a list of valid commands)"
        );
        assert_eq!(refused("version", &["x"]).await, "\"version\" command takes at most 0 arguments");
        assert_eq!(refused("bond/show", &["nope"]).await, "no such bond");
    }
}

#[tokio::test]
async fn every_bond_of_the_database_is_in_bond_show_with_the_same_members() {
    for peer in Peer::all().await {
        let view = peer.view().await;
        let options = Options::default();
        let target =
            Target::find(&peer.run.join("openvswitch"), Program::OvsVswitchd, &options).await.unwrap();
        for port in view.switch().bonds().filter(|port| !port.name.starts_with("ovc-")) {
            let text = target.call("bond/show", &[&port.name], &options).await.unwrap();
            let bond = parse_bonds(text.as_bytes()).remove(0);
            let mut shown: Vec<_> = bond.members.iter().map(|member| member.name.clone()).collect();
            shown.sort();
            let known: Vec<_> = port.interfaces.iter().map(|member| member.name.clone()).collect();
            assert_eq!((bond.name.as_str(), shown), (port.name.as_str(), known));
            assert!(bond.members.iter().all(|member| member.enabled.is_some()), "{text}");
        }
    }
}

#[tokio::test]
async fn dead_silent_and_foreign_sockets_do_not_hide_the_one_that_answers() {
    let peer = Peer::simulated().await;
    let directory = peer.run.join("openvswitch");
    // Dead, and named by the pid file.
    drop(std::os::unix::net::UnixListener::bind(directory.join("ovs-vswitchd.99.ctl")).unwrap());
    std::fs::write(directory.join("ovs-vswitchd.pid"), "99\n").unwrap();
    // Accepts (the kernel does) and never answers.
    let _silent = std::os::unix::net::UnixListener::bind(directory.join("ovs-vswitchd.98.ctl")).unwrap();
    // Another daemon under our name.
    std::fs::hard_link(directory.join("ovsdb-server.11.ctl"), directory.join("ovs-vswitchd.97.ctl")).unwrap();
    let options = Options { request_deadline: Duration::from_millis(300), ..Options::default() };
    let target = Target::find(&directory, Program::OvsVswitchd, &options).await.unwrap();
    assert_eq!(target.socket, directory.join("ovs-vswitchd.12.ctl"));

    peer.host().set_faults(|faults| faults.unixctl = Fault::Stall);
    let error = Target::find(&directory, Program::OvsVswitchd, &options).await.unwrap_err();
    let Error::NobodyAnswers { tried, .. } = &error else { panic!("{error:?}") };
    assert_eq!(tried.len(), 4);
    assert!(
        error.to_string().contains("Connection refused") && error.to_string().contains("within 300ms"),
        "{error}"
    );
}

#[tokio::test]
async fn a_controller_that_is_not_connected_and_one_that_is_gone_are_told_apart() {
    let peer = Peer::simulated().await;
    let directory = peer.run.join("ovn");
    let options = Options::default();
    peer.host().change_switch(|switch| {
        switch.ovn.connected = false;
        true
    });
    let target = Target::find(&directory, Program::OvnController, &options).await.unwrap();
    let text = target.call("connection-status", &[], &options).await.unwrap();
    assert_eq!(ConnectionStatus::parse(text.as_bytes()), ConnectionStatus::NotConnected);

    let mut changes = peer.host().subscribe();
    peer.host().change_switch(|switch| {
        switch.ovn.running = false;
        true
    });
    assert!(matches!(changes.recv().await.unwrap(), HostChange::Switch));
    let gone = async {
        loop {
            match Target::find(&directory, Program::OvnController, &options).await {
                Err(error @ Error::NobodyAnswers { .. }) => return error,
                other => drop(other),
            }
        }
    };
    let error = tokio::time::timeout(Duration::from_secs(10), gone).await.unwrap();
    assert!(error.to_string().contains("ovn-controller answers on none of its sockets"), "{error}");
}

#[tokio::test]
async fn a_daemon_that_stalls_drops_or_breaks_off_is_an_error_in_time() {
    let peer = Peer::simulated().await;
    let options = Options { request_deadline: Duration::from_millis(200), ..Options::default() };
    let socket = Endpoint::Unix(peer.run.join("openvswitch/ovs-vswitchd.12.ctl"));
    let failed = async |fault: Fault| {
        peer.host().set_faults(|faults| faults.unixctl = fault);
        call(&socket, "version", &[], &options).await.unwrap_err()
    };
    assert!(matches!(failed(Fault::Stall).await, Error::Deadline { .. }));
    assert!(matches!(failed(Fault::Refuse).await, Error::NoAnswer { .. } | Error::Stream { .. }));
    assert!(matches!(failed(Fault::HalfFrame).await, Error::NoAnswer { .. } | Error::Stream { .. }));
    call(&socket, "version", &[], &options).await.unwrap();
}
