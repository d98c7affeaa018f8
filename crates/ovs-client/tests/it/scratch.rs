//! A real ovsdb-server of our own, to be stopped, frozen and started again.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use ovs_client::Endpoint;
use ovs_client::ovsdb::{Closed, Connection, Error, Options, Transaction, Value};
use ovs_client::switch::{DATABASE, SwitchView};
use ovs_client::unixctl::{self, ConnectionStatus, Program, Target};
use tokio::process::{Child, Command};

use crate::peer::{TestBridge, eventually};

/// The schema that Debian, Ubuntu and Fedora install.
const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";

/// An ovsdb-server on a socket in a folder of its own; killed when dropped.
struct Server {
    child: Child,
    socket: PathBuf,
}

impl Server {
    /// Starts it, with a new database unless there is one; `None` where Open vSwitch is not installed.
    async fn start(directory: &Path) -> Option<Self> {
        if !Path::new(SCHEMA).exists() {
            println!("skipped: {SCHEMA} is not there; install Open vSwitch");
            return None;
        }
        let (database, socket) = (directory.join("conf.db"), directory.join("db.sock"));
        if !database.exists() {
            let created =
                Command::new("ovsdb-tool").arg("create").arg(&database).arg(SCHEMA).status().await.unwrap();
            assert!(created.success());
        }
        let _ = std::fs::remove_file(&socket);
        let child = Command::new("ovsdb-server")
            .arg(&database)
            .arg(format!("--remote=punix:{}", socket.display()))
            .arg(format!("--unixctl={}", directory.join("ovsdb-server.ctl").display()))
            .env("OVS_RUNDIR", directory)
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let listening = async {
            while tokio::net::UnixStream::connect(&socket).await.is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), listening).await.unwrap();
        Some(Self { child, socket })
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint::Unix(self.socket.clone())
    }

    async fn signal(&self, name: &str) {
        let pid = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().await.unwrap().success());
    }
}

/// The root row, which otherwise a start script would write.
async fn initialise(endpoint: &Endpoint) {
    let connection = Connection::connect(endpoint, &Options::default()).await.unwrap();
    let root = Transaction::default().insert(DATABASE, "root", &[]);
    connection.transact(DATABASE, &root).await.unwrap();
}

#[tokio::test]
async fn an_empty_database_has_no_root_and_says_so_until_it_has_one() {
    let directory = tempfile::tempdir().unwrap();
    let Some(server) = Server::start(directory.path()).await else { return };
    let view = SwitchView::open(&server.endpoint(), &Options::default()).await.unwrap();
    assert_eq!((view.switch().root, view.switch().bridges.len()), (None, 0));
    initialise(&server.endpoint()).await;
    eventually(&view, "a root row", |switch| switch.root.as_ref().map(|_| ())).await;
    let root = view.switch().root.unwrap();
    assert_eq!((root.ovs_version, root.dpdk_version, root.cur_cfg), (None, None, Some(0)));
}

#[tokio::test]
async fn a_server_that_was_killed_ends_the_view_and_a_new_view_has_only_what_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let Some(mut server) = Server::start(directory.path()).await else { return };
    initialise(&server.endpoint()).await;
    let view = SwitchView::open(&server.endpoint(), &Options::default()).await.unwrap();
    let bridge = TestBridge::add(&view, "ovc-kill").await;
    eventually(&view, "the bridge", |switch| switch.bridge("ovc-kill").map(|_| ())).await;
    server.child.kill().await.unwrap();
    let error = loop {
        match view.changed().await {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Closed { reason: Closed::ByPeer | Closed::Read(_), .. }), "{error:?}");
    assert!(SwitchView::open(&server.endpoint(), &Options::default()).await.is_err());

    let server = Server::start(directory.path()).await.unwrap();
    let other = SwitchView::open(&server.endpoint(), &Options::default()).await.unwrap();
    bridge.remove(&other).await;
    assert!(view.switch().bridge("ovc-kill").is_some(), "the old picture is what it was");
    let fresh = SwitchView::open(&server.endpoint(), &Options::default()).await.unwrap();
    assert!(fresh.switch().bridges.is_empty());
}

#[tokio::test]
async fn a_frozen_server_is_noticed_by_probes_and_by_unixctl_deadlines() {
    let directory = tempfile::tempdir().unwrap();
    let Some(server) = Server::start(directory.path()).await else { return };
    let options = Options { probe_interval: Duration::from_millis(300), ..Options::default() };
    let view = SwitchView::open(&server.endpoint(), &options).await.unwrap();
    let control = unixctl::Options { request_deadline: Duration::from_millis(300), ..Default::default() };
    let target = Target::find(directory.path(), Program::OvsdbServer, &control).await.unwrap();
    // Probes keep a quiet connection to a living server.
    assert!(tokio::time::timeout(Duration::from_secs(2), view.connection().closed()).await.is_err());
    server.signal("STOP").await;
    let error = tokio::time::timeout(Duration::from_secs(5), view.changed()).await.unwrap().unwrap_err();
    assert!(matches!(error, Error::Closed { reason: Closed::Silent(_), .. }), "{error:?}");
    let error = target.call("version", &[], &control).await.unwrap_err();
    assert!(matches!(error, unixctl::Error::Deadline { .. }), "{error:?}");
    server.signal("CONT").await;
    target.call("ovsdb-server/list-dbs", &[], &unixctl::Options::default()).await.unwrap();
}

#[tokio::test]
async fn an_ovn_controller_that_reaches_no_southbound_database_says_not_connected() {
    let directory = tempfile::tempdir().unwrap();
    let Some(server) = Server::start(directory.path()).await else { return };
    let connection = Connection::connect(&server.endpoint(), &Options::default()).await.unwrap();
    // Port 1 of loopback: nobody listens there.
    let settings = [
        ("system-id", "scratch"),
        ("ovn-remote", "tcp:127.0.0.1:1"),
        ("ovn-encap-type", "geneve"),
        ("ovn-encap-ip", "127.0.0.1"),
    ];
    let root = Transaction::default().insert(DATABASE, "root", &[("external_ids", Value::map(settings))]);
    connection.transact(DATABASE, &root).await.unwrap();
    let started = Command::new("ovn-controller")
        .arg(server.endpoint().to_string())
        .env("OVS_RUNDIR", directory.path())
        .env("OVN_RUNDIR", directory.path())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn();
    let Ok(_controller) = started else {
        println!("skipped: ovn-controller is not installed");
        return;
    };
    let options = unixctl::Options::default();
    // It writes no pid file: the socket is found by its name.
    let asked = async {
        loop {
            match Target::find(directory.path(), Program::OvnController, &options).await {
                Ok(target) => return target.call("connection-status", &[], &options).await.unwrap(),
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    let text = tokio::time::timeout(Duration::from_secs(10), asked).await.unwrap();
    assert_eq!(ConnectionStatus::parse(text.as_bytes()), ConnectionStatus::NotConnected, "{text:?}");
}
