//! A stage for topologies: a repository on the rig's Git server, the kinds in the rig's kube-apiserver, Flux pointed at both, and tidied up.
//!
//! One kube-apiserver is every cluster here: the kubeconfig Secrets of all attached clusters lead to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::kubectl::{Kubectl, condition, names};
use crate::patience::{LATER, eventually};
use crate::program::{Said, command, run};
use crate::renderer::renderer;
use crate::rig::Rig;
use crate::stand_in::StandIn;

const FLUX: &str = "--namespace=flux-system";
const POINT_FLUX: &str = include_str!("../../../flux/topology.yaml");
/// Flux's Kustomizations.
pub const KUSTOMIZATIONS: &str = "kustomizations.kustomize.toolkit.fluxcd.io";

/// There is one cluster, and one name that Flux knows the repository by.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Kinds that upstream's facts do not define, and that the test only needs to be accepted.
const OPEN_KINDS: [(&str, &str, &str, &str); 4] = [
    ("monitoring.coreos.com", "v1", "PodMonitor", "podmonitors"),
    ("monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules"),
    ("notification.toolkit.fluxcd.io", "v1beta3", "Alert", "alerts"),
    ("notification.toolkit.fluxcd.io", "v1beta3", "Provider", "providers"),
];

/// The repository, the cluster, and what has to be tidied up.
#[derive(Debug)]
pub struct Stage {
    /// The cluster.
    pub kubectl: Kubectl,
    /// Its administrator.
    pub kubeconfig: String,
    /// The bare repository, on this machine.
    pub repository: PathBuf,
    folder: tempfile::TempDir,
    root: PathBuf,
    base: String,
    url: String,
    namespaces: Vec<String>,
    _alone: MutexGuard<'static, ()>,
}

impl Stage {
    /// Installs the definitions whose files begin with one of `definitions`, makes `namespaces` (which other controllers would bring along),
    /// a repository, and tells what is missing when the rig or the definitions are not there.
    ///
    /// # Errors
    /// When the rig is there and does not do as it should.
    pub fn set(rig: &Rig, definitions: &[&str], namespaces: &[&str]) -> Result<Option<Self>> {
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
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let kubectl = rig.kubectl();
        if !install_definitions(&kubectl, definitions)? {
            return Ok(None);
        }
        let root = PathBuf::from(root);
        let name = format!("topology-{}.git", std::process::id());
        let stage = Self {
            kubectl,
            kubeconfig: fs::read_to_string(&rig.kubeconfig)?,
            repository: root.join(&name),
            folder: tempfile::tempdir()?,
            url: format!("{base}/{name}"),
            root,
            base,
            namespaces: namespaces.iter().map(|name| (*name).to_owned()).collect(),
            _alone: alone,
        };
        stage.tidy_up()?;
        stage.make_repository(&stage.repository)?;
        for namespace in namespaces {
            stage.kubectl.run(&["create", "namespace", namespace])?;
        }
        Ok(Some(stage))
    }

    fn make_repository(&self, path: &Path) -> Result<()> {
        let arguments = ["init", "--quiet", "--bare", "--initial-branch=main", text(path)?];
        run(&mut command("git", &arguments), LATER)?.success().map(drop)
    }

