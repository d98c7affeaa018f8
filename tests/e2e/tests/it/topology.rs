//! The topology on the rig: the renderer commits into the Git server, and real Flux brings it into the real kube-apiserver, in order.
//!
//! One kube-apiserver is every cluster here: the kubeconfig Secrets of the attached clusters all lead to it. Controllers that are not on the
//! rig (External Secrets, cert-manager, helm-controller, the C5C3 operators) are stood in for: see `c5c3_e2e::stand_in`. The kinds are
//! upstream's own; where their schemas are not at hand, the test is skipped.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use c5c3_e2e::patience::{LATER, eventually};
use c5c3_e2e::rig::Rig;
use c5c3_e2e::stand_in::StandIn;
use c5c3_e2e::topology::{Stage, in_order, readiness};

const SAMPLE: &str = include_str!("../../../../renderer/samples/first-light/topology.yaml");
const CHASSIS: &str = "ovnchassis.ovn.openstack.c5c3.io";
const POOLS: &str = "novacomputes.nova.openstack.c5c3.io";

/// Groups whose definitions the sample needs.
const DEFINITIONS: [&str; 9] = [
    "c5c3.io_controlplanes",
    "cert-manager.io_certificates",
    "cert-manager.io_clusterissuers",
    "cert-manager.io_issuers",
    "external-secrets.io_",
    "helm.toolkit.fluxcd.io_helmreleases",
    "neutron.openstack",
    "nova.openstack",
    "ovn.openstack",
];

/// Layers of the sample, and the root that brings them in.
const ALL: usize = 18;

#[test]
fn flux_applies_a_committed_topology_in_order_and_follows_its_changes() -> Result<()> {
    let Some(rig) = Rig::from_environment()? else {
        return Ok(());
    };
    // cert-manager brings its namespace along.
    let Some(stage) = Stage::set(&rig, &DEFINITIONS, &["cert-manager"])? else {
        return Ok(());
    };
    let stand_in = StandIn::start(stage.kubectl.clone(), stage.kubeconfig.clone(), &["OVNCentral"]);

    let outcome = stage.publish(SAMPLE, &[])?;
    assert_eq!(outcome["outcome"], "committed");
    stage.point_flux_at_it()?;
    what_waits_for_ovn_waits(&stage)?;
    stand_in.release("OVNCentral");
    stage.until_all_are_ready(ALL, &stand_in)?;
    everything_came_in_order(&stand_in)?;
    the_objects_are_there(&stage)?;

    assert_eq!(stage.commit(SAMPLE, &[])?.json()?["outcome"], "unchanged");
    a_refusal_is_told(&stage)?;
    a_change_is_followed(&stage, &stand_in)?;
    a_cluster_leaves_in_the_reverse_of_its_order(&stage, &stand_in)
}

/// While OVN's databases are not ready, nothing that needs them is applied, and Flux says what it waits for.
fn what_waits_for_ovn_waits(stage: &Stage) -> Result<()> {
    eventually(LATER, "OVN is applied and waited for", || {
        let all = stage.kustomizations()?;
        ensure!(stage.names("ovncentrals.ovn.openstack.c5c3.io")? == ["cp-a-ovn"], "no OVNCentral yet");
        for layer in ["cp-a-control-plane", "compute-a1-chassis", "network-a1-chassis"] {
            let (status, message) = readiness(&all, layer)?;
            ensure!(status == "False" && message.contains("is not ready"), "{layer}: {status}: {message}");
        }
        // Registrations do not wait for OVN.
        for layer in ["compute-a1-registration", "compute-a1-base"] {
            let (status, message) = readiness(&all, layer)?;
            ensure!(status == "True", "{layer}: {status}: {message}");
        }
        Ok(())
    })?;
    for resource in [CHASSIS, "controlplanes.c5c3.io", POOLS] {
        let found = stage.names(resource)?;
        ensure!(found.is_empty(), "{found:?} did not wait");
    }
    Ok(())
}

