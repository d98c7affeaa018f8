//! The topology on the rig: the renderer commits into the Git server, and real Flux brings it into the real kube-apiserver, in order.
//!
//! One kube-apiserver is every cluster here: the kubeconfig Secrets of the attached clusters all lead to it. Controllers that are not on the
//! rig (External Secrets, cert-manager, helm-controller, the C5C3 operators) are stood in for: see `c5c3_e2e::stand_in`. The kinds are
//! upstream's own; where their schemas are not at hand, the test is skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use c5c3_e2e::kubectl::{Kubectl, condition, names};
use c5c3_e2e::patience::{LATER, eventually};
use c5c3_e2e::program::{command, run};
use c5c3_e2e::renderer::renderer;
use c5c3_e2e::rig::Rig;
use c5c3_e2e::stand_in::StandIn;
use serde_json::Value;

const FLUX: &str = "--namespace=flux-system";
const SAMPLE: &str = include_str!("../../../../renderer/samples/first-light/topology.yaml");
const POINT_FLUX: &str = include_str!("../../../../flux/topology.yaml");
const KINDS: &str = "kustomizations.kustomize.toolkit.fluxcd.io";
const CHASSIS: &str = "ovnchassis.ovn.openstack.c5c3.io";

/// Groups whose definitions the sample needs.
const DEFINITIONS: [&str; 9] = [
    "c5c3.io_controlplanes",
    "cert-manager.io_certificates",
    "cert-manager.io_clusterissuers",
    "cert-manager.io_issuers",
    "external-secrets.io_externalsecrets",
    "helm.toolkit.fluxcd.io_helmreleases",
    "neutron.openstack",
    "nova.openstack",
    "ovn.openstack",
];

/// The repository, the cluster, and what has to be tidied up.
struct Stage {
    kubectl: Kubectl,
    folder: tempfile::TempDir,
    repository: PathBuf,
    url: String,
}

impl Stage {
    /// Installs the definitions, makes a repository, points Flux at it.
    fn set(rig: &Rig) -> Result<Option<Self>> {
        let (Some(root), Some(base)) =
            (std::env::var_os("C5C3_RIG_GIT_ROOT"), std::env::var("C5C3_RIG_GIT_URL").ok())
        else {
            println!("skipped: C5C3_RIG_GIT_ROOT is not set; run tests/rig/up");
            return Ok(None);
        };
        if std::env::var_os("C5C3_RIG_FLUX").is_none() {
            println!("skipped: C5C3_RIG_FLUX is not set; run tests/rig/up");
            return Ok(None);
        }
        let kubectl = rig.kubectl();
        if !install_definitions(&kubectl)? {
            return Ok(None);
        }
        let name = format!("topology-{}.git", std::process::id());
        let repository = Path::new(&root).join(&name);
        run(
            &mut command("git", &["init", "--quiet", "--bare", "--initial-branch=main", text(&repository)?]),
            LATER,
        )?
        .success()?;
        let stage = Self { kubectl, folder: tempfile::tempdir()?, repository, url: format!("{base}/{name}") };
        stage.tidy_up()?;
        // cert-manager and the C5C3 operators bring these along.
        stage.kubectl.run(&["create", "namespace", "cert-manager"])?;
        Ok(Some(stage))
    }

    fn commit(&self, topology: &str, more: &[&str]) -> Result<c5c3_e2e::program::Said> {
        let file = self.folder.path().join("topology.yaml");
        fs::write(&file, topology)?;
        let cache = self.folder.path().join("cache");
        let arguments =
            ["commit", text(&file)?, "--repository", &self.url, "--cache", text(&cache)?, "--output", "json"];
        renderer(&[&arguments, more].concat())
    }

    /// Commits, and tells Flux to look now.
    fn publish(&self, topology: &str, more: &[&str]) -> Result<Value> {
        let outcome = self.commit(topology, more)?.json()?;
        let now = format!("reconcile.fluxcd.io/requestedAt={}", outcome["commit"]);
        self.kubectl.run(&[
            "annotate",
            "--overwrite",
            FLUX,
            "gitrepositories.source.toolkit.fluxcd.io/topology",
            &now,
        ])?;
        Ok(outcome)
    }

