//! A whole server: the processes of this machine as a Kubernetes resource, read from `/proc` once a second.
//!
//! Standalone, for holders of client certificates of an authority (organisation `readers` or `admins`):
//!
//! ```sh
//! cargo run -p aggregated-apiserver --example live_resource -- 127.0.0.1:8443 tls.crt tls.key client-ca.crt
//! kubectl --server https://127.0.0.1:8443 … get processes --watch
//! ```
//!
//! Without the last argument it serves behind the kube-apiserver that the current kubeconfig (or the Pod's service account)
//! points to: that one's front proxy is believed, its SubjectAccessReviews decide.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use aggregated_apiserver::{
    ApiServer, AuthenticationConfigMap, CertificateAuthenticator, ClientAuthorityFile, Collection,
    CollectionOptions, Column, GroupAuthorizer, Readiness, ResourceDefinition, Scope, ServerBuilder,
    SubjectAccessReviewAuthorizer, TlsConfig, VersionClock, VersionInfo,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Where to serve, and for whom.
pub(crate) struct Options {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    /// Issues certificates of clients; none to serve behind kube-apiserver.
    pub(crate) client_authority: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> Result<(), Fault> {
    tracing_subscriber::fmt().with_env_filter(std::env::var("RUST_LOG").unwrap_or("info".into())).init();
    rustls::crypto::aws_lc_rs::default_provider().install_default().map_err(|_| "a provider is installed")?;
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (listen, certificate, key, client_authority) = match arguments.as_slice() {
        [listen, certificate, key] => (listen, certificate, key, None),
        [listen, certificate, key, authority] => (listen, certificate, key, Some(authority.into())),
        _ => return Err("usage: live_resource LISTEN CERTIFICATE KEY [CLIENT_CA]".into()),
    };
    let options = Options { certificate: certificate.into(), key: key.into(), client_authority };
    let stop = CancellationToken::new();
    let interrupted = stop.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            interrupted.cancel();
        }
    });
    serve(TcpListener::bind(listen).await?, options, stop).await
}

/// Serves until it is stopped.
pub(crate) async fn serve(
    listener: TcpListener,
    options: Options,
    stop: CancellationToken,
) -> Result<(), Fault> {
    // What is served: nothing is shown before `complete` is called, so that nobody takes a start for an empty machine.
    let clock = Arc::new(VersionClock::new(0));
    let closed = CollectionOptions { complete: false, ..CollectionOptions::default() };
    let processes = Collection::new(definition(), clock, closed)?;
    let readiness = Readiness::new();
    let filled = readiness.latch("processes");
    let server = ApiServer::builder()
        .collection(processes.clone())
        .readiness(readiness)
        .version_info(VersionInfo::of(env!("CARGO_PKG_VERSION")));
    let server = with_access(server, options.client_authority, &stop).await?.build()?;

    // What is shown: read once a second. Whatever is not a change makes no event.
    tokio::spawn(async move {
        loop {
            if let Err(error) = publish(&processes) {
                tracing::warn!(%error, "processes cannot be read");
            }
            processes.complete();
            filled.open();
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    tracing::info!(address = %listener.local_addr()?, "listening");
    server.serve(listener, TlsConfig::from_files(options.certificate, options.key)?, stop).await?;
    Ok(())
}

/// Who is believed, and who decides.
async fn with_access(
    server: ServerBuilder,
    client_authority: Option<PathBuf>,
    stop: &CancellationToken,
) -> Result<ServerBuilder, Fault> {
    let stop = stop.clone();
    if let Some(file) = client_authority {
        let file = ClientAuthorityFile::open(file)?;
        let trust = file.trust().clone();
        tokio::spawn(async move { file.follow(stop).await });
        return Ok(server
            .authenticator(Arc::new(CertificateAuthenticator::new(trust)))
            .authorizer(Arc::new(GroupAuthorizer::new("readers", "admins"))));
    }
    let client = kube::Client::try_default().await?;
    let cluster = AuthenticationConfigMap::new(client.clone());
    cluster.read().await?;
    let trust = cluster.trust().clone();
    tokio::spawn(async move { cluster.follow(stop).await });
    Ok(server
        .authenticator(Arc::new(CertificateAuthenticator::new(trust)))
        .authorizer(Arc::new(SubjectAccessReviewAuthorizer::new(client))))
}

fn definition() -> ResourceDefinition {
    let text = |description: &str| json!({"type": "string", "description": description});
    ResourceDefinition {
        group: "machine.example.com".into(),
        version: "v1".into(),
        kind: "Process".into(),
        list_kind: "ProcessList".into(),
        plural: "processes".into(),
        singular: "process".into(),
        short_names: vec!["proc".into()],
        categories: vec![],
        scope: Scope::Cluster,
        columns: vec![
            Column::string("Command", ".spec.command"),
            Column::string("State", ".status.state"),
            Column::typed("Threads", "integer", ".status.threads"),
            Column::typed("Resident", "integer", ".status.residentKiB").wide(),
            Column::age(),
        ],
        selectable_fields: vec![".spec.command".into(), ".status.state".into()],
        schema: json!({
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object", "description": "What was started.",
                    "properties": {"command": text("Name of the program.")},
                },
                "status": {
                    "type": "object", "description": "How it is doing.",
                    "properties": {
                        "state": text("R running, S sleeping, D waiting, Z gone, T stopped."),
                        "threads": {"type": "integer", "description": "Number of threads."},
                        "residentKiB": {"type": "integer", "description": "Resident memory in KiB."},
                    },
                },
            },
        }),
        description: "A process of this machine.".into(),
    }
}

/// Publishes every process that is there, withdraws the others.
fn publish(processes: &Collection) -> Result<(), Fault> {
    let mut seen = BTreeSet::new();
    let boot = boot_time()?;
    for entry in std::fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // A process may end while it is read.
        let Some(object) = read_process(pid, boot) else { continue };
        seen.insert(format!("pid-{pid}"));
        processes.publish(object)?;
    }
    processes.retain(|key| seen.contains(&key.name));
    Ok(())
}

fn boot_time() -> Result<i64, Fault> {
    let text = std::fs::read_to_string("/proc/stat")?;
    let line = text.lines().find_map(|line| line.strip_prefix("btime ")).ok_or("no btime in /proc/stat")?;
    Ok(line.trim().parse()?)
}

fn read_process(pid: u32, boot: i64) -> Option<Value> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (head, tail) = stat.rsplit_once(')')?;
    let command = head.split_once('(')?.1;
    let fields: Vec<&str> = tail.split_whitespace().collect();
    // Fields 3, 20, 22 and 24 of proc(5); a tick is a hundredth of a second, a page 4 KiB.
    let state = fields.first()?;
    let threads: i64 = fields.get(17)?.parse().ok()?;
    let started: i64 = fields.get(19)?.parse().ok()?;
    let pages: i64 = fields.get(21)?.parse().ok()?;
    let created = jiff::Timestamp::from_second(boot + started / 100).ok()?;
    let identity = format!("{pid}/{started}");
    Some(json!({
        "metadata": {
            "name": format!("pid-{pid}"),
            "uid": uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, identity.as_bytes()),
            "creationTimestamp": created,
            "labels": {"command": label(command)},
        },
        "spec": {"command": command},
        "status": {"state": state, "threads": threads, "residentKiB": pages * 4},
    }))
}

/// What of a text may be a label's value.
fn label(text: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    text.chars().map(legal).take(63).collect::<String>().trim_matches('-').to_owned()
}
