//! The daemons that the suite runs against.

use std::sync::Arc;
use std::time::Duration;

use fleet_simulator::libvirt::{Accounts, Listener};
use fleet_simulator::model::{Fleet, FleetOptions, Host};
use libvirt_rpc::{
    CallError, Connection, Connector, Credentials, Endpoint, Event, Events, OpenOptions, TlsClient,
    TlsEndpoint, TlsFiles,
};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::JoinHandle;

use crate::certificates::{Certificates, Checks};

/// Longest wait for something that should happen at once.
pub(crate) const SOON: Duration = Duration::from_secs(15);

/// A daemon to test against.
#[derive(Debug)]
pub(crate) struct Target {
    /// Name for messages.
    pub(crate) name: String,
    pub(crate) endpoint: Endpoint,
    /// Certificates for a TLS endpoint.
    pub(crate) tls: Option<TlsClient>,
    pub(crate) credentials: Option<Credentials>,
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
    pub(crate) certificates: Option<Certificates>,
    _folder: Option<tempfile::TempDir>,
}

impl Drop for Simulated {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Target {
    pub(crate) fn options(&self) -> OpenOptions {
        let mut options = OpenOptions::new(self.uri);
        options.credentials = self.credentials.clone();
        options
    }

    pub(crate) fn connector(&self) -> Box<dyn Connector> {
        match (&self.endpoint, &self.tls) {
            (Endpoint::Tls { host, port }, Some(client)) => {
                Box::new(TlsEndpoint::new(host, *port, client.clone()))
            }
            (endpoint, _) => Box::new(endpoint.clone()),
        }
    }

    pub(crate) async fn open(&self) -> (Connection, Events) {
        self.open_with(self.options()).await
    }

