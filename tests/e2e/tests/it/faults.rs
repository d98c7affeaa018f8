//! A source that falls silent leaves the object, its last values, and fast lists; and says so.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use c5c3_e2e::kubectl::{condition, names};
use c5c3_e2e::libvirt::Libvirt;
use c5c3_e2e::patience::{LATER, SOON, eventually};
use c5c3_e2e::room::Room;
use serde_json::Value;

use crate::product::{Product, on_the_rig};

/// A list takes milliseconds; this is for a machine that does ten other things.
const FAST: Duration = Duration::from_secs(5);

/// Waits for a condition of a host to have another status than this one, with a message, and returns the host.
fn until_not(product: &Product, host: &str, type_: &str) -> Result<Value> {
    eventually(LATER, &format!("{host}: {type_} is no longer True"), || {
        let object = product.kubectl.hypervisor(host)?;
        let (status, reason, message) = condition(&object, type_)?;
        ensure!(status != "True", "{status} {reason}");
        ensure!(!message.is_empty(), "{status} {reason} without a message");
        println!("{host}: {type_} {status} {reason}: {message}");
        Ok(object)
    })
}

fn until_true(product: &Product, host: &str, type_: &str) -> Result<()> {
    eventually(LATER, &format!("{host}: {type_} is True"), || {
        let object = product.kubectl.hypervisor(host)?;
        let (status, reason, message) = condition(&object, type_)?;
        ensure!(status == "True", "{status} {reason}: {message}");
        Ok(())
    })
}

/// Every host is listed, and fast.
fn lists_are_whole_and_fast(product: &Product) -> Result<()> {
    for kind in ["hypervisors", "ovsnodes"] {
        let started = Instant::now();
        let list = product.kubectl.json(&["get", kind, "-A"])?;
        let took = started.elapsed();
        println!("measured: kubectl get {kind} with a source away: {} ms", took.as_millis());
        ensure!(names(&list) == ["node-1", "node-2"], "{kind}: {:?}", names(&list));
        ensure!(took < FAST, "{kind}: a list took {took:?}");
    }
    Ok(())
}

#[test]
fn a_libvirtd_that_accepts_and_never_answers_is_told_and_its_last_values_stay() -> Result<()> {
    on_the_rig(|product| {
        let host = "node-2";
        let before = product.kubectl.hypervisor(host)?;
        let frozen = Room::of(&product.rig, host)?.freeze("^libvirtd ")?;
        let after = until_not(product, host, "LibvirtConnected")?;
        for field in
            ["libVirtVersion", "hypervisorVersion", "numInstances", "instances", "capacity", "serviceId"]
        {
            assert_eq!(after["status"][field], before["status"][field], "{field} did not stay");
        }
        let source = after["status"]["sources"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|source| source["name"] == "libvirt");
        let source = source.context("no source libvirt")?;
        assert!(source["state"] != "Connected" && source["observedAt"].is_string(), "{source}");
        // The others go on.
        assert_eq!(condition(&after, "NovaReachable")?.0, "True");
        assert_eq!(condition(&after, "OVSDBConnected")?.0, "True");
        assert_eq!(condition(&product.kubectl.hypervisor("node-1")?, "LibvirtConnected")?.0, "True");
        lists_are_whole_and_fast(product)?;
        // A read of the silent host itself is bounded too.
        let started = Instant::now();
        product.kubectl.hypervisor(host)?;
        assert!(started.elapsed() < FAST, "a read took {:?}", started.elapsed());
        frozen.thaw()?;
        until_true(product, host, "LibvirtConnected")
    })
}

#[test]
fn a_libvirtd_that_died_is_told_and_found_again_when_it_is_back() -> Result<()> {
    on_the_rig(|product| {
        let host = "node-2";
        let room = Room::of(&product.rig, host)?;
        let domain =
            Libvirt::of(&product.rig, host)?.start(&format!("e2e-survivor-{}", std::process::id()))?;
        room.run(&["pkill", "-KILL", "-f", "^libvirtd "])?;
        let revived = Revived(product);
        let after = until_not(product, host, "LibvirtConnected")?;
        assert!(after["status"]["libVirtVersion"].is_string());
        lists_are_whole_and_fast(product)?;
        drop(revived);
        until_true(product, host, "LibvirtConnected")?;
        // Guests outlive their daemon; the new one finds them.
        eventually(SOON, "the domain that outlived its daemon", || {
            let instances = product.kubectl.hypervisor(host)?["status"]["instances"].take();
            let found = instances.as_array().into_iter().flatten().any(|one| one["id"] == domain.id.as_str());
            ensure!(found, "{instances}");
            Ok(())
        })
    })
}

/// Starts what has died on the hosts again.
struct Revived<'a>(&'a Product);

impl Drop for Revived<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.0.rig.script("up", &["hosts"], LATER) {
            eprintln!("libvirtd could not be started again: {error:#}");
        }
    }
}

#[test]
fn a_nova_that_never_answers_is_told_and_the_hosts_stay() -> Result<()> {
    on_the_rig(|product| {
        let host = "node-1";
        let before = product.kubectl.hypervisor(host)?;
        let frozen = Room::of(&product.rig, "cloud")?.freeze("http-socket 0.0.0.0:8774 ")?;
        let after = until_not(product, host, "NovaReachable")?;
        for field in ["serviceId", "hypervisorId", "computeService", "aggregates", "traits"] {
            assert_eq!(after["status"][field], before["status"][field], "{field} did not stay");
        }
        assert_eq!(condition(&after, "LibvirtConnected")?.0, "True");
        lists_are_whole_and_fast(product)?;
        frozen.thaw()?;
        until_true(product, host, "NovaReachable")
    })
}
