//! One stage for all tests, because kube-apiserver has one registration to give; tests take turns, because they break it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use c5c3_conformance::stage::Stage;
use c5c3_e2e::rig::Rig;

struct Shared {
    stage: Weak<Stage>,
    /// Why it could not be started: it is not tried again by every test.
    failed: Option<String>,
}

static SHARED: Mutex<Shared> = Mutex::new(Shared { stage: Weak::new(), failed: None });

/// Whose turn it is, and whether the one before has failed and may have left the stage broken.
static TURN: Mutex<bool> = Mutex::new(true);

/// Runs a test on the stage when it is its turn; does nothing, and says so, where there is no rig.
pub(crate) fn on_the_stage(test: impl FnOnce(&Stage) -> Result<()>) -> Result<()> {
    let Some(rig) = control_plane() else { return Ok(()) };
    let share = Share(Some(share(rig)?));
    let stage = share.0.as_deref().context("no stage")?;
    let mut whole = lock(&TURN);
    if !std::mem::replace(&mut *whole, false) {
        stage.fleet.silence(false);
        stage.until_whole()?;
    }
    let log = LogOfFailure(stage);
    let began = Instant::now();
    let outcome = test(stage);
    println!("took {} ms", began.elapsed().as_millis());
    match outcome {
        Ok(()) => *whole = true,
        Err(_) => log.print(),
    }
    outcome
}

/// The control plane of a rig; its other parts are not needed here.
fn control_plane() -> Option<Rig> {
    let mut missing = None;
    let mut path = |name: &'static str| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty());
        if value.is_none() {
            missing.get_or_insert(name);
        }
        PathBuf::from(value.unwrap_or_default())
    };
    let rig = Rig {
        state: path("C5C3_RIG_STATE"),
        kubeconfig: path("C5C3_RIG_KUBECONFIG"),
        kubectl: path("C5C3_RIG_KUBECTL"),
        pki: path("C5C3_RIG_PKI"),
        hosts: std::collections::BTreeMap::new(),
        nodes: PathBuf::new(),
        clouds: PathBuf::new(),
        openstack: PathBuf::new(),
    };
    match missing {
        Some(name) => {
            println!("skipped: {name} is not set; run tests/rig/up");
            None
        }
        None => Some(rig),
    }
}

/// A test's claim on the stage. Given back under the lock, so that no other one starts while this one still ends.
struct Share(Option<Arc<Stage>>);

impl Drop for Share {
    fn drop(&mut self) {
        let _shared = lock(&SHARED);
        drop(self.0.take());
    }
}

fn share(rig: Rig) -> Result<Arc<Stage>> {
    let mut shared = lock(&SHARED);
    if let Some(stage) = shared.stage.upgrade() {
        return Ok(stage);
    }
    if let Some(failed) = &shared.failed {
        return Err(anyhow!("the stage did not start for an earlier test: {failed}"));
    }
    match Stage::start(rig) {
        Ok(stage) => {
            let stage = Arc::new(stage);
            shared.stage = Arc::downgrade(&stage);
            Ok(stage)
        }
        Err(error) => {
            shared.failed = Some(format!("{error:#}"));
            Err(error)
        }
    }
}

/// Shows the end of the replicas' logs when a test fails by panicking.
struct LogOfFailure<'a>(&'a Stage);

impl LogOfFailure<'_> {
    fn print(&self) {
        println!("the replicas' logs end with:\n{}", self.0.last_words());
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
