//! Flow counts over management sockets.

use ovs_client::openflow::{Connection, Error, Options, Version, Versions};
use ovs_client::ovsdb::{Atom, Condition, Transaction, Value};
use ovs_client::switch::{DATABASE, SwitchView};

use crate::peer::{Peer, TestBridge, eventually};

/// The flows of each table that has any, in one version.
async fn flows(peer: &Peer, bridge: &str, version: Version) -> Vec<(u8, u32)> {
    let options = Options { versions: [version].into_iter().collect(), ..Options::default() };
    let mut connection = Connection::open(&peer.management(bridge), &options).await.unwrap();
    assert_eq!(connection.version(), version);
    let tables = connection.tables().await.unwrap();
    assert_eq!(tables.len(), 254);
    let sums = connection.aggregate().await.unwrap();
    assert_eq!(sums.flows, Some(tables.iter().map(|table| table.active).sum()));
    tables.iter().filter(|table| table.active > 0).map(|table| (table.table, table.active)).collect()
}

async fn set_up(view: &SwitchView, name: &'static str) -> TestBridge {
    let bridge = TestBridge::add(view, name).await;
    eventually(view, "the bridge is set up", |switch| switch.bridge(name)?.datapath_id.clone()).await;
    bridge
}

#[tokio::test]
async fn flows_per_table_are_exact_in_every_version() {
    for peer in Peer::all().await {
        let view = peer.view().await;
        let bridge = set_up(&view, "ovc-flows").await;
        peer.add_flows("ovc-flows", 5, 2_500).await;
        peer.add_flows("ovc-flows", 253, 2).await;
        let versions =
            if peer.is_real() { Version::ALL.to_vec() } else { vec![Version::V1_0, Version::V1_3] };
        for version in versions {
            // A standalone bridge has one flow of its own.
            assert_eq!(
                flows(&peer, "ovc-flows", version).await,
                [(0, 1), (5, 2_500), (253, 2)],
                "{} {version}",
                peer.name
            );
        }
        bridge.remove(&view).await;
    }
}

#[tokio::test]
async fn the_integration_bridge_is_counted_with_the_usual_offer() {
    for peer in Peer::all().await {
        let mut connection = Connection::open(&peer.management("br-int"), &Options::default()).await.unwrap();
        assert_eq!(connection.version(), Version::V1_3);
        let tables = connection.tables().await.unwrap();
        assert!(tables.iter().map(|table| table.active).sum::<u32>() > 0);
    }
}

#[tokio::test]
async fn a_bridge_that_allows_other_versions_is_asked_in_one_of_those_or_refuses_in_words() {
    for peer in Peer::all().await.into_iter().filter(Peer::is_real) {
        let view = peer.view().await;
        let bridge = set_up(&view, "ovc-vers").await;
        let allow = async |versions: &[&str]| {
            let versions =
                Value::Set(versions.iter().map(|version| Atom::String((*version).to_owned())).collect());
            let update = Transaction::default().update(
                "Bridge",
                &[Condition::equal("name", "ovc-vers")],
                &[("protocols", versions)],
            );
            view.connection().transact(DATABASE, &update).await.unwrap();
        };
        // The switch takes its configuration some time after the database does.
        let opened = async |wanted: fn(&Result<Connection, Error>) -> bool| {
            for _ in 0..200 {
                let opened = Connection::open(&peer.management("ovc-vers"), &Options::default()).await;
                if wanted(&opened) {
                    return opened;
                }
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
            panic!("{}: never as wanted", peer.name)
        };
        for (name, version) in
            [("OpenFlow10", Version::V1_0), ("OpenFlow14", Version::V1_4), ("OpenFlow15", Version::V1_5)]
        {
            allow(&[name]).await;
            let wanted = match version {
                Version::V1_0 => |opened: &Result<Connection, Error>| {
                    opened.as_ref().is_ok_and(|one| one.version() == Version::V1_0)
                },
                Version::V1_4 => |opened: &Result<Connection, Error>| {
                    opened.as_ref().is_ok_and(|one| one.version() == Version::V1_4)
                },
                _ => |opened: &Result<Connection, Error>| {
                    opened.as_ref().is_ok_and(|one| one.version() == Version::V1_5)
                },
            };
            let mut connection = opened(wanted).await.unwrap();
            assert_eq!(connection.tables().await.unwrap().len(), 254);
        }
        allow(&["OpenFlow12"]).await;
        let error = opened(|opened| matches!(opened, Err(Error::Version { .. }))).await.unwrap_err();
        let Error::Version { theirs, refusal, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*theirs, Versions::from_bits(1 << 3));
        assert!(refusal.contains("no common versions"), "{error}");
        bridge.remove(&view).await;
    }
}
