//! One server for all tests, because kube-apiserver has one registration to give.
//!
//! It is started by the first test that needs it and stopped by the last one that waits for it, so that nothing is left
//! behind however many of them run. Tests take turns: some of them break what others look at.

use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use c5c3_e2e::kubectl::{Kubectl, condition};
use c5c3_e2e::patience::{LATER, SOON, eventually};
use c5c3_e2e::rig::Rig;
use c5c3_e2e::server::Server;
use tempfile::TempDir;

/// The groups and versions that the product serves.
pub(crate) const APISERVICES: [&str; 3] =
    ["v1.hypervisor.c5c3.io", "v1alpha1.hypervisor.c5c3.io", "v1alpha1.ovs.c5c3.io"];

/// Time for a script that makes a handful of calls.
const SCRIPT: Duration = Duration::from_secs(60);

/// Time for a whole other run.
const ANOTHER_RUN: Duration = Duration::from_secs(900);

/// The server under test, registered in the rig.
#[derive(Debug)]
pub(crate) struct Product {
    pub(crate) rig: Rig,
    /// kubectl through kube-apiserver, as its administrator.
    pub(crate) kubectl: Kubectl,
    server: Mutex<Server>,
    _folder: TempDir,
    // Last, so that the next run begins when this server has ended.
    _claim: File,
}

struct Shared {
    product: Weak<Product>,
    /// Why it could not be started: it is not tried again by every test.
    failed: Option<String>,
}

static SHARED: Mutex<Shared> = Mutex::new(Shared { product: Weak::new(), failed: None });

/// Whose turn it is, and whether the one before has failed and may have left sources behind that recover only now.
static TURN: Mutex<Before> = Mutex::new(Before::Passed);

#[derive(Clone, Copy, PartialEq)]
enum Before {
    Passed,
    Failed,
}

/// Runs a test against the product when it is its turn; does nothing, and says so, where there is no rig.
pub(crate) fn on_the_rig(test: impl FnOnce(&Product) -> Result<()>) -> Result<()> {
    let Some(rig) = Rig::from_environment()? else { return Ok(()) };
    on(rig, test)
}

/// Runs a test that needs no more than the Kubernetes cluster of a rig: hosts and clouds are used where they are.
pub(crate) fn on_the_cluster(test: impl FnOnce(&Product) -> Result<()>) -> Result<()> {
    let rig = if std::env::var_os("C5C3_RIG_HOSTS").is_some() {
        Rig::from_environment()?
    } else {
        Rig::kubernetes_from_environment()?
    };
    rig.map_or(Ok(()), |rig| on(rig, test))
}

fn on(rig: Rig, test: impl FnOnce(&Product) -> Result<()>) -> Result<()> {
    let share = Share(Some(share(rig)?));
    let product = share.0.as_deref().context("no product")?;
    let mut turn = lock(&TURN);
    if std::mem::replace(&mut *turn, Before::Failed) == Before::Failed {
        product.until_hosts_are_read()?;
    }
    let log = LogOfFailure(product);
    let began = Instant::now();
    let outcome = test(product);
    println!("took {} ms", began.elapsed().as_millis());
    match outcome {
        Ok(()) => *turn = Before::Passed,
        Err(_) => log.print(),
    }
    outcome
}

impl Product {
    fn start(rig: Rig) -> Result<Self> {
        let claim = claim(&rig)?;
        let folder = TempDir::new()?;
        let kubectl = rig.kubectl().remembering_in(folder.path());
        let server = Server::start(&rig)?;
        let product = Self { kubectl, server: Mutex::new(server), rig, _folder: folder, _claim: claim };
        let port = product.server().port().to_string();
        product.rig.script("register-apiserver", &[&port], SCRIPT)?;
        product.until_available()?;
        product.until_hosts_are_read()?;
        Ok(product)
    }

    /// The server's process.
    pub(crate) fn server(&self) -> MutexGuard<'_, Server> {
        lock(&self.server)
    }

    /// Waits until kube-apiserver says that it reaches every group.
    pub(crate) fn until_available(&self) -> Result<()> {
        eventually(SOON, "all APIServices Available", || {
            for name in APISERVICES {
                let found = self.kubectl.json(&["get", "apiservice", name])?;
                let (status, reason, message) = condition(&found, "Available")?;
                ensure!(status == "True", "{name}: {status} {reason}: {message}");
            }
            Ok(())
        })
    }

    /// Waits until every source of every host has answered.
    pub(crate) fn until_hosts_are_read(&self) -> Result<()> {
        eventually(LATER, "every source of every host has answered", || {
            for host in self.rig.hosts.keys() {
                for object in [self.kubectl.hypervisor(host)?, self.kubectl.ovs_node(host)?] {
                    let sources = object["status"]["sources"].as_array().cloned().unwrap_or_default();
                    let silent: Vec<_> =
                        sources.iter().filter(|source| source["state"] != "Connected").collect();
                    ensure!(!sources.is_empty() && silent.is_empty(), "{host}: {silent:?}");
                }
            }
            Ok(())
        })
    }
}

impl Drop for Product {
    fn drop(&mut self) {
        if let Err(error) = self.rig.script("register-apiserver", &["--remove"], SCRIPT) {
            eprintln!("the registration could not be taken back: {error:#}");
        }
    }
}

/// The rig's one registration is this run's until the file is closed, by whatever end.
fn claim(rig: &Rig) -> Result<File> {
    let path = rig.state.join("registration.lock");
    let file = File::create(&path).with_context(|| path.display().to_string())?;
    eventually(ANOTHER_RUN, "another run of these tests on the same rig has ended", || Ok(file.try_lock()?))?;
    Ok(file)
}

/// A test's claim on the product. Given back under the lock, so that no other server starts while this one still ends.
struct Share(Option<Arc<Product>>);

impl Drop for Share {
    fn drop(&mut self) {
        let _shared = lock(&SHARED);
        drop(self.0.take());
    }
}

fn share(rig: Rig) -> Result<Arc<Product>> {
    let mut shared = lock(&SHARED);
    if let Some(product) = shared.product.upgrade() {
        return Ok(product);
    }
    if let Some(failed) = &shared.failed {
        return Err(anyhow!("the product did not start for an earlier test: {failed}"));
    }
    match Product::start(rig) {
        Ok(product) => {
            let product = Arc::new(product);
            shared.product = Arc::downgrade(&product);
            Ok(product)
        }
        Err(error) => {
            shared.failed = Some(format!("{error:#}"));
            Err(error)
        }
    }
}

/// Shows the end of the server's log when a test fails by panicking.
struct LogOfFailure<'a>(&'a Product);

impl LogOfFailure<'_> {
    fn print(&self) {
        println!("the server's log ends with:\n{}", self.0.server().last_words());
    }
}

impl Drop for LogOfFailure<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.print();
        }
    }
}

/// A test that failed has told so; the others go on.
fn lock<Guarded>(mutex: &Mutex<Guarded>) -> MutexGuard<'_, Guarded> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
