//! The picture of a switch and how it follows what happens.

use std::time::Duration;

use ovs_client::ovsdb::{Condition, Connection, Mutation, Options, Transaction, Value};
use ovs_client::switch::{DATABASE, LinkState, SwitchView};
use ovs_client::{Endpoint, unixctl};

use crate::peer::{Peer, TestBridge, eventually, named};

#[tokio::test]
async fn the_first_picture_shows_the_integration_bridge_and_who_the_host_is() {
    for peer in Peer::all().await {
        for endpoint in [peer.tcp.clone(), peer.unix()] {
            let view = SwitchView::open(&endpoint, &Options::default()).await.unwrap();
            let switch = view.switch();
            assert_eq!(switch.unreadable, Vec::<String>::new(), "{endpoint}");
            assert!(switch.schema_version.starts_with("8."), "{}", switch.schema_version);
            assert!(view.schema().has("Bridge", "fail_mode"));
            assert!(view.database_status().unwrap().is_usable());
            let root = switch.root.as_ref().unwrap();
            assert!(!root.datapath_types.is_empty());
            assert!(switch.system_id().is_some() && switch.external_id("ovn-remote").is_some());
            let integration = switch.bridge("br-int").unwrap();
            assert_eq!(integration.fail_mode.as_deref(), Some("secure"));
            assert!(integration.datapath_id.is_some());
            let local = integration.ports.iter().find(|port| port.name == "br-int").unwrap();
            assert_eq!(local.interfaces[0].ofport, Some(65_534));
            assert_eq!(local.interfaces[0].kind, "internal");
            assert!(local.interfaces[0].statistics.as_ref().unwrap().contains_key("rx_packets"));
            let tunnel = switch.interfaces().find(|interface| interface.kind == "geneve").unwrap();
            assert!(tunnel.options.contains_key("remote_ip") && !tunnel.is_physical());
            assert!(view.counters_read_at().is_some());
        }
    }
}

#[tokio::test]
async fn a_bridge_a_port_and_a_broken_port_are_seen_as_they_come_and_go() {
    for peer in Peer::all().await {
        let view = peer.view().await;
        let bridge = TestBridge::add(&view, "ovc-ports").await;
        let local = eventually(&view, "the bridge's own port is open", |switch| {
            let port = switch.bridge("ovc-ports")?.ports.iter().find(|port| port.name == "ovc-ports")?;
            port.interfaces.first().filter(|interface| interface.ofport.is_some()).cloned()
        });
        let local = local.await;
        assert_eq!((local.ofport, local.link_state), (Some(65_534), Some(LinkState::Down)));

        let add = Transaction::default()
            .insert("Interface", "i", &[("name", "ovc-p1".into()), ("type", "internal".into())])
            .insert(
                "Interface",
                "j",
                &[("name", "ovc-missing".into()), ("external_ids", Value::map([("k", "v")]))],
            )
            .insert("Port", "p", &[("name", "ovc-p1".into()), ("interfaces", named("i")), ("tag", 7.into())])
            .insert("Port", "q", &[("name", "ovc-missing".into()), ("interfaces", named("j"))])
            .mutate(
                "Bridge",
                &[Condition::equal("name", "ovc-ports")],
                &[Mutation::insert("ports", named("p"))],
            )
            .mutate(
                "Bridge",
                &[Condition::equal("name", "ovc-ports")],
                &[Mutation::insert("ports", named("q"))],
            );
        let results = view.connection().transact(DATABASE, &add).await.unwrap();
        assert!(results[0].uuid.is_some() && results[4].count == Some(1));
        let find = |name: &'static str| {
            move |switch: &ovs_client::switch::Switch| {
                let port = switch.bridge("ovc-ports")?.ports.iter().find(|port| port.name == name)?;
                port.interfaces.first().filter(|interface| interface.ofport.is_some()).map(|_| port.clone())
            }
        };
        let port = eventually(&view, "the new port is open", find("ovc-p1")).await;
        assert_eq!((port.tag, port.bond), (Some(7), None));
        assert!(port.interfaces[0].ofport.unwrap() > 0 && port.interfaces[0].mac_in_use.is_some());
        let broken =
            eventually(&view, "the broken port has failed", find("ovc-missing")).await.interfaces.remove(0);
        assert_eq!(broken.ofport, Some(-1));
        assert!(broken.error.as_deref().unwrap().contains("No such device"), "{broken:?}");
        assert_eq!((broken.link_state, broken.admin_state, broken.mac_in_use), (None, None, None));
        assert_eq!(broken.external_ids.get("k").map(String::as_str), Some("v"));

        bridge.remove(&view).await;
        assert!(view.switch().interfaces().all(|interface| !interface.name.starts_with("ovc-p")));
    }
}

