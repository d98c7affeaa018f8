//! The simulated fleet on loopback: every host's daemons, and one OpenStack.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use c5c3_api::labels;
use fleet_simulator::model::{Fleet, FleetOptions, Host};
use fleet_simulator::{libvirt, openstack, ovs};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::{SimulationError, make_folder, write};
use crate::configuration::{HostAddress, Reach};

/// A fleet that runs; dropping it ends its servers.
#[derive(Debug)]
pub struct RunningFleet {
    model: Arc<Fleet>,
    addresses: BTreeMap<String, HostAddress>,
    clouds: PathBuf,
    _servers: Servers,
}

#[derive(Debug, Default)]
struct Servers {
    tasks: JoinSet<()>,
    switches: Vec<ovs::Servers>,
}

impl RunningFleet {
    /// Name of the cloud in clouds.yaml.
    pub const CLOUD: &'static str = "demo";

    /// Starts the servers of `hosts` hosts and of the cloud; their local sockets, and clouds.yaml, are made in `folder`.
    ///
    /// # Errors
    /// When there is no address to listen on, or a file cannot be written.
    pub async fn start(folder: &Path, hosts: usize, instances: usize) -> Result<Self, SimulationError> {
        let options = FleetOptions { hosts, instances, ..FleetOptions::default() };
        let model = Arc::new(Fleet::new(&options));
        let mut servers = Servers::default();
        let mut addresses = BTreeMap::new();
        for (index, host) in model.hosts.iter().enumerate() {
            let run = make_folder(folder.join("run").join(&host.name))?;
            let reach = servers.serve_host(host, &run).await?;
            let of_host = BTreeMap::from([
                (labels::HOSTNAME.to_owned(), host.name.clone()),
                (labels::ZONE.to_owned(), Fleet::zone(&options, index)),
            ]);
            let address = HostAddress { labels: of_host, reach, ..HostAddress::default() };
            addresses.insert(host.name.clone(), address);
        }
        let port = servers.serve_cloud(&model).await?;
        let clouds = write_clouds(folder.join("clouds.yaml"), &model, port)?;
        Ok(Self { model, addresses, clouds, _servers: servers })
    }

    /// The world that the servers tell of.
    pub fn model(&self) -> &Arc<Fleet> {
        &self.model
    }

    /// The host at that place, from 0, if the fleet has so many.
    pub fn host(&self, index: usize) -> Option<&Arc<Host>> {
        self.model.hosts.get(index)
    }

    /// How each host is reached.
    pub fn addresses(&self) -> &BTreeMap<String, HostAddress> {
        &self.addresses
    }

    /// The clouds.yaml file.
    pub fn clouds(&self) -> &Path {
        &self.clouds
    }
}

impl Servers {
    async fn serve_host(&mut self, host: &Arc<Host>, run: &Path) -> Result<Reach, SimulationError> {
        let (libvirt_listener, libvirt_port) = listen().await?;
        self.tasks.spawn(libvirt::serve(Arc::clone(host), libvirt_listener));
        let (ovsdb_listener, ovsdb_port) = listen().await?;
        self.switches.push(ovs::serve_ovsdb(Arc::clone(host), ovsdb_listener));
        let sockets = ovs::serve_run_directory(host, run)
            .map_err(|source| SimulationError::Sockets { host: host.name.clone(), source })?;
        self.switches.push(sockets);
        Ok(Reach {
            libvirt: Some(format!("tcp://127.0.0.1:{libvirt_port}")),
            ovsdb: Some(format!("tcp:127.0.0.1:{ovsdb_port}")),
            openvswitch_run: Some(run.join("openvswitch").display().to_string()),
            ovn_run: Some(run.join("ovn").display().to_string()),
            ..Reach::default()
        })
    }

    async fn serve_cloud(&mut self, model: &Arc<Fleet>) -> Result<u16, SimulationError> {
        let (listener, port) = listen().await?;
        let cloud = Fleet::clone(model);
        self.tasks.spawn(async move {
            if let Err(error) = openstack::serve(cloud, listener).await {
                tracing::error!(%error, "simulated cloud ended");
            }
        });
        Ok(port)
    }
}

async fn listen() -> Result<(TcpListener, u16), SimulationError> {
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(SimulationError::Listen)?;
    let port = listener.local_addr().map_err(SimulationError::Listen)?.port();
    Ok((listener, port))
}

fn write_clouds(file: PathBuf, fleet: &Fleet, port: u16) -> Result<PathBuf, SimulationError> {
    let credentials = fleet.cloud.read(|cloud| cloud.credentials.clone());
    let document = serde_json::json!({"clouds": {RunningFleet::CLOUD: {
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
    write(file, &format!("{document:#}\n"))
}
