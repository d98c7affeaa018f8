//! The switches that the suite runs against.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use fleet_simulator::model::{Fleet, FleetOptions, Host};
use fleet_simulator::ovs::{Servers, serve_ovsdb, serve_run_directory};
use ovs_client::Endpoint;
use ovs_client::ovsdb::{Atom, Mutation, Transaction, Value};
use ovs_client::switch::{DATABASE, Switch, SwitchView};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// A switch under test.
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) tcp: Endpoint,
    /// Holds `openvswitch` and `ovn`.
    pub(crate) run: PathBuf,
    kind: Kind,
}

enum Kind {
    Simulated { host: Arc<Host>, _servers: [Servers; 2], _directory: tempfile::TempDir },
    Real { pid: PathBuf },
}

impl Peer {
    /// A simulated host of its own.
    pub(crate) async fn simulated() -> Self {
        let fleet = Fleet::new(&FleetOptions { hosts: 2, ..FleetOptions::default() });
        let host = Arc::clone(&fleet.hosts[0]);
        let directory = tempfile::tempdir().unwrap();
        let listener = tokio::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let address = listener.local_addr().unwrap();
        let servers =
            [serve_ovsdb(Arc::clone(&host), listener), serve_run_directory(&host, directory.path()).unwrap()];
        Self {
            name: "simulator".to_owned(),
            tcp: Endpoint::Tcp { host: address.ip().to_string(), port: address.port() },
            run: directory.path().to_owned(),
            kind: Kind::Simulated { host, _servers: servers, _directory: directory },
        }
    }

    /// The simulator, and every host of the rig.
    pub(crate) async fn all() -> Vec<Self> {
        let mut peers = vec![Self::simulated().await];
        let (Ok(hosts), Ok(nodes)) = (std::env::var("C5C3_RIG_HOSTS"), std::env::var("C5C3_RIG_NODE_DIR"))
        else {
            println!("skipped real daemons: C5C3_RIG_HOSTS is not set; run tests/rig/up");
            return peers;
        };
        for (name, ip) in hosts.split_whitespace().map(|host| host.split_once('=').unwrap()) {
            let node = PathBuf::from(&nodes).join(name);
            peers.push(Self {
                name: name.to_owned(),
                tcp: Endpoint::Tcp { host: ip.to_owned(), port: 6640 },
                run: node.join("run"),
                kind: Kind::Real { pid: node.join("pid") },
            });
        }
        peers
    }

    pub(crate) fn is_real(&self) -> bool {
        matches!(self.kind, Kind::Real { .. })
    }

    /// The simulated host.
    pub(crate) fn host(&self) -> &Host {
        match &self.kind {
            Kind::Simulated { host, .. } => host,
            Kind::Real { .. } => panic!("{} is real", self.name),
        }
    }

    /// The database's local socket.
    pub(crate) fn unix(&self) -> Endpoint {
        Endpoint::Unix(self.run.join("openvswitch/db.sock"))
    }

    /// The management socket of a bridge.
    pub(crate) fn management(&self, bridge: &str) -> Endpoint {
        Endpoint::Unix(self.run.join(format!("openvswitch/{bridge}.mgmt")))
    }

    /// Opens the view over TCP.
    pub(crate) async fn view(&self) -> SwitchView {
        SwitchView::open(&self.tcp, &Default::default()).await.unwrap()
    }

    /// Sets the link of an interface, as a cable would.
    pub(crate) async fn set_link(&self, bond: &str, interface: &str, up: bool) {
        match &self.kind {
            Kind::Simulated { host, .. } => assert!(host.set_bond_member(bond, interface, up)),
            Kind::Real { pid } => {
                let pid = std::fs::read_to_string(pid).unwrap();
                let state = if up { "up" } else { "down" };
                let command = ["-t", pid.trim(), "-n", "ip", "link", "set", interface, state];
                assert!(Command::new("nsenter").args(command).status().await.unwrap().success());
            }
        }
    }

    /// Puts flows into a table that has none.
    pub(crate) async fn add_flows(&self, bridge: &str, table: u8, flows: u32) {
        match &self.kind {
            Kind::Simulated { host, .. } => assert!(host.set_flows(bridge, table, flows)),
            Kind::Real { .. } => {
                let socket = self.management(bridge).to_string();
                let mut child = Command::new("ovs-ofctl")
                    .args(["-O", "OpenFlow13,OpenFlow14,OpenFlow15", "add-flows", &socket, "-"])
                    .stdin(Stdio::piped())
                    .spawn()
                    .unwrap();
                let line = |number: u32| {
                    format!(
                        "table={table},in_port=1,ip,nw_dst=10.0.{}.{},actions=drop\n",
                        number / 256,
                        number % 256
                    )
                };
                let text: String = (0..flows).map(line).collect();
                child.stdin.take().unwrap().write_all(text.as_bytes()).await.unwrap();
                assert!(child.wait().await.unwrap().success());
            }
        }
    }
}

/// Waits until the picture is as wanted; gives what `wanted` found in it.
pub(crate) async fn eventually<T>(view: &SwitchView, what: &str, wanted: impl Fn(&Switch) -> Option<T>) -> T {
    let waiting = async {
        loop {
            if let Some(found) = wanted(&view.switch()) {
                return found;
            }
            view.changed().await.unwrap();
        }
    };
    match tokio::time::timeout(Duration::from_secs(20), waiting).await {
        Ok(found) => found,
        Err(_) => panic!("never seen: {what}; the picture is {:#?}", view.switch()),
    }
}

/// A bridge of its own for one test; removed by [`TestBridge::remove`] and before it is made again.
pub(crate) struct TestBridge {
    pub(crate) name: &'static str,
}

impl TestBridge {
    /// Makes it, with nothing but its own port.
    pub(crate) async fn add(view: &SwitchView, name: &'static str) -> Self {
        let bridge = Self { name };
        if view.switch().bridge(name).is_some() {
            bridge.remove(view).await;
        }
        let transaction = Transaction::default()
            .insert("Interface", "i", &[("name", name.into()), ("type", "internal".into())])
            .insert("Port", "p", &[("name", name.into()), ("interfaces", named("i"))])
            .insert(
                "Bridge",
                "b",
                &[("name", name.into()), ("datapath_type", "netdev".into()), ("ports", named("p"))],
            )
            .mutate("Open_vSwitch", &[], &[Mutation::insert("bridges", named("b"))]);
        view.connection().transact(DATABASE, &transaction).await.unwrap();
        bridge
    }

    /// Removes it; the test has failed before if it stays.
    pub(crate) async fn remove(&self, view: &SwitchView) {
        let bridge = view.switch().bridge(self.name).unwrap().uuid;
        let transaction = Transaction::default().mutate(
            "Open_vSwitch",
            &[],
            &[Mutation::delete("bridges", Value::from(bridge))],
        );
        view.connection().transact(DATABASE, &transaction).await.unwrap();
        eventually(view, "the test's bridge is gone", |switch| {
            switch.bridge(self.name).is_none().then_some(())
        })
        .await;
    }
}

/// A reference to a row of the same transaction.
pub(crate) fn named(name: &str) -> Value {
    Atom::NamedUuid(name.to_owned()).into()
}