#[tokio::test]
async fn a_bond_is_seen_with_its_members_and_bond_show_tells_which_carry_traffic() {
    for peer in Peer::all().await {
        let view = peer.view().await;
        let bridge = TestBridge::add(&view, "ovc-bond").await;
        let member = |name: &'static str| [("name", Value::from(name)), ("type", "internal".into())];
        let members =
            Value::Set([named("m"), named("n")].iter().flat_map(|value| value.atoms().to_vec()).collect());
        let add = Transaction::default()
            .insert("Interface", "m", &member("ovc-m0"))
            .insert("Interface", "n", &member("ovc-m1"))
            .insert(
                "Port",
                "p",
                &[("name", "ovc-b".into()), ("interfaces", members), ("bond_mode", "active-backup".into())],
            )
            .mutate(
                "Bridge",
                &[Condition::equal("name", "ovc-bond")],
                &[Mutation::insert("ports", named("p"))],
            );
        view.connection().transact(DATABASE, &add).await.unwrap();
        let open = |switch: &ovs_client::switch::Switch| {
            let port = switch.bonds().find(|port| port.name == "ovc-b")?;
            port.interfaces.iter().all(|member| member.link_state.is_some()).then(|| port.clone())
        };
        let port = eventually(&view, "both members are open", open).await;
        assert_eq!(port.bond.as_ref().unwrap().mode.as_deref(), Some("active-backup"));
        assert_eq!(
            port.interfaces.iter().map(|member| member.name.as_str()).collect::<Vec<_>>(),
            ["ovc-m0", "ovc-m1"]
        );

        assert_eq!(bond_status(&peer).await.enabled_members(), 0);
        assert_eq!(bond_status(&peer).await.active_member, None);
        peer.set_link("ovc-b", "ovc-m1", true).await;
        let active = |name: &'static str| {
            move |switch: &ovs_client::switch::Switch| {
                let port = switch.bonds().find(|port| port.name == "ovc-b")?;
                (port.active_member()?.name == name).then_some(())
            }
        };
        eventually(&view, "the member that is up is active", active("ovc-m1")).await;
        let status = bond_status(&peer).await;
        assert_eq!(status.active_member.as_deref(), Some("ovc-m1"));
        assert_eq!((status.enabled_members(), status.members.len()), (1, 2));
        assert_eq!(status.lacp, Some(unixctl::LacpStatus::Off));

        peer.set_link("ovc-b", "ovc-m0", true).await;
        peer.set_link("ovc-b", "ovc-m1", false).await;
        eventually(&view, "the other member took over", active("ovc-m0")).await;
        assert_eq!(bond_status(&peer).await.active_member.as_deref(), Some("ovc-m0"));

        let lacp = Transaction::default().update(
            "Port",
            &[Condition::equal("name", "ovc-b")],
            &[("lacp", "active".into())],
        );
        view.connection().transact(DATABASE, &lacp).await.unwrap();
        let told = async {
            loop {
                match bond_status(&peer).await.lacp {
                    Some(unixctl::LacpStatus::Off) => tokio::task::yield_now().await,
                    told => return told,
                }
            }
        };
        let told = tokio::time::timeout(Duration::from_secs(10), told).await.unwrap();
        let known = [Some(unixctl::LacpStatus::Configured), Some(unixctl::LacpStatus::Negotiated)];
        assert!(known.contains(&told), "{told:?}");
        bridge.remove(&view).await;
    }
}