    pub(crate) async fn open_with(&self, options: OpenOptions) -> (Connection, Events) {
        Connection::open(&*self.connector(), options)
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

/// Serves a simulated host.
pub(crate) fn serve(
    name: &str,
    host: Arc<Host>,
    listener: Listener,
    endpoint: Endpoint,
    folder: Option<tempfile::TempDir>,
) -> Target {
    let server = tokio::spawn(fleet_simulator::libvirt::serve(Arc::clone(&host), listener));
    let simulated = Some(Simulated { host, server, certificates: None, _folder: folder });
    let name = format!("simulator by {name}");
    Target { name, endpoint, tls: None, credentials: None, uri: "qemu:///system", driver: "QEMU", simulated }
}

/// A free port of this machine.
pub(crate) async fn loopback() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// A simulated host on loopback TCP.
pub(crate) async fn simulator_tcp() -> Vec<Target> {
    let (listener, port) = loopback().await;
    let endpoint = Endpoint::Tcp { host: "127.0.0.1".to_owned(), port };
    vec![serve("TCP", simulated_host(), listener.into(), endpoint, None)]
}

/// A simulated host on a unix socket.
pub(crate) async fn simulator_unix() -> Vec<Target> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libvirt-sock");
    let listener = UnixListener::bind(&path).unwrap();
    vec![serve("unix socket", simulated_host(), listener.into(), Endpoint::Unix(path), Some(folder))]
}

/// A simulated host by TLS with certificates of both sides.
pub(crate) async fn simulator_tls() -> Vec<Target> {
    vec![simulator_tls_that(Checks::InHandshake).await]
}

/// A simulated host by TLS.
pub(crate) async fn simulator_tls_that(checks: Checks) -> Target {
    let (listener, port) = loopback().await;
    let certificates = Certificates::new();
    let listener = Listener::from(listener).with_tls(certificates.daemon(checks));
    let endpoint = Endpoint::Tls { host: "127.0.0.1".to_owned(), port };
    let mut target = serve("TLS", simulated_host(), listener, endpoint, None);
    target.tls = Some(certificates.client());
    target.simulated.as_mut().unwrap().certificates = Some(certificates);
    target
}

/// A simulated host that wants a name and a password.
pub(crate) async fn simulator_sasl() -> Vec<Target> {
    let (listener, port) = loopback().await;
    let (user, password) = ("ob=server,1", "pencil, sharp");
    let accounts = Accounts {
        mechanisms: "PLAIN,SCRAM-SHA-256".to_owned(),
        user: user.to_owned(),
        password: password.to_owned(),
    };
    let listener = Listener::from(listener).with_accounts(accounts);
    let endpoint = Endpoint::Tcp { host: "127.0.0.1".to_owned(), port };
    let mut target = serve("SASL", simulated_host(), listener, endpoint, None);
    target.credentials = Some(Credentials::new(user, password));
    vec![target]
}

/// The rig's hosts by TCP.
pub(crate) async fn rig_tcp() -> Vec<Target> {
    let hosts = rig_hosts();
    hosts.into_iter().map(|(name, address)| real(&name, tcp(&address), "qemu:///system", "QEMU")).collect()
}

/// The rig's hosts by unix socket.
pub(crate) async fn rig_unix() -> Vec<Target> {
    let Some(folder) = rig("C5C3_RIG_NODE_DIR") else { return Vec::new() };
    let socket = |name: &str| Endpoint::Unix(format!("{folder}/{name}/run/libvirt/libvirt-sock").into());
    rig_hosts().into_iter().map(|(name, _)| real(&name, socket(&name), "qemu:///system", "QEMU")).collect()
}

/// The test driver in the first host's daemon.
pub(crate) async fn rig_test_driver() -> Vec<Target> {
    let hosts = rig_hosts().into_iter().take(1);
    hosts.map(|(name, address)| real(&name, tcp(&address), "test:///default", "TEST")).collect()
}

/// The rig's hosts by TLS.
pub(crate) async fn rig_tls() -> Vec<Target> {
    let Some(client) = rig_client("observer") else { return Vec::new() };
    let by_tls = |(name, address): (String, String)| {
        let mut target = real(&name, tls(&address), "qemu:///system", "QEMU");
        target.tls = Some(client.clone());
        target
    };
    rig_hosts().into_iter().map(by_tls).collect()
}

/// The rig's daemon that wants a name and a password, by TLS and by its unix socket, and the one that wants the password as it is.
pub(crate) async fn rig_sasl() -> Vec<Target> {
    let (Some(client), Some(address), Some(sockets), Some(credentials)) =
        (rig_client("observer"), rig("C5C3_RIG_SASL"), rig("C5C3_RIG_SASL_SOCKETS"), rig_credentials())
    else {
        return Vec::new();
    };
    let sockets = sockets.split_whitespace().map(|socket| Endpoint::Unix(socket.into()));
    let endpoints = std::iter::once(tls(&address)).chain(sockets);
    let targets = endpoints.map(|endpoint| {
        let mut target = real("sasl", endpoint, "test:///default", "TEST");
        target.tls = Some(client.clone());
        target.credentials = Some(credentials.clone());
        target
    });
    targets.collect()
}

/// What the rig's daemons with SASL take.
pub(crate) fn rig_credentials() -> Option<Credentials> {
    Some(Credentials::new(rig("C5C3_RIG_SASL_USER")?, rig("C5C3_RIG_SASL_PASSWORD")?))
}

/// A client of the rig's with the certificate of that name.
pub(crate) fn rig_client(name: &str) -> Option<TlsClient> {
    let folder = rig("C5C3_RIG_LIBVIRT_PKI")?;
    let file = |name: String| format!("{folder}/{name}");
    let files =
        TlsFiles::new(file("ca.crt".to_owned()), file(format!("{name}.crt")), file(format!("{name}.key")));
    Some(TlsClient::from_files(files).unwrap())
}

/// A variable of the rig's; says so when there is none.
pub(crate) fn rig(variable: &str) -> Option<String> {
    let value = std::env::var(variable).ok();
    if value.is_none() {
        println!("skipped: {variable} is not set; run tests/rig/up");
    }
    value
}

fn tcp(address: &str) -> Endpoint {
    Endpoint::Tcp { host: address.to_owned(), port: libvirt_rpc::DEFAULT_TCP_PORT }
}

pub(crate) fn tls(address: &str) -> Endpoint {
    Endpoint::Tls { host: address.to_owned(), port: libvirt_rpc::DEFAULT_TLS_PORT }
}

fn real(name: &str, endpoint: Endpoint, uri: &'static str, driver: &'static str) -> Target {
    let name = format!("{name} ({endpoint} {uri})");
    Target { name, endpoint, tls: None, credentials: None, uri, driver, simulated: None }
}

/// Name and address of each host of the rig.
pub(crate) fn rig_hosts() -> Vec<(String, String)> {
    let Some(hosts) = rig("C5C3_RIG_HOSTS") else { return Vec::new() };
    let pairs =
        hosts.split_whitespace().map(|pair| pair.split_once('=').expect("NAME=ADDRESS in C5C3_RIG_HOSTS"));
    pairs.map(|(name, address)| (name.to_owned(), address.to_owned())).collect()
}
