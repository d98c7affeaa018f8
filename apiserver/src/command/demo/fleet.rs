//! The simulated fleet on loopback: every host's daemons, and one OpenStack.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleet_simulator::model::{Fleet, FleetOptions};
use fleet_simulator::{libvirt, openstack, ovs};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::command::Failure;
use crate::configuration::{HostAddress, Reach};
use c5c3_api::labels;

/// Name of the cloud in clouds.yaml.
pub(super) const CLOUD: &str = "demo";

/// A fleet that runs; dropping it ends its servers.
pub(super) struct Running {
    model: Arc<Fleet>,
    addresses: BTreeMap<String, HostAddress>,
    clouds: PathBuf,
    last: String,
    _servers: JoinSet<()>,
    _switches: Vec<ovs::Servers>,
}

/// Starts the servers of `hosts` hosts and of the cloud.
pub(super) async fn start(folder: &Path, hosts: usize, instances: usize) -> Result<Running, Failure> {
    let options = FleetOptions { hosts, instances, ..FleetOptions::default() };
    let fleet = Arc::new(Fleet::new(&options));
    let mut servers = JoinSet::new();
    let mut switches = Vec::new();
    let mut addresses = BTreeMap::new();
    for (index, host) in fleet.hosts.iter().enumerate() {
        let run = folder.join("run").join(&host.name);
        for part in ["openvswitch", "ovn"] {
            std::fs::create_dir_all(run.join(part)).map_err(|error| Failure::other(&error))?;
        }
        let (libvirt_listener, libvirt_port) = listen().await?;
        servers.spawn(libvirt::serve(Arc::clone(host), libvirt_listener));
        let (ovsdb_listener, ovsdb_port) = listen().await?;
        switches.push(ovs::serve_ovsdb(Arc::clone(host), ovsdb_listener));
        switches.push(ovs::serve_run_directory(host, &run).map_err(|error| Failure::other(&error))?);
        let zone = Fleet::zone(&options, index);
        addresses.insert(
            host.name.clone(),
            HostAddress {
                labels: BTreeMap::from([
                    (labels::HOSTNAME.to_owned(), host.name.clone()),
                    (labels::ZONE.to_owned(), zone),
                ]),
                reach: Reach {
                    libvirt: Some(format!("tcp://127.0.0.1:{libvirt_port}")),
                    ovsdb: Some(format!("tcp:127.0.0.1:{ovsdb_port}")),
                    openvswitch_run: Some(run.join("openvswitch").display().to_string()),
                    ovn_run: Some(run.join("ovn").display().to_string()),
                    ..Reach::default()
                },
                ..HostAddress::default()
            },
        );
    }
    let (cloud_listener, cloud_port) = listen().await?;
    let cloud = Fleet::clone(&fleet);
    servers.spawn(async move {
        if let Err(error) = openstack::serve(cloud, cloud_listener).await {
            tracing::error!(%error, "simulated cloud ended");
        }
    });
    let clouds = folder.join("clouds.yaml");
    write_clouds(&clouds, &fleet, cloud_port)?;
    let last = fleet.hosts.last().map(|host| host.name.clone()).unwrap_or_default();
    Ok(Running { model: fleet, addresses, clouds, last, _servers: servers, _switches: switches })
}

async fn listen() -> Result<(TcpListener, u16), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| Failure::other(&error))?;
    let port = listener.local_addr().map_err(|error| Failure::other(&error))?.port();
    Ok((listener, port))
}

fn write_clouds(file: &Path, fleet: &Fleet, port: u16) -> Result<(), Failure> {
    let credentials = fleet.cloud.read(|cloud| cloud.credentials.clone());
    let document = serde_json::json!({"clouds": {CLOUD: {
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
    }}});
    // JSON is YAML.
    std::fs::write(file, format!("{document:#}\n")).map_err(|error| Failure::other(&error))
}

impl Running {
    /// The world that the servers tell of.
    pub(super) fn model(&self) -> &Arc<Fleet> {
        &self.model
    }

    /// How each host is reached.
    pub(super) fn addresses(&self) -> BTreeMap<String, HostAddress> {
        self.addresses.clone()
    }

    /// The clouds.yaml file.
    pub(super) fn clouds(&self) -> &Path {
        &self.clouds
    }

    /// Name of the last host: the one that is in maintenance.
    pub(super) fn last_host(&self) -> &str {
        &self.last
    }
}
