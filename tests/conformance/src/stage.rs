//! Two replicas of the product behind one registration in the rig's kube-apiserver, and what may happen to them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use c5c3_e2e::kubectl::{Kubectl, condition};
use c5c3_e2e::patience::{LATER, SOON, eventually};
use c5c3_e2e::rig::Rig;
use c5c3_e2e::server::Server;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::balancer::Balancer;
use crate::fleet::SimulatedFleet;
use crate::replica;

/// The groups and versions that the product serves.
pub const APISERVICES: [&str; 3] =
    ["v1.hypervisor.c5c3.io", "v1alpha1.hypervisor.c5c3.io", "v1alpha1.ovs.c5c3.io"];

/// Time for a script that makes a handful of calls.
pub const SCRIPT: Duration = Duration::from_secs(120);

/// Time for a whole other run.
const ANOTHER_RUN: Duration = Duration::from_secs(900);

/// How long the news that an endpoint leaves takes in a cluster: the replica is told to end before everybody knows.
const PROPAGATION: Duration = Duration::from_millis(1500);

/// How far a watch of another replica's version goes back, and a little more.
const OVERLAP: Duration = Duration::from_secs(40);

/// Everything that a conformance test needs, ended when dropped.
#[derive(Debug)]
pub struct Stage {
    /// The rig's control plane.
    pub rig: Rig,
    /// kubectl as its administrator, through kube-apiserver.
    pub kubectl: Kubectl,
    /// What the replicas read.
    pub fleet: SimulatedFleet,
    balancer: Balancer,
    replicas: Mutex<Vec<Server>>,
    /// When the last one started.
    youngest: Mutex<Instant>,
    folder: TempDir,
    // After what lives on it.
    _runtime: Runtime,
    // Last, so that the next run begins when this one has ended.
    _claim: File,
}

impl Stage {
    /// Starts two replicas and registers them.
    ///
    /// # Errors
    /// When one of them does not start, or kube-apiserver does not come to reach them.
    pub fn start(rig: Rig) -> Result<Self> {
        let claim = claim(&rig)?;
        let folder = TempDir::new()?;
        let kubectl = rig.kubectl().remembering_in(folder.path());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let fleet = SimulatedFleet::start(runtime.handle(), folder.path())?;
        fleet.declare_nodes(&kubectl, folder.path())?;
        let balancer = Balancer::start(runtime.handle())?;
        let serving = folder.path().join("serving");
        fs::create_dir(&serving)?;
        for (from, to) in [("agg.crt", "tls.crt"), ("agg.key", "tls.key")] {
            fs::copy(rig.pki.join(from), serving.join(to)).with_context(|| format!("{from} of the rig"))?;
        }
        let replicas = (0..2).map(|_| replica::start(&rig, &fleet, &serving)).collect::<Result<Vec<_>>>()?;
        for server in &replicas {
            balancer.rotate(server.port(), true);
        }
        let stage = Self {
            rig,
            kubectl,
            fleet,
            balancer,
            replicas: Mutex::new(replicas),
            youngest: Mutex::new(Instant::now()),
            folder,
            _runtime: runtime,
            _claim: claim,
        };
        stage.register()?;
        stage.until_whole()?;
        Ok(stage)
    }

    /// A folder that lives as long as the stage.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Folder of the replicas' serving certificate, `tls.crt` and `tls.key`.
    #[must_use]
    pub fn serving(&self) -> PathBuf {
        self.folder().join("serving")
    }

    /// The replicas.
    pub fn replicas(&self) -> MutexGuard<'_, Vec<Server>> {
        self.replicas.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers the balancer's address in kube-apiserver.
    ///
    /// # Errors
    /// When kube-apiserver refuses.
    pub fn register(&self) -> Result<()> {
        self.rig.script("register-apiserver", &[&self.balancer.port().to_string()], SCRIPT).map(drop)
    }

    /// Takes the registration back.
    ///
    /// # Errors
    /// When kube-apiserver refuses.
    pub fn unregister(&self) -> Result<()> {
        self.rig.script("register-apiserver", &["--remove"], SCRIPT).map(drop)
    }

    /// The replica that kube-apiserver is connected to; the one with more connections, if it has both.
    #[must_use]
    pub fn serving_replica(&self) -> usize {
        let replicas = self.replicas();
        let load = |server: &Server| self.balancer.connections(server.port());
        usize::from(replicas.get(1).map(load) > replicas.first().map(load))
    }

    /// Ends a replica without a word, as a machine that loses power would.
    ///
    /// # Errors
    /// When it is not running.
    pub fn kill(&self, slot: usize) -> Result<()> {
        let mut replicas = self.replicas();
        let server = replicas.get_mut(slot).context("no such replica")?;
        server.kill()?;
        self.balancer.rotate(server.port(), false);
        Ok(())
    }

