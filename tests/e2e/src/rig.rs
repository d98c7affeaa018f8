//! The rig as its variables describe it: real peers that `tests/rig/up` has started.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::kubectl::Kubectl;
use crate::program::{command, run};

/// A running rig.
#[derive(Debug, Clone)]
pub struct Rig {
    /// Folder of its state.
    pub state: PathBuf,
    /// Administrator of its kube-apiserver.
    pub kubeconfig: PathBuf,
    /// The kubectl of the same version.
    pub kubectl: PathBuf,
    /// Certificates.
    pub pki: PathBuf,
    /// Addresses of the hypervisor hosts, by name.
    pub hosts: BTreeMap<String, String>,
    /// Folder with a folder for each room.
    pub nodes: PathBuf,
    /// clouds.yaml with the cloud `rig`.
    pub clouds: PathBuf,
    /// The `openstack` command.
    pub openstack: PathBuf,
}

impl Rig {
    /// The rig that the environment describes; without one, says so and gives nothing.
    ///
    /// # Errors
    /// When a variable has a value that makes no sense.
    pub fn from_environment() -> Result<Option<Self>> {
        let mut missing = None;
        let mut path = |name: &'static str| {
            let value = env::var_os(name).filter(|value| !value.is_empty());
            if value.is_none() {
                missing.get_or_insert(name);
            }
            PathBuf::from(value.unwrap_or_default())
        };
        let versions = path("C5C3_RIG_VERSIONS");
        let hosts = path("C5C3_RIG_HOSTS");
        let rig = Self {
            state: path("C5C3_RIG_STATE"),
            kubeconfig: path("C5C3_RIG_KUBECONFIG"),
            kubectl: path("C5C3_RIG_KUBECTL"),
            pki: path("C5C3_RIG_PKI"),
            hosts: host_addresses(&hosts.to_string_lossy())?,
            nodes: path("C5C3_RIG_NODE_DIR"),
            clouds: path("C5C3_RIG_CLOUDS_YAML"),
            openstack: path("C5C3_RIG_OPENSTACK"),
        };
        if let Some(name) = missing {
            println!("skipped: {name} is not set; run tests/rig/up");
            return Ok(None);
        }
        name_versions(&versions)?;
        Ok(Some(rig))
    }

    /// The rig that the environment describes, for who needs no more of it than its Kubernetes cluster.
    ///
    /// # Errors
    /// When a variable has a value that makes no sense.
    pub fn kubernetes_from_environment() -> Result<Option<Self>> {
        let path = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let names = [
            "C5C3_RIG_STATE",
            "C5C3_RIG_KUBECONFIG",
            "C5C3_RIG_KUBECTL",
            "C5C3_RIG_PKI",
            "C5C3_RIG_VERSIONS",
        ];
        let [Some(state), Some(kubeconfig), Some(kubectl), Some(pki), Some(versions)] = names.map(path)
        else {
            println!("skipped: one of {} is not set; run tests/rig/up kube", names.join(", "));
            return Ok(None);
        };
        name_versions(&versions)?;
        let nothing = PathBuf::new;
        let (nodes, clouds, openstack) = (nothing(), nothing(), nothing());
        let hosts = BTreeMap::new();
        Ok(Some(Self { state, kubeconfig, kubectl, pki, hosts, nodes, clouds, openstack }))
    }

    /// kubectl as the administrator of the rig's cluster.
    pub fn kubectl(&self) -> Kubectl {
        Kubectl::new(&self.kubectl, &self.kubeconfig)
    }

    /// Address of a host.
    ///
    /// # Errors
    /// When the rig has no such host.
    pub fn address(&self, host: &str) -> Result<&str> {
        self.hosts.get(host).map(String::as_str).with_context(|| format!("the rig has no host {host}"))
    }

    /// Runs one of the rig's scripts.
    ///
    /// # Errors
    /// When it fails or does not end within `limit`.
    pub fn script(&self, name: &str, arguments: &[&str], limit: Duration) -> Result<String> {
        run(&mut command(scripts().join(name), arguments), limit)?.success()
    }
}

/// Folder of the rig's scripts.
fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../rig")
}

fn host_addresses(text: &str) -> Result<BTreeMap<String, String>> {
    let pair = |word: &str| {
        let (name, address) =
            word.split_once('=').with_context(|| format!("C5C3_RIG_HOSTS: `{word}` is not name=address"))?;
        Ok((name.to_owned(), address.to_owned()))
    };
    text.split_whitespace().map(pair).collect()
}

/// Says once per process what it runs against.
fn name_versions(file: &Path) -> Result<()> {
    static NAMED: Once = Once::new();
    let versions =
        std::fs::read_to_string(file).with_context(|| format!("C5C3_RIG_VERSIONS {}", file.display()))?;
    NAMED.call_once(|| {
        let list: Vec<&str> = versions.lines().collect();
        println!("real peers: {}", list.join(", "));
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_pairs() {
        let hosts = host_addresses("node-1=10.0.0.1 node-2=10.0.0.2").unwrap();
        assert_eq!(hosts["node-2"], "10.0.0.2");
        assert!(host_addresses("node-1").is_err());
    }
}