    /// A repository with one ConfigMap in `path`, as somebody else's operator would be; its address and commit.
    ///
    /// # Errors
    /// When Git fails.
    pub fn somebodys_repository(&self, name: &str, path: &str) -> Result<(String, String)> {
        let bare = self.root.join(format!("{name}-{}.git", std::process::id()));
        let work = self.folder.path().join(name);
        fs::create_dir_all(work.join(path))?;
        fs::write(
            work.join(path).join("kustomization.yaml"),
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [operator.yaml]\n",
        )?;
        fs::write(
            work.join(path).join("operator.yaml"),
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: flux-system}}\n"),
        )?;
        self.make_repository(&bare)?;
        let git = |arguments: &[&str]| -> Result<String> {
            let identity = ["-C", text(&work)?, "-c", "user.name=e2e", "-c", "user.email=e2e@localhost"];
            run(&mut command("git", &[&identity, arguments].concat()), LATER)?.success()
        };
        git(&["init", "--quiet", "--initial-branch=main"])?;
        git(&["add", "."])?;
        git(&["commit", "--quiet", "--message", "operator"])?;
        git(&["push", "--quiet", text(&bare)?, "main"])?;
        let commit = git(&["rev-parse", "HEAD"])?.trim().to_owned();
        Ok((format!("{}/{name}-{}.git", self.base, std::process::id()), commit))
    }

    /// Runs a command of the renderer on a topology.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn render(&self, subcommand: &str, topology: &str, more: &[&str]) -> Result<Said> {
        let file = self.folder.path().join("topology.yaml");
        fs::write(&file, topology)?;
        renderer(&[&[subcommand, text(&file)?], more].concat())
    }

    /// Commits a topology to the repository.
    ///
    /// # Errors
    /// When the command cannot be started.
    pub fn commit(&self, topology: &str, more: &[&str]) -> Result<Said> {
        let cache = self.folder.path().join("cache");
        let arguments = ["--repository", &self.url, "--cache", text(&cache)?, "--output", "json"];
        self.render("commit", topology, &[&arguments, more].concat())
    }

    /// Commits, and tells Flux to look now.
    ///
    /// # Errors
    /// When the commit is refused.
    pub fn publish(&self, topology: &str, more: &[&str]) -> Result<Value> {
        let outcome = self.commit(topology, more)?.json()?;
        let now = format!("reconcile.fluxcd.io/requestedAt={}", outcome["commit"]);
        let source = "gitrepositories.source.toolkit.fluxcd.io/topology";
        self.kubectl.run(&["annotate", "--overwrite", FLUX, source, &now])?;
        Ok(outcome)
    }

    /// Commits again and again with what Flux has, until nothing is on its way out any more. Says which layers left, in order.
    ///
    /// # Errors
    /// When something never leaves.
    pub fn take_down(&self, topology: &str) -> Result<Vec<String>> {
        let observed = self.folder.path().join("flux.json");
        let mut before = self.layers_in_git()?;
        let mut left = Vec::new();
        eventually(Duration::from_secs(600), "everything has left", || {
            fs::write(
                &observed,
                self.kubectl.print(&["get", KUSTOMIZATIONS, "--all-namespaces", "--output=json"])?,
            )?;
            let outcome = self.publish(topology, &["--observed", text(&observed)?])?;
            let now = self.layers_in_git()?;
            let mut gone: Vec<String> = before.iter().filter(|name| !now.contains(name)).cloned().collect();
            left.append(&mut gone);
            before = now;
            let leaving = outcome["leaving"].as_object().map_or(0, serde_json::Map::len);
            ensure!(leaving == 0, "{leaving} are still to leave: {}", outcome["leaving"]);
            Ok(())
        })?;
        Ok(left)
    }

    fn layers_in_git(&self) -> Result<Vec<String>> {
        let listed =
            ["-C", text(&self.repository)?, "ls-tree", "--name-only", "main:clusters/management/flux"];
        let listed = run(&mut command("git", &listed), LATER)?.success()?;
        Ok(listed.lines().filter_map(|line| line.strip_suffix(".yaml")).map(str::to_owned).collect())
    }

    /// Applies `flux/topology.yaml` with the address of the repository.
    ///
    /// # Errors
    /// When the cluster refuses it.
    pub fn point_flux_at_it(&self) -> Result<()> {
        let file = self.folder.path().join("flux.yaml");
        let manifest = POINT_FLUX
            .replace("https://git.example.org/clouds/topology.git", &self.url)
            .replace("interval: 1m", "interval: 10s");
        fs::write(&file, manifest)?;
        self.kubectl.print(&["apply", "--server-side", "--filename", text(&file)?]).map(drop)
    }

    /// Every Kustomization.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub fn kustomizations(&self) -> Result<Vec<Value>> {
        let list = self.kubectl.json(&["get", KUSTOMIZATIONS, FLUX])?;
        Ok(list["items"].as_array().cloned().unwrap_or_default())
    }

    /// Waits until there are this many Kustomizations, all of them ready.
    ///
    /// # Errors
    /// When that does not happen: which one is not, and why.
    pub fn until_all_are_ready(&self, count: usize, stand_in: &StandIn) -> Result<()> {
        eventually(Duration::from_secs(900), "every Kustomization is ready", || {
            let all = self.kustomizations()?;
            ensure!(all.len() == count, "there are {} and not {count}", all.len());
            for one in &all {
                let name = one.pointer("/metadata/name").cloned().unwrap_or_default();
                let (status, reason, message) = condition(one, "Ready")?;
                let trouble = stand_in.trouble();
                ensure!(status == "True", "{name} is {status}: {reason}: {message}; stand-in: {trouble:?}");
            }
            Ok(())
        })
    }

    /// Names of all objects of a resource, in every namespace.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub fn names(&self, resource: &str) -> Result<Vec<String>> {
        let list = self.kubectl.json(&["get", resource, "--all-namespaces"])?;
        Ok(names(&list).into_iter().map(str::to_owned).collect())
    }

    /// Takes away what this test, or one before it that was stopped, has left in the cluster.
    fn tidy_up(&self) -> Result<()> {
        // Without letting the root take its layers along one by one.
        let release = r#"{"spec":{"suspend":true},"metadata":{"finalizers":null}}"#;
        for name in self.names(KUSTOMIZATIONS)? {
            self.kubectl.run(&[
                "patch",
                FLUX,
                &format!("{KUSTOMIZATIONS}/{name}"),
                "--type=merge",
                "-p",
                release,
            ])?;
        }
        let everywhere = "clusterissuers.cert-manager.io,clustersecretstores.external-secrets.io";
        let in_flux = "externalsecrets.external-secrets.io,pushsecrets.external-secrets.io,secretstores.external-secrets.io,\
                       helmreleases.helm.toolkit.fluxcd.io,certificates.cert-manager.io,configmaps";
        let sources = "gitrepositories.source.toolkit.fluxcd.io,helmrepositories.source.toolkit.fluxcd.io";
        let guards = "validatingadmissionpolicies.admissionregistration.k8s.io,validatingadmissionpolicybindings.admissionregistration.k8s.io";
        self.kubectl.run(&["delete", FLUX, KUSTOMIZATIONS, "--all", "--timeout=30s"])?;
        for resource in in_flux.split(',').chain(sources.split(',')) {
            self.kubectl.run(&["delete", FLUX, resource.trim(), "--all", "--timeout=30s"])?;
        }
        for resource in everywhere.split(',') {
            self.kubectl.run(&["delete", resource, "--all", "--timeout=30s"])?;
        }
        self.kubectl.run(&["delete", guards, "libvirt-certificates", "--ignore-not-found"])?;
        let nodes = ["gateway-a1", "gateway-a2", "kvm-a1", "kvm-a2", "ch-b1"];
        self.kubectl.run(&[&["delete", "nodes", "--ignore-not-found"], &nodes[..]].concat())?;
        let mut namespaces = vec!["cp-a", "cp-b", "c5c3-clusters", "hypervisor-system", "external-secrets"];
        namespaces.extend(self.namespaces.iter().map(String::as_str));
        let common = ["--ignore-not-found", "--timeout=90s"];
        self.kubectl.run(&[&["delete", "namespace"], &namespaces[..], &common].concat())?;
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Err(error) = self.tidy_up() {
            eprintln!("the cluster could not be tidied up: {error:#}");
        }
        let suffix = format!("-{}.git", std::process::id());
        for entry in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().ends_with(&suffix)
                && let Err(error) = fs::remove_dir_all(entry.path())
            {
                eprintln!("{} could not be removed: {error}", entry.path().display());
            }
        }
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path that is not UTF-8")
}