/// The order in which objects became ready is the one of upstream's guide.
fn everything_came_in_order(stand_in: &StandIn) -> Result<()> {
    let chains: [&[(&str, &str)]; 4] = [
        &[
            ("ExternalSecret", "compute-a1-flux-kubeconfig"),
            ("HelmRelease", "compute-a1-access"),
            ("ExternalSecret", "compute-a1"),
            ("OVNChassis", "compute-a1-chassis"),
        ],
        &[
            ("ClusterIssuer", "cp-a-ovn-ca-issuer"),
            ("OVNCentral", "cp-a-ovn"),
            ("OVNChassis", "network-a1-chassis"),
        ],
        &[
            ("OVNCentral", "cp-a-ovn"),
            ("OVNChassis", "compute-a1-chassis"),
            ("NeutronMetadataAgent", "compute-a1-metadata"),
            ("NovaCompute", "compute-a1-pool1"),
        ],
        &[
            ("ExternalSecret", "cp-a-bus"),
            ("ControlPlane", "cp-a"),
            ("NeutronMetadataAgent", "compute-a1-metadata"),
        ],
    ];
    chains.iter().try_for_each(|chain| in_order(stand_in, chain))
}

fn the_objects_are_there(stage: &Stage) -> Result<()> {
    assert_eq!(stage.names(CHASSIS)?, ["compute-a1-chassis", "network-a1-chassis"]);
    let pool = stage.kubectl.json(&["get", "--namespace=cp-a", &format!("{POOLS}/compute-a1-pool1")])?;
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
    a_stolen_certificate_is_refused(stage)
}

/// The guard of host certificates is understood by the real kube-apiserver, and holds.
fn a_stolen_certificate_is_refused(stage: &Stage) -> Result<()> {
    let create = |namespace: &str| {
        let namespace = format!("--namespace={namespace}");
        stage.kubectl.run(&[
            "create",
            "secret",
            "generic",
            "tls-libvirt-node-1",
            &namespace,
            "--dry-run=server",
        ])
    };
    eventually(LATER, "a host certificate in another namespace is refused", || {
        let said = create("cp-a")?;
        let refused = !said.status.success() && said.complaint.contains("hypervisor-system");
        ensure!(refused, "{}{}", said.output, said.complaint);
        Ok(())
    })?;
    ensure!(create("hypervisor-system")?.status.success(), "it is refused where it belongs");
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

/// A pool more arrives; it leaves when it was declared to be draining, and not before; and nothing else moves.
fn a_change_is_followed(stage: &Stage, stand_in: &StandIn) -> Result<()> {
    let bigger = SAMPLE.replace("      network:", "            - name: pool2\n      network:");
    let outcome = stage.publish(&bigger, &[])?;
    ensure!(outcome["added"] == 1 && outcome["removed"] == 0, "{outcome}");
    eventually(LATER, "the new pool is there", || {
        let found = stage.names(POOLS)?;
        ensure!(found == ["compute-a1-pool1", "compute-a1-pool2"], "{found:?}");
        Ok(())
    })?;
    let said = stage.commit(SAMPLE, &[])?;
    ensure!(said.status.code() == Some(2) && said.output.contains("drain-first"), "{}", said.output);
    stage
        .publish(&bigger.replace("- name: pool2", "- name: pool2\n              lifecycle: Draining"), &[])?;
    stage.publish(SAMPLE, &[])?;
    eventually(LATER, "the pool is gone again", || {
        let found = stage.names(POOLS)?;
        ensure!(found == ["compute-a1-pool1"], "{found:?}");
        Ok(())
    })?;
    stage.until_all_are_ready(ALL, stand_in)
}

/// A cluster leaves only when its number of layers was accepted, and then step by step, each when Flux has taken the one before down.
fn a_cluster_leaves_in_the_reverse_of_its_order(stage: &Stage, stand_in: &StandIn) -> Result<()> {
    let draining = SAMPLE.replace("- name: network-a1", "- name: network-a1\n          lifecycle: Draining");
    stage.publish(&draining, &[])?;
    stage.until_all_are_ready(ALL, stand_in)?;
    let (smaller, _) = SAMPLE.split_once("      network:").context("the sample has no network")?;
    let said = stage.commit(smaller, &[])?;
    ensure!(said.status.code() == Some(1) && said.output.contains("--accept-removals"), "{}", said.output);
    let outcome = stage.publish(smaller, &["--accept-removals", "4"])?;
    ensure!(outcome["leaving"].as_object().is_some_and(|leaving| leaving.len() == 4), "{outcome}");
    let left = stage.take_down(smaller)?;
    let steps =
        ["network-a1-chassis", "network-a1-registration", "network-a1-access", "network-a1-connection"];
    ensure!(left == steps, "{left:?}");
    stage.until_all_are_ready(ALL - 4, stand_in)?;
    assert_eq!(stage.names(CHASSIS)?, ["compute-a1-chassis"]);
    Ok(())
}
