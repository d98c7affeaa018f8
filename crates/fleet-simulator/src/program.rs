//! The program: listens, writes the configuration that leads to it, and does what it is told line by line.
//!
//! All hosts share one listener per protocol, see [`fleet_simulator::shared`]. What a host offers on local sockets only
//! (OpenFlow, unixctl) is not served: a server far away could not reach it either.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleet_simulator::model::{Fleet, FleetOptions};
use fleet_simulator::shared::{self, Daemon, SharedListener};
use fleet_simulator::{control, openstack};
use serde_json::{Map, Value, json};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// Name of the cloud in clouds.yaml.
const CLOUD: &str = "simulated";

/// A fleet of simulated hosts and one OpenStack that speak the real protocols on loopback.
///
/// Writes the `hosts` and `openstack` sections of the configuration of c5c3-apiserver, then reads commands from standard
/// input, one a line (`help` lists them), and answers each with `ok` or with why not. Ends with the input.
#[derive(Debug, clap::Parser)]
#[command(version)]
pub(crate) struct Arguments {
    /// Number of hosts.
    #[arg(long, default_value_t = 3)]
    hosts: usize,
    /// Running instances on each host.
    #[arg(long, default_value_t = 10)]
    instances: usize,
    /// Another number makes other instances: other UUIDs and sizes.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many instances of a host have a port on its switch; absent: all.
    #[arg(long)]
    plugged: Option<usize>,
    /// Serve no Open vSwitch databases.
    #[arg(long)]
    without_switches: bool,
    /// Folder for `configuration.yaml` and `clouds.yaml`.
    #[arg(long, default_value = "fleet")]
    folder: PathBuf,
}

/// Why there is no fleet.
#[derive(Debug, Error)]
pub(crate) enum ProgramError {
    /// No address to listen on.
    #[error("cannot listen on loopback")]
    Listen(#[source] io::Error),
    /// A file could not be written.
    #[error("cannot write {0}")]
    Write(PathBuf, #[source] io::Error),
    /// Nobody takes what is said.
    #[error("cannot answer on standard output")]
    Answer(#[source] io::Error),
}

/// Serves until the input ends.
pub(crate) async fn run(arguments: Arguments) -> Result<(), ProgramError> {
    let options = FleetOptions {
        hosts: arguments.hosts,
        instances: arguments.instances,
        seed: arguments.seed,
        plugged: arguments.plugged.unwrap_or(usize::MAX),
        ..FleetOptions::default()
    };
    let fleet = Arc::new(Fleet::new(&options));
    let mut servers = JoinSet::new();
    let libvirt = listen(&fleet, Daemon::Libvirt, &mut servers).await?;
    let ovsdb = match arguments.without_switches {
        true => None,
        false => Some(listen(&fleet, Daemon::Ovsdb, &mut servers).await?),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(ProgramError::Listen)?;
    let cloud = listener.local_addr().map_err(ProgramError::Listen)?.port();
    let whole = Fleet::clone(&fleet);
    servers.spawn(async move {
        if let Err(error) = openstack::serve(whole, listener).await {
            eprintln!("fleet-simulator: the cloud ended: {error}");
        }
    });
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder).map_err(|source| ProgramError::Write(folder.clone(), source))?;
    let clouds = write(folder.join("clouds.yaml"), &clouds(&fleet, cloud))?;
    let written = configuration(&fleet, &options, libvirt, ovsdb, &clouds);
    let file = write(folder.join("configuration.yaml"), &written)?;
    say(&format!("ready {}", file.display()))?;
    obey(&fleet).await
}

async fn listen(fleet: &Fleet, daemon: Daemon, servers: &mut JoinSet<()>) -> Result<u16, ProgramError> {
    let listener = SharedListener::bind(fleet, daemon).await.map_err(ProgramError::Listen)?;
    let port = listener.port().map_err(ProgramError::Listen)?;
    servers.spawn(listener.serve());
    Ok(port)
}

/// Carries out the lines of standard input until it ends. Reading them blocks, so it has a thread of its own.
async fn obey(fleet: &Fleet) -> Result<(), ProgramError> {
    let (lines, mut read) = mpsc::channel::<(String, oneshot::Sender<()>)>(1);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let (done, answered) = oneshot::channel();
            if lines.blocking_send((line, done)).is_err() || answered.blocking_recv().is_err() {
                return;
            }
        }
    });
    while let Some((line, done)) = read.recv().await {
        match line.trim() {
            "" => {}
            "help" => say(control::HELP)?,
            line => match control::carry_out(fleet, line) {
                Ok(()) => say("ok")?,
                Err(error) => say(&format!("no: {error}"))?,
            },
        }
        // The thread is gone only when the input is.
        let _ = done.send(());
    }
    Ok(())
}

fn say(line: &str) -> Result<(), ProgramError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(ProgramError::Answer)
}

fn configuration(
    fleet: &Fleet,
    options: &FleetOptions,
    libvirt: u16,
    ovsdb: Option<u16>,
    clouds: &Path,
) -> Value {
    let mut reach = Map::from_iter([("libvirt".to_owned(), json!(format!("tcp://{{address}}:{libvirt}")))]);
    if let Some(port) = ovsdb {
        reach.insert("ovsdb".to_owned(), json!(format!("tcp:{{address}}:{port}")));
    }
    let host = |(index, host): (usize, &Arc<fleet_simulator::model::Host>)| {
        let labels = json!({
            "kubernetes.io/hostname": host.name,
            "topology.kubernetes.io/zone": Fleet::zone(options, index),
        });
        (host.name.clone(), json!({"address": shared::address(index).to_string(), "labels": labels}))
    };
    let known: BTreeMap<String, Value> = fleet.hosts.iter().enumerate().map(host).collect();
    json!({
        "hosts": {"reach": reach, "known": known},
        "openstack": {"clouds": clouds, "cloud": CLOUD},
    })
}

fn clouds(fleet: &Fleet, port: u16) -> Value {
    let credentials = fleet.cloud.read(|cloud| cloud.credentials.clone());
    json!({"clouds": {CLOUD: {
        "auth_type": "password",
        "region_name": "RegionOne",
        "auth": {
            "auth_url": format!("http://127.0.0.1:{port}/identity/v3"),
            "username": credentials.username,
            "password": credentials.password,
            "project_name": credentials.project,
            "user_domain_name": "Default",
            "project_domain_name": "Default",
        },
    }}})
}

/// Writes a document; JSON is YAML.
fn write(file: PathBuf, document: &Value) -> Result<PathBuf, ProgramError> {
    match std::fs::write(&file, format!("{document:#}\n")) {
        Ok(()) => Ok(std::path::absolute(&file).unwrap_or(file)),
        Err(source) => Err(ProgramError::Write(file, source)),
    }
}