    /// Starts a replica again, after it has ended.
    ///
    /// # Errors
    /// When it does not become ready.
    pub fn replace(&self, slot: usize) -> Result<()> {
        let mut replicas = self.replicas();
        let server = replicas.get_mut(slot).context("no such replica")?;
        server.start_again(&self.rig)?;
        self.balancer.rotate(server.port(), true);
        *self.youngest.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        Ok(())
    }

    /// Replaces every replica in turn, as a Deployment does: told to end, out of rotation a moment later, replaced when it is gone.
    ///
    /// # Errors
    /// When one does not end in time or does not come back.
    pub fn roll(&self) -> Result<()> {
        for slot in 0..2 {
            {
                let mut replicas = self.replicas();
                let server = replicas.get_mut(slot).context("no such replica")?;
                server.terminate()?;
                sleep(PROPAGATION);
                self.balancer.rotate(server.port(), false);
                let status = server.ended()?;
                ensure!(status.success(), "replica {slot} ended with {status}: {}", server.last_words());
            }
            self.replace(slot)?;
        }
        Ok(())
    }

    /// Waits until every replica has been there for longer than the overlap of watches: then each can continue a watch of the other. A younger one
    /// cannot know what it has missed, and says that the version is too old.
    pub fn settle(&self) {
        let youngest = *self.youngest.lock().unwrap_or_else(PoisonError::into_inner);
        sleep(OVERLAP.saturating_sub(youngest.elapsed()));
    }

    /// Waits until kube-apiserver reaches the product and every source has answered both replicas.
    ///
    /// # Errors
    /// When that does not come.
    pub fn until_whole(&self) -> Result<()> {
        eventually(SOON, "all APIServices Available", || {
            for name in APISERVICES {
                let found = self.kubectl.json(&["get", "apiservice", name])?;
                let (status, reason, message) = condition(&found, "Available")?;
                ensure!(status == "True", "{name}: {status} {reason}: {message}");
            }
            Ok(())
        })?;
        let clients: Vec<Kubectl> =
            self.replicas().iter().map(|server| server.direct(&self.rig, "admin")).collect();
        for kubectl in clients {
            eventually(LATER, "every source has answered every replica", || {
                let list = kubectl.json(&["get", "hypervisors.v1.hypervisor.c5c3.io,ovsnodes", "-A"])?;
                let items = list["items"].as_array().cloned().unwrap_or_default();
                ensure!(items.len() == 2 * crate::fleet::HOSTS, "{} objects", items.len());
                for object in items {
                    let sources = object["status"]["sources"].as_array().cloned().unwrap_or_default();
                    let silent: Vec<_> =
                        sources.iter().filter(|source| source["state"] != "Connected").collect();
                    let what = (&object["kind"], &object["metadata"]["name"]);
                    ensure!(!sources.is_empty() && silent.is_empty(), "{what:?}: {silent:?}");
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// What a client program may wish for.
    ///
    /// # Errors
    /// When it fails, or nobody knows how.
    pub fn perform(&self, wish: &Value) -> Result<Value> {
        let text = |name: &str| wish[name].as_str().with_context(|| format!("{wish} has no {name}"));
        let slot =
            || wish["replica"].as_u64().and_then(|slot| usize::try_from(slot).ok()).context("no replica");
        match text("do")? {
            "truth" => return Ok(serde_json::to_value(self.fleet.truth())?),
            "start-domain" => return Ok(json!(self.fleet.start_domain(text("host")?)?)),
            "stop-domain" => self.fleet.stop_domain(text("host")?, text("domain")?.parse()?)?,
            "kill-replica" => {
                let slot = self.serving_replica();
                self.kill(slot)?;
                return Ok(json!(slot));
            }
            "replace-replica" => self.replace(slot()?)?,
            "roll" => self.roll()?,
            "settle" => self.settle(),
            "silence" => self.fleet.silence(true),
            "speak" => {
                self.fleet.silence(false);
                self.until_whole()?;
            }
            other => bail!("nobody here can {other}"),
        }
        Ok(Value::Null)
    }

    /// The end of both replicas' logs.
    #[must_use]
    pub fn last_words(&self) -> String {
        let words = self.replicas().iter().map(Server::last_words).collect::<Vec<_>>();
        words.join("\n-- the other replica --\n")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let undone = [self.unregister(), SimulatedFleet::withdraw_nodes(&self.kubectl)];
        for error in undone.into_iter().filter_map(Result::err) {
            eprintln!("the stage could not be cleared: {error:#}");
        }
    }
}

/// The rig's one registration is this run's until the file is closed, by whatever end.
fn claim(rig: &Rig) -> Result<File> {
    let path = rig.state.join("registration.lock");
    let file = File::create(&path).with_context(|| path.display().to_string())?;
    eventually(ANOTHER_RUN, "another run on the same rig has ended", || Ok(file.try_lock()?))?;
    Ok(file)
}