/// Installs upstream's kinds; says so and gives `false` where their schemas are not at hand.
fn install_definitions(kubectl: &Kubectl, definitions: &[&str]) -> Result<bool> {
    let shared = std::env::var_os("C5C3_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let script = shared.join("facts/upstream/as-crds.py");
    if !script.is_file() {
        println!("skipped: there is no {}", script.display());
        return Ok(false);
    }
    let mut printed =
        run(&mut command("python3", &[&[text(&script)?], definitions].concat()), LATER)?.success()?;
    for (group, version, kind, plural) in OPEN_KINDS {
        printed.push_str(&open_definition(group, version, kind, plural));
    }
    let file = tempfile::NamedTempFile::new()?;
    fs::write(file.path(), printed)?;
    kubectl.print(&["apply", "--server-side", "--force-conflicts", "--filename", text(file.path())?])?;
    kubectl.print(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=50s"])?;
    Ok(true)
}

/// A definition that accepts anything.
fn open_definition(group: &str, version: &str, kind: &str, plural: &str) -> String {
    let singular = kind.to_lowercase();
    let schema = r#"{"type": "object", "x-kubernetes-preserve-unknown-fields": true}"#;
    format!(
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.{group}}}\nspec:\n  \
         group: {group}\n  scope: Namespaced\n  names: {{kind: {kind}, listKind: {kind}List, plural: {plural}, singular: {singular}}}\n  \
         versions:\n  - {{name: {version}, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}\n"
    )
}

/// Status and message of a Kustomization's condition `Ready`.
///
/// # Errors
/// When there is no such Kustomization, or it has no such condition yet.
pub fn readiness(all: &[Value], name: &str) -> Result<(String, String)> {
    let found = all.iter().find(|one| one.pointer("/metadata/name").is_some_and(|found| found == name));
    let found = found.with_context(|| format!("there is no Kustomization {name}"))?;
    condition(found, "Ready").map(|(status, _, message)| (status.to_owned(), message.to_owned()))
}

/// Checks that objects became ready in the order of the chain.
///
/// # Errors
/// When one of them never did, or too early.
pub fn in_order(stand_in: &StandIn, chain: &[(&str, &str)]) -> Result<()> {
    let order = stand_in.order();
    let mut places = Vec::new();
    for (kind, name) in chain {
        let found = order.iter().position(|(found, object)| found == kind && object == name);
        let Some(place) = found else {
            bail!("{kind} {name} never became ready: {order:?}");
        };
        places.push(place);
    }
    ensure!(places.is_sorted(), "{chain:?} became ready as {places:?}: {order:?}");
    Ok(())
}