    fn point_flux_at_it(&self) -> Result<()> {
        let file = self.folder.path().join("flux.yaml");
        fs::write(
            &file,
            POINT_FLUX
                .replace("https://git.example.org/clouds/topology.git", &self.url)
                .replace("interval: 1m", "interval: 10s"),
        )?;
        self.kubectl.print(&["apply", "--server-side", "--filename", text(&file)?]).map(drop)
    }

    fn kustomizations(&self) -> Result<Vec<Value>> {
        let list = self.kubectl.json(&["get", KINDS, FLUX])?;
        Ok(list["items"].as_array().cloned().unwrap_or_default())
    }

    /// Waits until there are this many Kustomizations, all of them ready.
    fn until_all_are_ready(&self, count: usize, stand_in: &StandIn) -> Result<()> {
        eventually(Duration::from_secs(420), "every Kustomization is ready", || {
            let all = self.kustomizations()?;
            ensure!(all.len() == count, "there are {} and not {count}", all.len());
            for one in &all {
                let name = one.pointer("/metadata/name").cloned().unwrap_or_default();
                let (status, reason, message) = condition(one, "Ready")?;
                ensure!(
                    status == "True",
                    "{name} is {status}: {reason}: {message}; stand-in: {:?}",
                    stand_in.trouble()
                );
            }
            Ok(())
        })
    }

    fn names(&self, resource: &str) -> Result<Vec<String>> {
        let list = self.kubectl.json(&["get", resource, "--all-namespaces"])?;
        Ok(names(&list).into_iter().map(str::to_owned).collect())
    }

