//! Helm 3 and Helm 4 as commands: what they find out about the cluster, and a life of a release with our kinds in it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use c5c3_conformance::fleet::HOSTS;
use c5c3_conformance::program::clients;
use c5c3_conformance::stage::Stage;
use c5c3_e2e::program::{command, run};

use crate::turns::on_the_stage;

const LIMIT: Duration = Duration::from_secs(120);

/// One of the two.
struct Helm<'a> {
    stage: &'a Stage,
    version: u8,
}

impl Helm<'_> {
    fn command(&self, arguments: &[&str]) -> Result<Command> {
        let mut command = command(clients()?.join(format!("helm{}", self.version)), arguments);
        command.env("KUBECONFIG", &self.stage.rig.kubeconfig).env("HOME", self.stage.folder());
        Ok(command)
    }

    fn run(&self, arguments: &[&str]) -> Result<String> {
        run(&mut self.command(arguments)?, LIMIT)?.success()
    }
}

fn chart(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("charts").join(name).display().to_string()
}

fn sees_our_kinds(version: u8) -> Result<()> {
    on_the_stage(|stage| {
        let helm = Helm { stage, version };
        let release = format!("reads-{version}");
        let chart = chart("reads");
        // Helm 3 asks the cluster for its kinds only when it validates.
        let validating: &[&str] = if version == 3 { &["--validate"] } else { &[] };
        let text = helm.run(&[&["template", &release, &chart, "--dry-run=server"], validating].concat())?;
        for line in ["group: \"true\"", "kind: \"true\"", "switches: \"true\""] {
            ensure!(text.contains(line), "no `{line}` in {text}");
        }
        let hosts = text.lines().find_map(|line| line.trim().strip_prefix("hosts: ")).unwrap_or_default();
        ensure!(hosts.split_whitespace().count() == HOSTS, "{hosts}");
        // While one replica is gone, and then the other.
        let slot = stage.serving_replica();
        stage.kill(slot)?;
        let installed = helm.run(&["install", &release, &chart]);
        stage.replace(slot)?;
        installed?;
        let list = helm.run(&["list", "--short"])?;
        let upgraded = helm.run(&["upgrade", &release, &chart]);
        helm.run(&["uninstall", &release])?;
        ensure!(list.lines().any(|line| line == release), "{list}");
        upgraded.map(drop)
    })
}

/// covers: H3 C14
#[test]
fn helm_3_sees_our_kinds_and_installs_while_a_replica_is_gone() -> Result<()> {
    sees_our_kinds(3)
}

/// covers: H3 C14
#[test]
fn helm_4_sees_our_kinds_and_installs_while_a_replica_is_gone() -> Result<()> {
    sees_our_kinds(4)
}

fn release_with_evictions(version: u8) -> Result<()> {
    on_the_stage(|stage| {
        let helm = Helm { stage, version };
        let (release, chart, host) =
            (format!("evictions-{version}"), chart("evictions"), format!("helm-{version}"));
        let label = |kind: &str| {
            stage.kubectl.print(&["get", kind, &host, "-o", "jsonpath={.metadata.labels.conformance}"])
        };
        helm.run(&["install", &release, &chart, "--set", &format!("hosts={{{host}}}")])?;
        let outcome = (|| {
            ensure!(label("eviction")? == "first", "{}", label("eviction")?);
            let uid = stage.kubectl.print(&["get", "eviction", &host, "-o", "jsonpath={.metadata.uid}"])?;
            helm.run(&["upgrade", &release, &chart, "--set", &format!("hosts={{{host}}},label=second")])?;
            ensure!(label("eviction")? == "second", "{}", label("eviction")?);
            ensure!(
                stage.kubectl.print(&["get", "eviction", &host, "-o", "jsonpath={.metadata.uid}"])? == uid,
                "it is another one"
            );
            helm.run(&["rollback", &release, "1"])?;
            ensure!(label("eviction")? == "first", "{}", label("eviction")?);
            Ok(())
        })();
        helm.run(&["uninstall", &release, "--wait"])?;
        outcome?;
        for kind in ["eviction", "hypervisor"] {
            let complaint = stage.kubectl.run(&["get", kind, &host])?.failure()?;
            ensure!(complaint.contains("NotFound"), "{complaint}");
        }
        Ok(())
    })
}

/// covers: H2
#[test]
fn helm_3_installs_upgrades_rolls_back_and_removes_evictions() -> Result<()> {
    release_with_evictions(3)
}

/// covers: H1
#[test]
fn helm_4_installs_upgrades_rolls_back_and_removes_evictions() -> Result<()> {
    release_with_evictions(4)
}
