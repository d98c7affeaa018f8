//! Stands in for controllers that are not on the rig: External Secrets, cert-manager, helm-controller, the C5C3 operators.
//!
//! It does to the objects that Flux applied what those controllers would do as far as Flux can see: it sets the status that says "ready",
//! for the generation it has seen, and makes the Secrets that an ExternalSecret names. It installs, releases and connects nothing. What the
//! tests prove with it is the way from Git through Flux into the cluster and its order, not those controllers.

mod objects;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::kubectl::Kubectl;

/// How often it looks.
const GLANCE: Duration = Duration::from_millis(400);

/// The controllers that are stood in for, by the resource they would watch.
const RESOURCES: [&str; 9] = [
    "externalsecrets.external-secrets.io",
    "certificates.cert-manager.io",
    "issuers.cert-manager.io",
    "clusterissuers.cert-manager.io",
    "helmreleases.helm.toolkit.fluxcd.io",
    "ovncentrals.ovn.openstack.c5c3.io,ovnchassis.ovn.openstack.c5c3.io",
    "controlplanes.c5c3.io",
    "neutronmetadataagents.neutron.openstack.c5c3.io",
    "novacomputes.nova.openstack.c5c3.io",
];

/// More of them, for topologies with everything; these kinds must be installed.
pub const ALL_KINDS: &[&str] = &[
    "pushsecrets.external-secrets.io,secretstores.external-secrets.io,clustersecretstores.external-secrets.io",
    "cephclusters.ceph.rook.io,cephblockpools.ceph.rook.io,cephclients.ceph.rook.io",
    "cephobjectstores.ceph.rook.io,cephobjectstoreusers.ceph.rook.io",
    "cinderbackends.cinder.openstack.c5c3.io,cinderbackupbackends.cinder.openstack.c5c3.io",
    "gateways.gateway.networking.k8s.io",
    "daemonsets.apps",
];

/// The stand-in, at work until it is dropped.
#[derive(Debug)]
pub struct StandIn {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    /// Kinds that it leaves alone for now.
    held: Mutex<BTreeSet<String>>,
    /// Kind and name of what it has made ready, in the order in which it did.
    done: Mutex<Vec<(String, String)>>,
    /// What went wrong last.
    trouble: Mutex<Option<String>>,
}

impl StandIn {
    /// Starts with some kinds held back. `kubeconfig` is what every cluster of the topology is reached with.
    pub fn start(kubectl: Kubectl, kubeconfig: String, held: &[&str]) -> Self {
        Self::start_with(kubectl, kubeconfig, held, &[])
    }

    /// Starts with more resources to look after.
    pub fn start_with(
        kubectl: Kubectl,
        kubeconfig: String,
        held: &[&str],
        more: &'static [&'static str],
    ) -> Self {
        let resources = [&RESOURCES, more].concat().join(",");
        let shared = Arc::new(Shared::default());
        *lock(&shared.held) = held.iter().map(|kind| (*kind).to_owned()).collect();
        let for_thread = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            while !for_thread.stop.load(Ordering::Relaxed) {
                let outcome = glance(&kubectl, &kubeconfig, &resources, &for_thread);
                *lock(&for_thread.trouble) = outcome.err().map(|error| format!("{error:#}"));
                thread::sleep(GLANCE);
            }
        });
        Self { shared, thread: Some(thread) }
    }

    /// Lets the controllers of a kind go to work.
    pub fn release(&self, kind: &str) {
        lock(&self.shared.held).remove(kind);
    }

    /// Kinds and names in the order in which they became ready.
    #[must_use]
    pub fn order(&self) -> Vec<(String, String)> {
        lock(&self.shared.done).clone()
    }

    /// What went wrong last, for messages.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        lock(&self.shared.trouble).clone()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic in it has already been printed.
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks at every object once.
fn glance(kubectl: &Kubectl, kubeconfig: &str, resources: &str, shared: &Shared) -> Result<()> {
    let list = kubectl.json(&["get", resources, "--all-namespaces"])?;
    for object in list["items"].as_array().context("a list without items")? {
        let kind = object["kind"].as_str().unwrap_or_default();
        if lock(&shared.held).contains(kind) || objects::is_ready(object) || is_leaving(object) {
            continue;
        }
        if kind == "ExternalSecret" {
            objects::make_secret(kubectl, object, kubeconfig)?;
        }
        objects::make_ready(kubectl, object)?;
        let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        lock(&shared.done).push((kind.to_owned(), name.to_owned()));
    }
    Ok(())
}

fn is_leaving(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some()
}
