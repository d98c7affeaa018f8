//! kube-controller-manager walks every group: collector, namespaces and quota work beside us, after a restart, and with every backend away.

use std::process;

use anyhow::{Context as _, Result, ensure};
use c5c3_conformance::stage::Stage;
use c5c3_e2e::kubectl::Kubectl;
use c5c3_e2e::patience::{LATER, SOON, eventually};

use crate::turns::on_the_stage;

/// A namespace of a test. Deleted when dropped, without waiting.
struct Namespace {
    kubectl: Kubectl,
    name: String,
}

impl Namespace {
    fn create(stage: &Stage, what: &str) -> Result<Self> {
        let name = format!("conformance-{what}-{}", process::id());
        stage.kubectl.print(&["create", "namespace", &name])?;
        let kubectl = stage.kubectl.with(format!("--namespace={name}"));
        eventually(SOON, "its default service account", || {
            kubectl.print(&["get", "serviceaccount", "default"])
        })?;
        Ok(Self { kubectl, name })
    }

    fn count(&self, kind: &str) -> Result<usize> {
        Ok(self.kubectl.print(&["get", kind, "-o", "name"])?.lines().count())
    }

    /// A Deployment with so many pods, which nobody runs.
    fn deploy(&self, name: &str, pods: usize) -> Result<()> {
        self.kubectl.print(&["create", "deployment", name, "--image=none", &format!("--replicas={pods}")])?;
        eventually(LATER, "its pods", || {
            let found = self.count("pods")?;
            ensure!(found == pods, "{found}");
            Ok(())
        })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let arguments = ["delete", "namespace", &self.name, "--ignore-not-found", "--wait=false"];
        if let Err(error) = self.kubectl.print(&arguments) {
            eprintln!("{error:#}");
        }
    }
}

/// Ends a daemon of the rig at once, and has the rig start it again.
pub(crate) fn restart_daemon(stage: &Stage, name: &str) -> Result<()> {
    let file = stage.rig.state.join("daemons").join(name);
    let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let pid = text.split_whitespace().next().context("no pid")?;
    let kill = c5c3_e2e::program::run(&mut c5c3_e2e::program::command("kill", &["-KILL", pid]), SOON)?;
    kill.success()?;
    stage.rig.script("up", &["kube"], LATER).map(drop)
}

/// covers: C8 C10 G1 G2
#[test]
fn after_a_restart_the_collector_collects_and_spares_what_a_hypervisor_owns() -> Result<()> {
    on_the_stage(|stage| {
        restart_daemon(stage, "kube-controller-manager")?;
        let namespace = Namespace::create(stage, "garbage")?;
        let uid = stage.kubectl.print(&["get", "hypervisor", "host-1", "-o", "jsonpath={.metadata.uid}"])?;
        let own = |name: &str, uid: &str| -> Result<()> {
            let manifest = serde_json::json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace.name, "ownerReferences": [
                    {"apiVersion": "hypervisor.c5c3.io/v1", "kind": "Hypervisor", "name": "host-1", "uid": uid}]},
            });
            let file = stage.folder().join(format!("{name}.json"));
            std::fs::write(&file, manifest.to_string())?;
            namespace.kubectl.print(&["create", "-f", &file.display().to_string()]).map(drop)
        };
        own("owned", &uid)?;
        own("dangling", "00000000-0000-4000-8000-000000000000")?;
        namespace.deploy("doomed", 2)?;
        namespace.kubectl.print(&["delete", "deployment", "doomed", "--cascade=background"])?;
        eventually(LATER, "the pods are collected", || {
            let left = namespace.count("pods")?;
            ensure!(left == 0, "{left} pods are left");
            Ok(())
        })?;
        // Owned by somebody of that name who is somebody else: the collector has asked us, and believed us.
        eventually(LATER, "what dangles is collected", || {
            ensure!(
                namespace.kubectl.run(&["get", "configmap", "dangling"])?.failure()?.contains("NotFound"),
                "it is there"
            );
            Ok(())
        })?;
        namespace.kubectl.print(&["get", "configmap", "owned"]).map(drop)
    })
}

/// covers: C11 C12 N1 N2
#[test]
fn a_namespace_is_deleted_to_the_end_with_every_backend_away() -> Result<()> {
    on_the_stage(|stage| {
        stage.fleet.silence(true);
        let deleted = (|| {
            let namespace = Namespace::create(stage, "namespace")?;
            namespace.kubectl.print(&["create", "configmap", "something"])?;
            stage.kubectl.print(&["delete", "namespace", &namespace.name, "--timeout=30s"])
        })();
        stage.fleet.silence(false);
        stage.until_whole()?;
        deleted.map(drop)
    })
}

/// covers: C8 N3
#[test]
fn a_quota_counts_again_after_a_deletion_and_after_a_restart() -> Result<()> {
    on_the_stage(|stage| {
        let namespace = Namespace::create(stage, "quota")?;
        let used = |wanted: &str| {
            eventually(LATER, "the quota counts", || {
                let found = namespace.kubectl.print(&[
                    "get",
                    "resourcequota",
                    "few",
                    "-o",
                    "jsonpath={.status.used.pods}",
                ])?;
                ensure!(found == wanted, "{found:?}, not {wanted}");
                Ok(())
            })
        };
        namespace.kubectl.print(&["create", "quota", "few", "--hard=pods=5"])?;
        namespace.deploy("counted", 2)?;
        used("2")?;
        restart_daemon(stage, "kube-controller-manager")?;
        namespace.kubectl.print(&["delete", "deployment", "counted"])?;
        used("0")
    })
}
