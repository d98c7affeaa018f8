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
use std::sync::Arc;
use std::time::Duration;

use aggregated_apiserver::{
    ApiServer, AuthenticationConfigMap, CertificateAuthenticator, Collection, CollectionOptions, Column,
    GroupAuthorizer, Readiness, ResourceDefinition, Scope, SubjectAccessReviewAuthorizer, TlsConfig, Trust,
    VersionClock, VersionInfo,
};
use arc_swap::ArcSwap;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

type Fault = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Fault> {
    tracing_subscriber::fmt().with_env_filter(std::env::var("RUST_LOG").unwrap_or("info".into())).init();
    rustls::crypto::aws_lc_rs::default_provider().install_default().map_err(|_| "a provider is installed")?;
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (listen, certificate, key, authority) = match arguments.as_slice() {
        [listen, certificate, key] => (listen, certificate, key, None),
        [listen, certificate, key, authority] => (listen, certificate, key, Some(authority)),
        _ => return Err("usage: live_resource LISTEN CERTIFICATE KEY [CLIENT_CA]".into()),
    };

    let clock = Arc::new(VersionClock::new(0));
    let options = CollectionOptions { complete: false, ..CollectionOptions::default() };
    let processes = Collection::new(definition(), clock, options)?;
    let readiness = Readiness::new();
    let filled = readiness.latch("processes");
    let mut server = ApiServer::builder()
        .collection(processes.clone())
        .readiness(readiness)
        .version_info(VersionInfo::of(env!("CARGO_PKG_VERSION")));

    let stop = CancellationToken::new();
    if let Some(authority) = authority {
        let trust = Trust::clients_of(&std::fs::read_to_string(authority)?)?;
        let trust = Arc::new(ArcSwap::from_pointee(trust));
        server = server
            .authenticator(Arc::new(CertificateAuthenticator::new(trust)))
            .authorizer(Arc::new(GroupAuthorizer::new("readers", "admins")));
    } else {
        let client = kube::Client::try_default().await?;
        let cluster = AuthenticationConfigMap::new(client.clone());
        cluster.read().await?;
        server = server
            .authenticator(Arc::new(CertificateAuthenticator::new(cluster.trust().clone())))
            .authorizer(Arc::new(SubjectAccessReviewAuthorizer::new(client)));
        let stop = stop.clone();
        tokio::spawn(async move { cluster.follow(stop).await });
    }

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
    let interrupted = stop.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            interrupted.cancel();
        }
    });
    let listener = TcpListener::bind(listen).await?;
    tracing::info!(address = %listener.local_addr()?, "listening");
    server.build()?.serve(listener, TlsConfig::from_files(certificate, key)?, stop).await?;
    Ok(())
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
