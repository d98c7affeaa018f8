//! Flux applies Hypervisor specs and Evictions from Git, corrects drift of them, waits for them, and prunes them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use c5c3_conformance::stage::Stage;
use c5c3_e2e::kubectl::condition;
use c5c3_e2e::patience::{LATER, eventually};
use c5c3_e2e::program::{command, run};

use crate::turns::on_the_stage;

const GIT: Duration = Duration::from_secs(30);

/// Where Flux and its repository are, if the rig has them.
fn places() -> Option<(PathBuf, String)> {
    let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    match (text("C5C3_RIG_FLUX"), text("C5C3_RIG_GIT_ROOT"), text("C5C3_RIG_GIT_URL")) {
        (Some(_), Some(root), Some(url)) => Some((root.into(), url)),
        _ => {
            println!("skipped: C5C3_RIG_FLUX is not set; run tests/rig/up git kube flux");
            None
        }
    }
}

/// A repository with one folder of manifests.
struct Repository {
    work: PathBuf,
}

impl Repository {
    fn create(root: &Path, work: &Path, name: &str) -> Result<Self> {
        let bare = root.join(format!("{name}.git")).display().to_string();
        let _ = std::fs::remove_dir_all(&bare);
        run(&mut command("git", &["init", "-q", "--bare", "-b", "main", &bare]), GIT)?.success()?;
        let work = work.join(name);
        run(&mut command("git", &["clone", "-q", &bare, &work.display().to_string()]), GIT)?.success()?;
        Ok(Self { work })
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        let folder = self.work.display().to_string();
        let identity =
            ["-C", &folder, "-c", "user.name=conformance", "-c", "user.email=conformance@localhost"];
        run(&mut command("git", &[&identity[..], arguments].concat()), GIT)?.success()
    }

    fn commit(&self, manifest: &str) -> Result<()> {
        std::fs::write(self.work.join("manifests.yaml"), manifest)?;
        self.git(&["add", "."])?;
        self.git(&["commit", "-q", "-m", "change"])?;
        self.git(&["push", "-q", "origin", "HEAD:main"]).map(drop)
    }
}

fn manifests(reason: &str, eviction: bool) -> String {
    let mut text = format!(
        "apiVersion: hypervisor.c5c3.io/v1
kind: Hypervisor
metadata: {{name: from-git}}
spec: {{maintenance: manual, maintenanceReason: {reason}, lifecycleEnabled: true}}
"
    );
    if eviction {
        text.push_str(
            "---
apiVersion: hypervisor.c5c3.io/v1
kind: Eviction
metadata: {name: from-git}
spec: {hypervisor: from-git, reason: conformance}
",
        );
    }
    text
}

/// covers: F1 F2 F4 F6
#[test]
fn flux_applies_corrects_and_prunes() -> Result<()> {
    let Some((root, url)) = places() else { return Ok(()) };
    on_the_stage(|stage| {
        let repository = Repository::create(&root, stage.folder(), "conformance")?;
        repository.commit(&manifests("disk", true))?;
        let flux = format!(
            "apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: conformance, namespace: flux-system}}
spec: {{interval: 1m, url: '{url}/conformance.git', ref: {{branch: main}}}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: conformance, namespace: flux-system}}
spec: {{interval: 1m, path: ./, prune: true, force: false, wait: false, sourceRef: {{kind: GitRepository, name: conformance}}}}
"
        );
        let file = stage.folder().join("flux.yaml");
        std::fs::write(&file, flux)?;
        let file = file.display().to_string();
        stage.kubectl.print(&["apply", "-f", &file])?;
        let outcome = live(stage, &repository);
        // Removing the Kustomization prunes what is left of it.
        let removed = stage.kubectl.print(&["delete", "--timeout=50s", "-f", &file]);
        outcome?;
        removed?;
        let complaint = stage.kubectl.run(&["get", "hypervisor", "from-git"])?.failure()?;
        ensure!(complaint.contains("NotFound"), "{complaint}");
        Ok(())
    })
}

fn live(stage: &Stage, repository: &Repository) -> Result<()> {
    let reason = || {
        stage.kubectl.print(&["get", "hypervisor", "from-git", "-o", "jsonpath={.spec.maintenanceReason}"])
    };
    reconciled(stage, repository)?;
    ensure!(reason()? == "disk", "{}", reason()?);
    stage.kubectl.print(&["get", "eviction", "from-git"])?;
    // Nothing to do: nothing is done.
    let generation =
        || stage.kubectl.print(&["get", "hypervisor", "from-git", "-o", "jsonpath={.metadata.generation}"]);
    let before = generation()?;
    reconciled(stage, repository)?;
    ensure!(generation()? == before, "Flux wrote what was there already");

    let drift = r#"{"spec":{"maintenanceReason":"somebody was here"}}"#;
    stage.kubectl.print(&["patch", "hypervisor", "from-git", "--type=merge", "-p", drift])?;
    ensure!(reason()? == "somebody was here", "{}", reason()?);
    reconciled(stage, repository)?;
    ensure!(reason()? == "disk", "drift was not corrected: {}", reason()?);

    repository.commit(&manifests("memory", false))?;
    reconciled(stage, repository)?;
    ensure!(reason()? == "memory", "{}", reason()?);
    let complaint = stage.kubectl.run(&["get", "eviction", "from-git"])?.failure()?;
    ensure!(complaint.contains("NotFound"), "what left Git was not pruned: {complaint}");
    Ok(())
}

/// Asks Flux to look now, and waits until it has applied what is in Git.
fn reconciled(stage: &Stage, repository: &Repository) -> Result<()> {
    let commit = repository.git(&["rev-parse", "HEAD"])?.trim().to_owned();
    let kubectl = stage.kubectl.with("--namespace=flux-system");
    let ask = |what: &str, round: u32| -> Result<String> {
        let stamp = format!("reconcile.fluxcd.io/requestedAt=at-{}-{round}", std::process::id());
        kubectl.print(&["annotate", "--overwrite", what, "conformance", &stamp])?;
        Ok(stamp.split_once('=').map(|(_, value)| value.to_owned()).unwrap_or_default())
    };
    static ROUND: AtomicU32 = AtomicU32::new(0);
    let round = ROUND.fetch_add(1, Ordering::Relaxed);
    ask("gitrepository", round)?;
    eventually(LATER, "Flux has fetched the commit", || {
        let found = kubectl.json(&["get", "gitrepository", "conformance"])?;
        let revision = found["status"]["artifact"]["revision"].as_str().unwrap_or_default().to_owned();
        ensure!(revision.ends_with(&commit), "{revision}");
        Ok(())
    })?;
    let stamp = ask("kustomization", round)?;
    eventually(LATER, "Flux has applied the commit", || {
        let found = kubectl.json(&["get", "kustomization", "conformance"])?;
        let (status, reason, message) = condition(&found, "Ready").context("no Ready yet")?;
        ensure!(status == "True", "{status} {reason}: {message}");
        let status = &found["status"];
        let applied = status["lastAppliedRevision"].as_str().unwrap_or_default();
        ensure!(applied.ends_with(&commit) && status["lastHandledReconcileAt"] == stamp.as_str(), "{status}");
        Ok(())
    })
}
