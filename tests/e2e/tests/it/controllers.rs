//! kube-controller-manager walks all groups: the garbage collector, namespaces and quota must not stumble over ours.

use std::process;

use anyhow::{Context as _, Result, ensure};
use c5c3_e2e::kubectl::Kubectl;
use c5c3_e2e::patience::{LATER, SOON, eventually};

use crate::product::on_the_rig;

/// A namespace of a test. Deleted when dropped, without waiting.
struct Namespace<'a> {
    kubectl: &'a Kubectl,
    name: String,
}

impl<'a> Namespace<'a> {
    fn create(kubectl: &'a Kubectl, what: &str) -> Result<Self> {
        let name = format!("e2e-{what}-{}", process::id());
        kubectl.print(&["create", "namespace", &name])?;
        Ok(Self { kubectl, name })
    }
}

impl Drop for Namespace<'_> {
    fn drop(&mut self) {
        let arguments = ["delete", "namespace", &self.name, "--ignore-not-found", "--wait=false"];
        if let Err(error) = self.kubectl.print(&arguments) {
            eprintln!("{error:#}");
        }
    }
}

#[test]
fn a_namespace_is_deleted_to_the_end() -> Result<()> {
    on_the_rig(|product| {
        let namespace = Namespace::create(&product.kubectl, "namespace")?;
        product.kubectl.print(&["create", "configmap", "something", "-n", &namespace.name])?;
        product.kubectl.print(&["delete", "namespace", &namespace.name, "--timeout=50s"])?;
        Ok(())
    })
}

/// The collector stops as a whole when one kind cannot be listed or watched.
#[test]
fn the_garbage_collector_watches_our_kinds_and_collects() -> Result<()> {
    on_the_rig(|product| {
        // It reads discovery every half minute, then watches the metadata of every kind that can be deleted.
        let resources = product.kubectl.run(&["get", "--raw", "/apis/hypervisor.c5c3.io/v1"])?.json()?;
        let deletable = resources["resources"].as_array().into_iter().flatten().any(|resource| {
            resource["verbs"].as_array().is_some_and(|verbs| verbs.iter().any(|verb| verb == "delete"))
        });
        println!("the collector {} our kinds", if deletable { "follows" } else { "passes over" });
        if deletable {
            let direct = product.server().direct(&product.rig, "admin");
            eventually(LATER, "the collector watches our kinds", || {
                let metrics = direct.print(&["get", "--raw", "/metrics"])?;
                let watches = metrics.lines().find(|line| {
                    line.starts_with("aggregated_apiserver_watches{") && line.contains("hypervisors")
                });
                let watches = watches.context("no watch of hypervisors")?;
                ensure!(!watches.ends_with(" 0"), "{watches}");
                Ok(())
            })?;
        }
        let namespace = Namespace::create(&product.kubectl, "garbage")?;
        let kubectl = product.kubectl.with(format!("--namespace={}", namespace.name));
        kubectl.print(&["create", "deployment", "doomed", "--image=none", "--replicas=0"])?;
        eventually(SOON, "a ReplicaSet of the Deployment", || {
            ensure!(!kubectl.print(&["get", "replicasets", "-o", "name"])?.is_empty(), "none");
            Ok(())
        })?;
        kubectl.print(&["delete", "deployment", "doomed", "--cascade=background"])?;
        eventually(LATER, "the ReplicaSet is collected", || {
            let left = kubectl.print(&["get", "replicasets", "-o", "name"])?;
            ensure!(left.is_empty(), "{left}");
            Ok(())
        })
    })
}
