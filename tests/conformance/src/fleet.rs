//! The simulated hosts and cloud that both replicas read, and what is true there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use c5c3_apiserver::simulation::RunningFleet;
use c5c3_e2e::kubectl::Kubectl;
use fleet_simulator::model::{Domain, DomainState, Fault, Fleet, Host};
use serde::Serialize;
use tokio::runtime::Handle;
use uuid::Uuid;

/// Number of simulated hosts: more than a few, so that lists have pages.
pub const HOSTS: usize = 12;

/// Instances on each of them when a test begins.
const INSTANCES: usize = 3;

/// Label of the Nodes of this fleet, by which the replicas know theirs: the rig has other hosts.
pub const NODE_LABEL: &str = "conformance.c5c3.io/host";

/// A fleet that runs in this process.
#[derive(Debug)]
pub struct SimulatedFleet {
    running: RunningFleet,
}

/// What is true in the fleet, for clients to compare with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Truth {
    /// Domains of each host by UUID, by the name of the host; there is one Hypervisor and one OVSNode for each.
    pub hosts: BTreeMap<String, BTreeSet<Uuid>>,
    /// Namespace of the OVSNodes.
    pub ovs_namespace: &'static str,
}

impl SimulatedFleet {
    /// Starts it with its sockets and clouds.yaml in a folder.
    ///
    /// # Errors
    /// When there is no address to listen on, or a file cannot be written.
    pub fn start(runtime: &Handle, folder: &Path) -> Result<Self> {
        let running = runtime.block_on(RunningFleet::start(folder, HOSTS, INSTANCES)).context("the fleet")?;
        Ok(Self { running })
    }

    /// What is true now.
    #[must_use]
    pub fn truth(&self) -> Truth {
        let domains = |host: &Host| host.read(|state| state.domains.keys().copied().collect());
        let hosts = self.model().hosts.iter().map(|host| (host.name.clone(), domains(host))).collect();
        Truth { hosts, ovs_namespace: "ovn-system" }
    }

    /// Starts a domain more on a host and says its UUID.
    ///
    /// # Errors
    /// When there is no such host.
    pub fn start_domain(&self, host: &str) -> Result<Uuid> {
        const MEMORY_KIB: u64 = 1024 * 1024;
        let uuid = Uuid::new_v4();
        let host = self.host(host)?;
        host.define(Domain {
            uuid,
            name: format!("instance-{}", uuid.simple()),
            id: None,
            state: DomainState::SHUTOFF,
            vcpus: 1,
            memory_kib: MEMORY_KIB,
            max_memory_kib: MEMORY_KIB,
            running_since: None,
            persistent: false,
            server_name: Some(format!("server-{uuid}")),
            job: None,
        });
        ensure!(host.start(uuid), "the domain did not start");
        Ok(uuid)
    }

    /// Ends a domain, which is gone then.
    ///
    /// # Errors
    /// When there is no such host or domain.
    pub fn stop_domain(&self, host: &str, uuid: Uuid) -> Result<()> {
        ensure!(self.host(host)?.stop(uuid), "{host} has no running domain {uuid}");
        Ok(())
    }

    /// Takes libvirt, Open vSwitch and the cloud away, or gives them back.
    pub fn silence(&self, silent: bool) {
        let (fault, of_cloud) =
            if silent { (Fault::Refuse, Fault::Unavailable) } else { (Fault::None, Fault::None) };
        for host in &self.model().hosts {
            host.set_faults(|faults| {
                faults.libvirt = fault;
                faults.ovsdb = fault;
                faults.openflow = fault;
                faults.unixctl = fault;
            });
        }
        self.model().cloud.change(|cloud| cloud.fault = of_cloud);
    }

    /// Declares the Nodes of the fleet: they are the incarnation of the hosts, so that both replicas give them the same UID.
    ///
    /// # Errors
    /// When kube-apiserver refuses.
    pub fn declare_nodes(&self, kubectl: &Kubectl, folder: &Path) -> Result<()> {
        let mut manifest = String::new();
        for (index, host) in self.model().hosts.iter().enumerate() {
            let zone = if index % 2 == 0 { "zone-a" } else { "zone-b" };
            write!(
                manifest,
                "---
apiVersion: v1
kind: Node
metadata:
  name: {name}
  labels:
    {NODE_LABEL}: simulated
    kubernetes.io/hostname: {name}
    kubernetes.metal.cloud.sap/bb: bb{block}
    topology.kubernetes.io/zone: {zone}
",
                name = host.name,
                block = index / 4 + 1,
            )?;
        }
        let file = folder.join("nodes.yaml");
        std::fs::write(&file, manifest)?;
        let file = file.display().to_string();
        kubectl.print(&["apply", "--server-side", "--force-conflicts", "-f", &file]).map(drop)
    }

    /// Takes the Nodes back.
    ///
    /// # Errors
    /// When kube-apiserver refuses.
    pub fn withdraw_nodes(kubectl: &Kubectl) -> Result<()> {
        kubectl.print(&["delete", "nodes", "-l", NODE_LABEL, "--wait=false"]).map(drop)
    }

    /// How each host is reached, and the cloud, as lines of a server's configuration.
    ///
    /// # Errors
    /// When it cannot be written as JSON, which YAML is.
    pub fn configuration(&self) -> Result<String> {
        Ok(format!(
            "hosts: {}\nopenstack: {}\n",
            serde_json::json!({"known": serde_json::to_value(self.running.addresses())?}),
            serde_json::json!({"clouds": self.running.clouds(), "cloud": RunningFleet::CLOUD}),
        ))
    }

    fn model(&self) -> &Fleet {
        self.running.model()
    }

    fn host(&self, name: &str) -> Result<&Host> {
        self.model().host(name).map(AsRef::as_ref).with_context(|| format!("the fleet has no host {name}"))
    }
}
