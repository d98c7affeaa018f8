//! kubectl as people use it, through kube-apiserver, while replicas come and go.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use c5c3_conformance::fleet::HOSTS;
use c5c3_e2e::kubectl::names;
use c5c3_e2e::patience::{SOON, eventually};
use c5c3_e2e::watch::Watch;

use crate::turns::on_the_stage;

/// covers: C25 Q1
#[test]
fn tables_have_the_columns_of_the_kind_also_while_watching() -> Result<()> {
    on_the_stage(|stage| {
        let plain = stage.kubectl.print(&["get", "hypervisors"])?;
        let heading = plain.lines().next().unwrap_or_default();
        for column in ["NAME", "READY", "STATE", "VERSION", "IP", "INSTANCES", "AGE"] {
            ensure!(heading.split_whitespace().any(|word| word == column), "no {column} in {heading}");
        }
        assert_eq!(plain.lines().count(), HOSTS + 1);
        let wide = stage.kubectl.print(&["get", "hypervisors", "-o", "wide"])?;
        let heading = wide.lines().next().unwrap_or_default();
        ensure!(heading.contains("ZONE") && heading.contains("SERVICE ID"), "{heading}");

        let watch = Watch::table(&stage.kubectl, &["hypervisors", "host-1"])?;
        watch.wait(SOON, "the heading", |line| line.starts_with("NAME") && line.contains("INSTANCES"))?;
        let row = watch.wait(SOON, "the row", |line| line.starts_with("host-1 "))?;
        let cells = |line: &str| line.split_whitespace().count();
        let domain = stage.fleet.start_domain("host-1")?;
        let next = watch.wait(SOON, "the row again", |line| line.starts_with("host-1 "))?;
        assert_eq!(cells(&next.item), cells(&row.item), "{}\n{}", row.item, next.item);
        stage.fleet.stop_domain("host-1", domain)
    })
}

/// covers: C7 L5
#[test]
fn lists_in_pieces_have_every_host_once_and_in_order() -> Result<()> {
    on_the_stage(|stage| {
        let whole = stage.kubectl.print(&["get", "hypervisors", "-o", "name"])?;
        for size in ["1", "5", "12", "500"] {
            let pieces = stage.kubectl.print(&[
                "get",
                "hypervisors",
                "-o",
                "name",
                &format!("--chunk-size={size}"),
            ])?;
            assert_eq!(pieces, whole, "chunks of {size}");
        }
        assert_eq!(whole.lines().count(), HOSTS);
        Ok(())
    })
}

/// covers: C24 L4
#[test]
fn selectors_select() -> Result<()> {
    on_the_stage(|stage| {
        let select = |options: &[&str]| -> Result<usize> {
            let list = stage.kubectl.json(&[&["get", "hypervisors"], options].concat())?;
            Ok(names(&list).len())
        };
        assert_eq!(select(&["--field-selector", "metadata.name=host-3"])?, 1);
        assert_eq!(select(&["--field-selector", "metadata.name!=host-3"])?, HOSTS - 1);
        assert_eq!(select(&["-l", "topology.kubernetes.io/zone in (zone-a,zone-x)"])?, HOSTS / 2);
        assert_eq!(select(&["-l", "topology.kubernetes.io/zone!=zone-a"])?, HOSTS / 2);
        assert_eq!(select(&["-l", "!topology.kubernetes.io/zone"])?, 0);
        assert_eq!(
            select(&["-l", "kubernetes.metal.cloud.sap/bb=bb1,topology.kubernetes.io/zone notin (zone-a)"])?,
            2
        );
        let complaint =
            stage.kubectl.run(&["get", "hypervisors", "--field-selector", "spec.nothing=1"])?.failure()?;
        ensure!(complaint.contains("spec.nothing") && complaint.contains("BadRequest"), "{complaint}");
        let list = stage.kubectl.json(&[
            "get",
            "ovsnodes",
            "-A",
            "--field-selector",
            "metadata.namespace=kube-system",
        ])?;
        ensure!(list["items"].as_array().is_some_and(Vec::is_empty), "{list}");
        Ok(())
    })
}

/// A change of a label takes an object out of a selected watch, and another brings it back.
///
/// covers: C24
#[test]
fn a_watch_with_a_selector_tells_who_leaves_and_who_comes() -> Result<()> {
    on_the_stage(|stage| {
        let relabel = |zone: &str| {
            stage.kubectl.print(&[
                "label",
                "node",
                "host-2",
                "--overwrite",
                &format!("topology.kubernetes.io/zone={zone}"),
            ])
        };
        let watch =
            Watch::events(&stage.kubectl, &["hypervisors", "-l", "topology.kubernetes.io/zone=zone-b"])?;
        watch.wait(SOON, "as it is", |event| {
            event.type_ == "ADDED" && event.object["metadata"]["name"] == "host-2"
        })?;
        relabel("zone-c")?;
        let of_it = |type_: &'static str| {
            move |event: &c5c3_e2e::watch::Event| {
                event.type_ == type_ && event.object["metadata"]["name"] == "host-2"
            }
        };
        let left = watch.wait(SOON, "it leaves", of_it("DELETED"));
        relabel("zone-b")?;
        left?;
        watch.wait(SOON, "it comes back", of_it("ADDED"))?;
        Ok(())
    })
}

