//! The life of attachments on the rig: one comes, changes, and moves to another control plane; a storage cluster leaves, and its data stays.
//!
//! As in `topology.rs`, one kube-apiserver is every cluster, and controllers that are not on the rig are stood in for. The topology is small, since
//! Flux goes through all layers in order after each commit.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use c5c3_e2e::patience::eventually;
use c5c3_e2e::rig::Rig;
use c5c3_e2e::stand_in::{ALL_KINDS, StandIn};
use c5c3_e2e::topology::Stage;

use crate::five_clusters::{BACKENDS, CEPH, CHASSIS, DEFINITIONS, POOLS, kustomizations};

/// For Flux to bring a change through all layers on a busy machine.
const PATIENTLY: Duration = Duration::from_secs(600);

const NAMESPACES: [&str; 4] = ["c5c3-access", "cert-manager", "hypervisors-x", "rook-ceph"];

/// Two control planes; `@…@` is where entries come and go.
const TOPOLOGY: &str = r#"
apiVersion: topology.c5c3.io/v1alpha1
kind: Topology
metadata: { name: attachments }
spec:
  controlPlanes:
    - name: cp-a
      release: "2025.2"
      domain: a.example.org
      volumes: { nfs: [{ name: nfs-a, server: nfs.a.example.org, path: /v }] }
      @storage@
      compute: [@a@]
    - name: cp-b
      release: "2025.2"
      domain: b.example.org
      ovn: { northbound: { nodePortBase: 30741 }, southbound: { nodePortBase: 30751 } }
      compute: [@b@]
"#;

const STORAGE: &str =
    "storage: [{ name: storage-a1, LIFECYCLE monitors: [192.0.2.11], networks: [192.0.2.0/24] }]";

fn compute(lifecycle: &str, pools: &str) -> String {
    format!(
        "{{ name: compute-x, {lifecycle} libvirt: {{ image: \"registry.example.org/libvirt:11.0\", certificateNamespace: hypervisors-x }}, pools: [{pools}] }}"
    )
}

fn topology(storage: &str, a: &str, b: &str) -> String {
    TOPOLOGY.replace("@storage@", storage).replace("@a@", a).replace("@b@", b)
}

#[test]
fn an_attachment_comes_changes_and_moves_and_data_survives_the_removal_of_its_cluster() -> Result<()> {
    let Some(rig) = Rig::from_environment()? else {
        return Ok(());
    };
    let Some(stage) = Stage::set(&rig, &DEFINITIONS, &NAMESPACES)? else {
        return Ok(());
    };
    let stand_in = StandIn::start_with(stage.kubectl.clone(), stage.kubeconfig.clone(), &[], ALL_KINDS);
    let storage = STORAGE.replace("LIFECYCLE ", "");
    let (one, two) = ("{ name: one }", "{ name: one }, { name: two }");
    let first = topology(&storage, &compute("", one), "");
    stage.publish(&first, &[])?;
    stage.point_flux_at_it()?;
    stage.until_all_are_ready(kustomizations(&stage, &first)?, &stand_in)?;

    stage.publish(&topology(&storage, &compute("", two), ""), &[])?;
    eventually(PATIENTLY, "the second pool is there", || {
        let found = stage.names(POOLS)?;
        ensure!(found == ["compute-x-one", "compute-x-two"], "{found:?}");
        Ok(())
    })?;
    let moved = it_moves(&stage, &stand_in, &storage, two)?;
    data_survives(&stage, &stand_in, &moved, two)
}

/// To another control plane: refused while it is in use, done when it was declared to be draining.
fn it_moves(stage: &Stage, stand_in: &StandIn, storage: &str, pools: &str) -> Result<String> {
    let moved = topology(storage, "", &compute("", pools));
    let said = stage.commit(&moved, &[])?;
    ensure!(said.status.code() == Some(2) && said.output.contains("drain-first"), "{}", said.output);
    stage.publish(&topology(storage, &compute("lifecycle: Draining,", pools), ""), &[])?;
    let outcome = stage.publish(&moved, &["--accept-removals", "1"])?;
    // Hypervisors of the second control plane have no volumes on Ceph: the layer of their keys leaves.
    ensure!(outcome["leaving"]["compute-x-libvirt"].is_string(), "{outcome}");
    eventually(PATIENTLY, "the cluster has moved", || {
        let list = stage.kubectl.json(&["get", CHASSIS, "--all-namespaces"])?;
        let items = list["items"].as_array().context("a list without items")?;
        ensure!(items.len() == 1 && items[0]["metadata"]["namespace"] == "cp-b", "{list}");
        Ok(())
    })?;
    ensure!(stage.take_down(&moved)? == ["compute-x-libvirt"], "something else left");
    stage.until_all_are_ready(kustomizations(stage, &moved)?, stand_in)?;
    Ok(moved)
}

/// A storage cluster leaves: its backend is deleted, its data stays.
fn data_survives(stage: &Stage, stand_in: &StandIn, topology_now: &str, pools: &str) -> Result<()> {
    let draining = topology(&STORAGE.replace("LIFECYCLE", "lifecycle: Draining,"), "", &compute("", pools));
    stage.publish(&draining, &[])?;
    let without = topology("", "", &compute("", pools));
    let (all, fewer) = (kustomizations(stage, topology_now)?, kustomizations(stage, &without)?);
    stage.publish(&without, &["--accept-removals", &(all - fewer).to_string()])?;
    let left = stage.take_down(&without)?;
    let place = |name: &str| left.iter().position(|left| left == name);
    ensure!(place("storage-a1-backends") < place("storage-a1-keys"), "{left:?}");
    ensure!(place("storage-a1-ceph") < place("storage-a1-rook"), "{left:?}");
    stage.until_all_are_ready(fewer, stand_in)?;
    let ceph = stage.kubectl.json(&["get", "--namespace=rook-ceph", &format!("{CEPH}/rook-ceph")])?;
    ensure!(ceph.pointer("/metadata/deletionTimestamp").is_none(), "the data is being deleted");
    let pools = stage.kubectl.json(&["get", "--namespace=rook-ceph", "cephblockpools.ceph.rook.io"])?;
    ensure!(pools["items"].as_array().is_some_and(|pools| pools.len() == 2), "{pools}");
    ensure!(stage.names(BACKENDS)?.is_empty(), "a backend without a cluster is left");
    Ok(())
}