    /// Takes away what this test, or one before it that was stopped, has left in the cluster.
    fn tidy_up(&self) -> Result<()> {
        // The root first, without letting it take its layers along one by one.
        let suspend = r#"{"spec":{"suspend":true}}"#;
        for name in self.names(KINDS)? {
            self.kubectl.run(&["patch", FLUX, &format!("{KINDS}/{name}"), "--type=merge", "-p", suspend])?;
            self.kubectl.run(&[
                "patch",
                FLUX,
                &format!("{KINDS}/{name}"),
                "--type=json",
                "-p",
                r#"[{"op":"remove","path":"/metadata/finalizers"}]"#,
            ])?;
        }
        self.kubectl.run(&["delete", FLUX, KINDS, "--all", "--timeout=30s"])?;
        self.kubectl.run(&[
            "delete",
            FLUX,
            "gitrepositories.source.toolkit.fluxcd.io/topology",
            "--ignore-not-found",
            "--timeout=30s",
        ])?;
        self.kubectl.run(&[
            "delete",
            FLUX,
            "externalsecrets.external-secrets.io,helmreleases.helm.toolkit.fluxcd.io",
            "--all",
            "--timeout=30s",
        ])?;
        self.kubectl.run(&["delete", "clusterissuers.cert-manager.io", "--all", "--timeout=30s"])?;
        self.kubectl.run(&[
            "delete",
            "namespace",
            "cp-a",
            "c5c3-clusters",
            "hypervisor-system",
            "cert-manager",
            "--ignore-not-found",
            "--timeout=50s",
        ])?;
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Err(error) = self.tidy_up() {
            eprintln!("the cluster could not be tidied up: {error:#}");
        }
        if let Err(error) = fs::remove_dir_all(&self.repository) {
            eprintln!("{} could not be removed: {error}", self.repository.display());
        }
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path that is not UTF-8")
}

/// Installs upstream's kinds; says so and gives `false` where their schemas are not at hand.
fn install_definitions(kubectl: &Kubectl) -> Result<bool> {
    let shared = std::env::var_os("C5C3_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let script = shared.join("facts/upstream/as-crds.py");
    if !script.is_file() {
        println!("skipped: there is no {}", script.display());
        return Ok(false);
    }
    let printed =
        run(&mut command("python3", &[&[text(&script)?], &DEFINITIONS[..]].concat()), LATER)?.success()?;
    let file = tempfile::NamedTempFile::new()?;
    fs::write(file.path(), printed)?;
    kubectl.print(&["apply", "--server-side", "--force-conflicts", "--filename", text(file.path())?])?;
    let established = ["wait", "--for=condition=Established", "crd", "--all", "--timeout=50s"];
    kubectl.print(&established)?;
    Ok(true)
}

fn condition_of(all: &[Value], name: &str) -> Result<(String, String)> {
    let found = all.iter().find(|one| one.pointer("/metadata/name").is_some_and(|found| found == name));
    let found = found.with_context(|| format!("there is no Kustomization {name}"))?;
    condition(found, "Ready").map(|(status, _, message)| (status.to_owned(), message.to_owned()))
}

#[test]
fn flux_applies_a_committed_topology_in_order_and_follows_its_changes() -> Result<()> {
    let Some(rig) = Rig::from_environment()? else {
        return Ok(());
    };
    let Some(stage) = Stage::set(&rig)? else {
        return Ok(());
    };
    let kubeconfig = fs::read_to_string(&rig.kubeconfig)?;
    let stand_in = StandIn::start(stage.kubectl.clone(), kubeconfig, &["OVNCentral"]);

    let outcome = stage.publish(SAMPLE, &[])?;
    assert_eq!(outcome["outcome"], "committed");
    stage.point_flux_at_it()?;
    what_waits_for_ovn_waits(&stage)?;
    stand_in.release("OVNCentral");
    // Seventeen layers and the root that brings them in.
    stage.until_all_are_ready(18, &stand_in)?;
    everything_came_in_order(&stand_in)?;
    the_objects_are_there(&stage)?;

    assert_eq!(stage.commit(SAMPLE, &[])?.json()?["outcome"], "unchanged");
    a_refusal_is_told(&stage)?;
    a_change_is_followed(&stage, &stand_in)?;
    a_removal_is_acknowledged_and_leaves_state_alone(&stage, &stand_in)
}

/// While OVN's databases are not ready, nothing that needs them is applied, and Flux says what it waits for.
fn what_waits_for_ovn_waits(stage: &Stage) -> Result<()> {
    eventually(LATER, "OVN is applied and waited for", || {
        let all = stage.kustomizations()?;
        ensure!(stage.names("ovncentrals.ovn.openstack.c5c3.io")? == ["cp-a-ovn"], "no OVNCentral yet");
        for layer in ["cp-a-control-plane", "compute-a1-chassis", "network-a1-chassis"] {
            let (status, message) = condition_of(&all, layer)?;
            ensure!(status == "False" && message.contains("is not ready"), "{layer}: {status}: {message}");
        }
        // Registrations do not wait for OVN.
        for layer in ["compute-a1-registration", "compute-a1-base"] {
            let (status, message) = condition_of(&all, layer)?;
            ensure!(status == "True", "{layer}: {status}: {message}");
        }
        Ok(())
    })?;
    for resource in [CHASSIS, "controlplanes.c5c3.io", "novacomputes.nova.openstack.c5c3.io"] {
        let found = stage.names(resource)?;
        ensure!(found.is_empty(), "{found:?} did not wait");
    }
    Ok(())
}

/// The order in which objects became ready is the one of upstream's guide.
fn everything_came_in_order(stand_in: &StandIn) -> Result<()> {
    let order = stand_in.order();
    let place = |kind: &str, name: &str| {
        let found = order.iter().position(|(found, object)| found == kind && object == name);
        found.with_context(|| format!("{kind} {name} never became ready: {order:?}"))
    };
    let chains = [
        vec![
            ("ExternalSecret", "compute-a1-flux-kubeconfig"),
            ("HelmRelease", "compute-a1-access"),
            ("ExternalSecret", "compute-a1"),
            ("OVNChassis", "compute-a1-chassis"),
        ],
        vec![
            ("ClusterIssuer", "cp-a-ovn-ca-issuer"),
            ("OVNCentral", "cp-a-ovn"),
            ("OVNChassis", "network-a1-chassis"),
        ],
        vec![
            ("OVNCentral", "cp-a-ovn"),
            ("OVNChassis", "compute-a1-chassis"),
            ("NeutronMetadataAgent", "compute-a1-metadata"),
            ("NovaCompute", "compute-a1-pool1"),
        ],
        vec![
            ("ExternalSecret", "cp-a-bus"),
            ("ControlPlane", "cp-a"),
            ("NeutronMetadataAgent", "compute-a1-metadata"),
        ],
    ];
    for chain in chains {
        let places: Vec<usize> = chain.iter().map(|(kind, name)| place(kind, name)).collect::<Result<_>>()?;
        ensure!(places.is_sorted(), "{chain:?} became ready as {places:?}: {order:?}");
    }
    Ok(())
}

fn the_objects_are_there(stage: &Stage) -> Result<()> {
    assert_eq!(stage.names(CHASSIS)?, ["compute-a1-chassis", "network-a1-chassis"]);
    let pool = stage.kubectl.json(&[
        "get",
        "--namespace=cp-a",
        "novacomputes.nova.openstack.c5c3.io/compute-a1-pool1",
    ])?;
    assert_eq!(pool["spec"]["targetClusterRef"]["name"], "compute-a1");
    assert_eq!(pool["spec"]["nodeSelector"]["openstack.c5c3.io/nova-compute-pool"], "pool1");
    let registration = stage.kubectl.json(&["get", "--namespace=c5c3-clusters", "secret/compute-a1"])?;
    assert_eq!(registration["metadata"]["labels"]["sigs.k8s.io/multicluster-runtime-kubeconfig"], "true");
    ensure!(
        registration["data"]["kubeconfig"].is_string() && registration["data"]["namespaces"].is_string(),
        "{registration}"
    );
    let namespace = stage.kubectl.json(&["get", "namespace", "hypervisor-system"])?;
    assert_eq!(namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "privileged");
    Ok(())
}

/// A branch that the server protects is an error with the server's own words.
fn a_refusal_is_told(stage: &Stage) -> Result<()> {
    let refusals = stage.repository.join("refuse");
    fs::write(&refusals, "refs/heads/main frozen for the release\n")?;
    let said = stage.commit(&SAMPLE.replace("[Skylake-Server-IBRS]", "[EPYC]"), &[])?;
    fs::remove_file(refusals)?;
    ensure!(said.status.code() == Some(1), "exit code {:?}", said.status.code());
    ensure!(
        said.output.contains("refs/heads/main was refused") && said.output.contains("frozen for the release"),
        "{}",
        said.output
    );
    Ok(())
}

/// A pool more arrives, a pool less leaves, and nothing else moves.
fn a_change_is_followed(stage: &Stage, stand_in: &StandIn) -> Result<()> {
    let pools = "novacomputes.nova.openstack.c5c3.io";
    let bigger = SAMPLE.replace("      network:", "            - name: pool2\n      network:");
    let outcome = stage.publish(&bigger, &[])?;
    ensure!(outcome["added"] == 1 && outcome["removed"] == 0, "{outcome}");
    eventually(LATER, "the new pool is there", || match stage.names(pools)?.as_slice() {
        [first, second] if first == "compute-a1-pool1" && second == "compute-a1-pool2" => Ok(()),
        other => {
            bail!("{other:?}; {:?}", stage.kustomizations().map(|all| condition_of(&all, "compute-a1-pools")))
        }
    })?;
    stage.publish(SAMPLE, &[])?;
    eventually(LATER, "the pool is gone again", || {
        let found = stage.names(pools)?;
        ensure!(found == ["compute-a1-pool1"], "{found:?}");
        Ok(())
    })?;
    stage.until_all_are_ready(18, stand_in)
}

/// A cluster leaves only when its number of layers was accepted, and what it held stays until somebody takes it down in order.
fn a_removal_is_acknowledged_and_leaves_state_alone(stage: &Stage, stand_in: &StandIn) -> Result<()> {
    let (smaller, _) = SAMPLE.split_once("      network:").context("the sample has no network")?;
    let said = stage.commit(smaller, &[])?;
    ensure!(said.status.code() == Some(1) && said.output.contains("--accept-removals"), "{}", said.output);
    stage.publish(smaller, &["--accept-removals", "4"])?;
    stage.until_all_are_ready(14, stand_in)?;
    assert_eq!(stage.names(CHASSIS)?, ["compute-a1-chassis", "network-a1-chassis"]);
    ensure!(
        stage.kubectl.run(&["get", "--namespace=c5c3-clusters", "secret/network-a1"])?.status.success(),
        "the registration is gone"
    );
    Ok(())
}