async fn bond_status(peer: &Peer) -> unixctl::BondStatus {
    let options = unixctl::Options::default();
    let directory = peer.run.join("openvswitch");
    let daemon = unixctl::Target::find(&directory, unixctl::Program::OvsVswitchd, &options).await.unwrap();
    let text = daemon.call("bond/show", &["ovc-b"], &options).await.unwrap();
    let mut bonds = unixctl::parse_bonds(text.as_bytes());
    assert_eq!(bonds.len(), 1, "{text}");
    bonds.remove(0)
}

#[tokio::test]
async fn a_change_by_somebody_else_wakes_and_says_which_table() {
    for peer in Peer::all().await {
        let view = peer.view().await;
        let other = Connection::connect(&peer.unix(), &Options::default()).await.unwrap();
        let set = |value: &str| {
            Transaction::default().mutate(
                "Open_vSwitch",
                &[],
                &[
                    Mutation::delete("external_ids", Value::from("ovc-note")),
                    Mutation::insert("external_ids", Value::map([("ovc-note", value)])),
                ],
            )
        };
        other.transact(DATABASE, &set("one")).await.unwrap();
        eventually(&view, "the first note", |switch| {
            (switch.external_id("ovc-note") == Some("one")).then_some(())
        })
        .await;
        other.transact(DATABASE, &set("two")).await.unwrap();
        let mut tables = std::collections::BTreeSet::new();
        while view.switch().external_id("ovc-note") != Some("two") {
            tables.extend(
                tokio::time::timeout(Duration::from_secs(10), view.changed()).await.unwrap().unwrap().tables,
            );
        }
        tables.extend(
            tokio::time::timeout(Duration::from_secs(1), view.changed())
                .await
                .into_iter()
                .flatten()
                .flat_map(|changes| changes.tables),
        );
        assert!(tables.contains("Open_vSwitch"), "{tables:?}");
        let clear = Transaction::default().mutate(
            "Open_vSwitch",
            &[],
            &[Mutation::delete("external_ids", Value::from("ovc-note"))],
        );
        other.transact(DATABASE, &clear).await.unwrap();
        eventually(&view, "no note", |switch| switch.external_id("ovc-note").is_none().then_some(())).await;
    }
}

#[tokio::test]
async fn a_reader_that_does_not_read_is_told_once_and_sees_the_newest() {
    for peer in Peer::all().await {
        let view = peer.view().await;
        let other = Connection::connect(&peer.tcp, &Options::default()).await.unwrap();
        for number in 0..200 {
            let note = Transaction::default()
                .mutate("Open_vSwitch", &[], &[Mutation::delete("external_ids", Value::from("ovc-count"))])
                .mutate(
                    "Open_vSwitch",
                    &[],
                    &[Mutation::insert("external_ids", Value::map([("ovc-count", number.to_string())]))],
                );
            other.transact(DATABASE, &note).await.unwrap();
        }
        eventually(&view, "the last note", |switch| {
            (switch.external_id("ovc-count") == Some("199")).then_some(())
        })
        .await;
        let clear = Transaction::default().mutate(
            "Open_vSwitch",
            &[],
            &[Mutation::delete("external_ids", Value::from("ovc-count"))],
        );
        other.transact(DATABASE, &clear).await.unwrap();
    }
}

#[tokio::test]
async fn an_idle_connection_outlives_the_servers_probes() {
    let mut waiting = tokio::task::JoinSet::new();
    for peer in Peer::all().await {
        waiting.spawn(async move {
            // All of it, servers included.
            let peer = peer;
            // So long that only the server probes.
            let options = Options { probe_interval: Duration::from_secs(60), ..Options::default() };
            let connection = Connection::connect(&peer.tcp, &options).await.unwrap();
            let ended = tokio::time::timeout(Duration::from_secs(12), connection.closed()).await;
            assert!(ended.is_err(), "{}: {ended:?}", peer.name);
            connection.echo().await.unwrap();
        });
    }
    waiting.join_all().await;
}

#[tokio::test]
async fn nobody_listening_is_an_error_that_names_the_peer() {
    let endpoint: Endpoint = "unix:/nowhere/db.sock".parse().unwrap();
    let error = SwitchView::open(&endpoint, &Options::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot connect to unix:/nowhere/db.sock");
}
