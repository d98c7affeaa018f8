//! The daemons that the suite runs against.

use std::sync::Arc;
use std::time::Duration;

use fleet_simulator::model::{Fleet, FleetOptions, Host};
use libvirt_rpc::{CallError, Connection, Endpoint, Event, Events, OpenOptions};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::JoinHandle;

/// Longest wait for something that should happen at once.
pub(crate) const SOON: Duration = Duration::from_secs(15);

/// A daemon to test against.
#[derive(Debug)]
pub(crate) struct Target {
    /// Name for messages.
    pub(crate) name: String,
    pub(crate) endpoint: Endpoint,
    pub(crate) uri: &'static str,
    /// Name of the driver behind the URI.
    pub(crate) driver: &'static str,
    /// The host behind a simulated daemon.
    pub(crate) simulated: Option<Simulated>,
}

/// A simulated daemon; stopped when dropped.
#[derive(Debug)]
pub(crate) struct Simulated {
    pub(crate) host: Arc<Host>,
    server: JoinHandle<()>,
    _folder: Option<tempfile::TempDir>,
}

impl Drop for Simulated {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Target {
    pub(crate) fn options(&self) -> OpenOptions {
        OpenOptions::new(self.uri)
    }

    pub(crate) async fn open(&self) -> (Connection, Events) {
        self.open_with(self.options()).await
    }

    pub(crate) async fn open_with(&self, options: OpenOptions) -> (Connection, Events) {
        Connection::open(&self.endpoint, options)
            .await
            .unwrap_or_else(|error| panic!("{}: {error:?}", self.name))
    }

    /// What a call gave, or `None` where the test driver lacks it.
    pub(crate) fn given<T>(&self, outcome: Result<T, CallError>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(error) if self.driver == "TEST" && error.is_unsupported() => None,
            Err(error) => panic!("{}: {error:?}", self.name),
        }
    }

    /// A small domain without disks that this daemon can start.
    pub(crate) fn domain_xml(&self, name: &str) -> String {
        let kind = if self.driver == "TEST" { "test" } else { "qemu" };
        format!(
            "<domain type='{kind}'><name>{name}</name><memory unit='MiB'>32</memory><vcpu>1</vcpu>\
             <os><type arch='x86_64'>hvm</type></os></domain>"
        )
    }
}

/// A name that no other test uses.
pub(crate) fn unique(what: &str) -> String {
    format!("it-{what}-{}", uuid::Uuid::new_v4().simple())
}

/// Waits for the first event that `pick` takes.
pub(crate) async fn wait_for<T>(events: &mut Events, pick: impl Fn(&Event) -> Option<T>) -> T {
    let found = async {
        loop {
            let event = events.next().await.expect("the connection ended");
            if let Some(found) = pick(&event) {
                return found;
            }
        }
    };
    tokio::time::timeout(SOON, found).await.expect("the event did not come")
}

/// One simulated host with a few domains.
pub(crate) fn simulated_host() -> Arc<Host> {
    let options = FleetOptions { hosts: 1, instances: 3, ..FleetOptions::default() };
    Arc::clone(Fleet::new(&options).hosts.first().unwrap())
}

/// A simulated host on loopback TCP.
pub(crate) async fn simulator_tcp() -> Vec<Target> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let host = simulated_host();
    let server = tokio::spawn(fleet_simulator::libvirt::serve(Arc::clone(&host), listener));
    let simulated = Some(Simulated { host, server, _folder: None });
    let endpoint = Endpoint::Tcp { host: "127.0.0.1".to_owned(), port };
    vec![Target { name: "simulator".to_owned(), endpoint, uri: "qemu:///system", driver: "QEMU", simulated }]
}

/// A simulated host on a unix socket.
pub(crate) async fn simulator_unix() -> Vec<Target> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libvirt-sock");
    let listener = UnixListener::bind(&path).unwrap();
    let host = simulated_host();
    let server = tokio::spawn(fleet_simulator::libvirt::serve(Arc::clone(&host), listener));
    let simulated = Some(Simulated { host, server, _folder: Some(folder) });
    let endpoint = Endpoint::Unix(path);
    vec![Target { name: "simulator".to_owned(), endpoint, uri: "qemu:///system", driver: "QEMU", simulated }]
}

/// The rig's hosts by TCP.
pub(crate) async fn rig_tcp() -> Vec<Target> {
    let hosts = rig_hosts();
    hosts.into_iter().map(|(name, address)| real(&name, tcp(&address), "qemu:///system", "QEMU")).collect()
}

/// The rig's hosts by unix socket.
pub(crate) async fn rig_unix() -> Vec<Target> {
    let Ok(folder) = std::env::var("C5C3_RIG_NODE_DIR") else {
        println!("skipped: C5C3_RIG_NODE_DIR is not set; run tests/rig/up");
        return Vec::new();
    };
    let socket = |name: &str| Endpoint::Unix(format!("{folder}/{name}/run/libvirt/libvirt-sock").into());
    rig_hosts().into_iter().map(|(name, _)| real(&name, socket(&name), "qemu:///system", "QEMU")).collect()
}

/// The test driver in the first host's daemon.
pub(crate) async fn rig_test_driver() -> Vec<Target> {
    let hosts = rig_hosts().into_iter().take(1);
    hosts.map(|(name, address)| real(&name, tcp(&address), "test:///default", "TEST")).collect()
}

fn tcp(address: &str) -> Endpoint {
    Endpoint::Tcp { host: address.to_owned(), port: libvirt_rpc::DEFAULT_TCP_PORT }
}

fn real(name: &str, endpoint: Endpoint, uri: &'static str, driver: &'static str) -> Target {
    Target { name: format!("{name} ({endpoint} {uri})"), endpoint, uri, driver, simulated: None }
}

/// Name and address of each host of the rig.
pub(crate) fn rig_hosts() -> Vec<(String, String)> {
    let Ok(hosts) = std::env::var("C5C3_RIG_HOSTS") else {
        println!("skipped: C5C3_RIG_HOSTS is not set; run tests/rig/up");
        return Vec::new();
    };
    let pairs =
        hosts.split_whitespace().map(|pair| pair.split_once('=').expect("NAME=ADDRESS in C5C3_RIG_HOSTS"));
    pairs.map(|(name, address)| (name.to_owned(), address.to_owned())).collect()
}