/// covers: C28
#[test]
fn explain_and_api_resources_know_every_kind() -> Result<()> {
    on_the_stage(|stage| {
        let explained = stage.kubectl.print(&["explain", "hypervisor.status"])?;
        for field in ["numInstances", "libVirtVersion", "conditions"] {
            ensure!(explained.contains(field), "no {field} in {explained}");
        }
        let kinds = stage.kubectl.print(&["api-resources", "-o", "name"])?;
        for kind in [
            "hypervisors.hypervisor.c5c3.io",
            "evictions.hypervisor.c5c3.io",
            "migrations.hypervisor.c5c3.io",
            "ovsnodes.ovs.c5c3.io",
        ] {
            ensure!(kinds.lines().any(|line| line == kind), "no {kind} in {kinds}");
        }
        Ok(())
    })
}

/// covers: Q2 R9
#[test]
fn wait_goes_on_over_the_end_of_a_replica() -> Result<()> {
    on_the_stage(|stage| {
        let truth = stage.fleet.truth();
        let wanted = truth.hosts["host-4"].len() + 1;
        let waiting = stage.kubectl.command(&[
            "wait",
            &format!("--for=jsonpath={{.status.numInstances}}={wanted}"),
            "hypervisor/host-4",
            "--timeout=60s",
        ]);
        let watch = Watch::lines(waiting)?;
        // It has begun to watch when the server counts it; a moment more does no harm.
        std::thread::sleep(std::time::Duration::from_secs(1));
        let slot = stage.serving_replica();
        stage.kill(slot)?;
        let domain = stage.fleet.start_domain("host-4")?;
        let met = watch.wait(SOON, "the condition is met", |line| line.contains("condition met"));
        stage.replace(slot)?;
        stage.fleet.stop_domain("host-4", domain)?;
        met.map(drop)
    })
}

/// An object is who it is whichever replica is asked, before and after each was replaced.
///
/// covers: C10
#[test]
fn identity_is_the_same_on_both_replicas_and_after_both_were_replaced() -> Result<()> {
    on_the_stage(|stage| {
        let identities = || -> Result<Vec<BTreeSet<String>>> {
            let clients: Vec<_> =
                stage.replicas().iter().map(|server| server.direct(&stage.rig, "admin")).collect();
            let of = |kubectl: &c5c3_e2e::kubectl::Kubectl| -> Result<BTreeSet<String>> {
                let columns =
                    "custom-columns=K:.kind,N:.metadata.name,U:.metadata.uid,T:.metadata.creationTimestamp";
                let text =
                    kubectl.print(&["get", "hypervisors,ovsnodes", "-A", "--no-headers", "-o", columns])?;
                Ok(text.lines().map(str::to_owned).collect())
            };
            clients.iter().map(of).collect()
        };
        let before = identities()?;
        assert_eq!(before[0].len(), 2 * HOSTS, "{before:?}");
        assert_eq!(before[0], before[1], "the replicas differ");
        let uids: BTreeSet<&str> =
            before[0].iter().filter_map(|line| line.split_whitespace().nth(2)).collect();
        assert_eq!(uids.len(), 2 * HOSTS, "two objects share a UID");
        let nodes = stage.kubectl.print(&["get", "nodes", "-o", "jsonpath={.items[*].metadata.uid}"])?;
        let borrowed = nodes.split_whitespace().find(|uid| uids.contains(uid));
        assert_eq!(borrowed, None, "a UID of a Node is used for another object");
        stage.roll()?;
        stage.until_whole()?;
        assert_eq!(identities()?, before);
        Ok(())
    })
}

/// covers: L6 C4
#[test]
fn an_empty_list_is_a_list_with_a_version() -> Result<()> {
    on_the_stage(|stage| {
        for path in [
            "/apis/hypervisor.c5c3.io/v1/evictions",
            "/apis/hypervisor.c5c3.io/v1alpha1/migrations",
            "/apis/ovs.c5c3.io/v1alpha1/namespaces/kube-system/ovsnodes",
        ] {
            let list = stage.kubectl.run(&["get", "--raw", path])?.json()?;
            assert_eq!(list["items"], serde_json::json!([]), "{path}");
            let version = list["metadata"]["resourceVersion"].as_str().unwrap_or_default();
            ensure!(
                version.parse::<u64>().is_ok_and(|version| version > 0),
                "{path}: resourceVersion {version:?}"
            );
        }
        Ok(())
    })
}

/// covers: C11 C34
#[test]
fn with_every_backend_away_every_object_is_still_there_and_says_so() -> Result<()> {
    on_the_stage(|stage| {
        let watch = Watch::events(&stage.kubectl, &["hypervisors"])?;
        watch.wait(SOON, "the list", |event| event.object["metadata"]["name"] == "host-12")?;
        stage.fleet.silence(true);
        let told = eventually(SOON, "every host says that libvirt is away", || {
            let list = stage.kubectl.json(&["get", "hypervisors"])?;
            assert_eq!(names(&list).len(), HOSTS);
            for object in list["items"].as_array().into_iter().flatten() {
                let (status, ..) = c5c3_e2e::kubectl::condition(object, "LibvirtConnected")?;
                ensure!(status != "True", "{}: {status}", object["metadata"]["name"]);
            }
            Ok(())
        });
        // Both begin anew with nothing behind them: ready and complete all the same.
        let rolled = stage.roll();
        let list = stage.kubectl.json(&["get", "hypervisors,ovsnodes", "-A"]);
        stage.fleet.silence(false);
        let deleted =
            watch.wait(std::time::Duration::from_secs(1), "nothing", |event| event.type_ == "DELETED");
        stage.until_whole()?;
        told?;
        rolled?;
        assert_eq!(names(&list?).len(), 2 * HOSTS);
        ensure!(deleted.is_err(), "told as deleted while backends were away: {deleted:?}");
        Ok(())
    })
}
