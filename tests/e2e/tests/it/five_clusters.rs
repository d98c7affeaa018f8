//! The whole picture on the rig: two control planes, two clusters of each kind, applied by real Flux; one kind held back to show that the
//! order matters. What becomes of attachments later is in `attachments.rs`.
//!
//! As in `topology.rs`, one kube-apiserver is every cluster, and controllers that are not on the rig are stood in for. What differs from the
//! sample is said in `adapted`.

use anyhow::{Context as _, Result, ensure};
use c5c3_e2e::patience::{LATER, eventually};
use c5c3_e2e::rig::Rig;
use c5c3_e2e::stand_in::{ALL_KINDS, StandIn};
use c5c3_e2e::topology::{Stage, in_order, readiness};

const SAMPLE: &str = include_str!("../../../../renderer/samples/five-clusters/topology.yaml");
pub(crate) const CHASSIS: &str = "ovnchassis.ovn.openstack.c5c3.io";
pub(crate) const POOLS: &str = "novacomputes.nova.openstack.c5c3.io";
pub(crate) const CEPH: &str = "cephclusters.ceph.rook.io";
pub(crate) const BACKENDS: &str = "cinderbackends.cinder.openstack.c5c3.io";

pub(crate) const DEFINITIONS: [&str; 15] = [
    "c5c3.io_controlplanes",
    "ceph.rook.io_cephblockpools.yaml",
    "ceph.rook.io_cephclients",
    "ceph.rook.io_cephclusters",
    "ceph.rook.io_cephobjectstore",
    "cert-manager.io_certificates",
    "cert-manager.io_clusterissuers",
    "cert-manager.io_issuers",
    "cinder.openstack",
    "external-secrets.io_",
    "gateway.networking.k8s.io_gateways",
    "helm.toolkit.fluxcd.io_helmreleases",
    "neutron.openstack",
    "nova.openstack",
    "ovn.openstack",
];

/// Namespaces of operators: those of the platform, and those that Helm would make on attached clusters.
const NAMESPACES: [&str; 21] = [
    "c5c3-access",
    "c5c3-system",
    "cert-manager",
    "cinder-system",
    "cp-a-glance",
    "cp-a-horizon",
    "glance-system",
    "horizon-system",
    "hypervisors-x",
    "keystone-system",
    "mariadb-system",
    "memcached-system",
    "monitoring",
    "neutron-system",
    "nova-system",
    "openbao-operator-system",
    "ovn-system",
    "placement-system",
    "rook-ceph",
    "rook-ceph-b",
    "shared-services",
];

#[test]
fn the_whole_picture_is_applied_in_order_and_followed_through_its_changes() -> Result<()> {
    let Some(rig) = Rig::from_environment()? else {
        return Ok(());
    };
    let Some(stage) = Stage::set(&rig, &DEFINITIONS, &NAMESPACES)? else {
        return Ok(());
    };
    let topology = adapted(&stage)?;
    let stand_in =
        StandIn::start_with(stage.kubectl.clone(), stage.kubeconfig.clone(), &["HelmRelease"], ALL_KINDS);
    stage.publish(&topology, &[])?;
    stage.point_flux_at_it()?;
    without_operators_nothing_comes(&stage)?;
    stand_in.release("HelmRelease");
    let all = kustomizations(&stage, &topology)?;
    stage.until_all_are_ready(all, &stand_in)?;
    everything_came_in_order(&stand_in)?;
    the_objects_are_there(&stage)
}

/// The sample with what one machine without a network needs: repositories of its own for upstream's operators, no charts that Flux would
/// fetch by itself, and names that two storage clusters on one kube-apiserver can have at the same time.
fn adapted(stage: &Stage) -> Result<String> {
    let mut topology = SAMPLE.to_owned();
    let operators = [
        ("k-orc", "config/default", "1"),
        ("rabbitmq-cluster-operator", "config/installation", "2"),
        ("messaging-topology-operator", "config/installation/cert-manager", "3"),
    ];
    for (name, path, digit) in operators {
        let (url, commit) = stage.somebodys_repository(name, path)?;
        let placeholder = format!("commit: \"{}\"", digit.repeat(40));
        ensure!(topology.contains(&placeholder), "the sample does not pin {name}");
        topology = topology.replace(&placeholder, &format!("commit: \"{commit}\", url: \"{url}\""));
    }
    let operators = "          operators:\n            hypervisorOperator: { tag: 1.0.0 }\n            nodeAgent: { tag: 1.0.0 }\n";
    ensure!(topology.contains(operators), "the sample has no operators of nodes");
    Ok(topology.replace(operators, "").replace(
        "        - name: storage-b1\n",
        "        - name: storage-b1\n          rook: { namespace: rook-ceph-b }\n",
    ))
}

/// As many as the graph has steps, and the root.
pub(crate) fn kustomizations(stage: &Stage, topology: &str) -> Result<usize> {
    let graph = stage.render("graph", topology, &["--output", "json"])?.json()?;
    let waves = graph["waves"].as_array().context("a graph without waves")?;
    Ok(1 + waves.iter().filter_map(|wave| wave.as_array()).map(Vec::len).sum::<usize>())
}

/// As long as no release is ready, only sources and what upstream's repositories hold are applied, and no control plane.
fn without_operators_nothing_comes(stage: &Stage) -> Result<()> {
    eventually(LATER, "the foundation is waited for", || {
        let all = stage.kustomizations()?;
        let (status, _) = readiness(&all, "platform-sources")?;
        ensure!(status == "True", "sources are {status}");
        for layer in
            ["platform-infrastructure", "platform-operators", "k-orc", "cp-a-namespace", "storage-a1-rook"]
        {
            let (status, message) = readiness(&all, layer)?;
            ensure!(status == "False" && message.contains("is not ready"), "{layer}: {status}: {message}");
        }
        Ok(())
    })?;
    for resource in ["controlplanes.c5c3.io", CEPH, CHASSIS, POOLS, "clusterissuers.cert-manager.io"] {
        let found = stage.names(resource)?;
        ensure!(found.is_empty(), "{found:?} did not wait");
    }
    Ok(())
}

fn everything_came_in_order(stand_in: &StandIn) -> Result<()> {
    let chains: [&[(&str, &str)]; 5] = [
        // The management cluster, from cert-manager to the first control plane.
        &[
            ("HelmRelease", "cert-manager"),
            ("ClusterIssuer", "openbao-ca-issuer"),
            ("HelmRelease", "keystone-operator"),
            ("OVNCentral", "cp-a-ovn"),
            ("ControlPlane", "cp-a"),
        ],
        // Keys of volumes, from the cluster that makes them to the hypervisors that use them.
        &[
            ("HelmRelease", "storage-a1-rook"),
            ("CephCluster", "rook-ceph"),
            ("PushSecret", "ceph-client-cinder"),
            ("ExternalSecret", "storage-a1-ceph-client-cinder"),
            ("CinderBackend", "rbd-storage-a1"),
        ],
        // A registration from the token of the access release.
        &[
            ("HelmRelease", "compute-a1-access"),
            ("ExternalSecret", "compute-a1"),
            ("OVNChassis", "compute-a1-chassis"),
            ("NeutronMetadataAgent", "compute-a1-metadata"),
            ("NovaCompute", "compute-a1-general"),
        ],
        // OVN on a network cluster, and placed services, come after the operators may enter.
        &[("ExternalSecret", "network-b1"), ("OVNCentral", "cp-b-ovn"), ("ControlPlane", "cp-b")],
        &[("ExternalSecret", "services-a1"), ("ControlPlane", "cp-a")],
    ];
    chains.iter().try_for_each(|chain| in_order(stand_in, chain))
}

fn the_objects_are_there(stage: &Stage) -> Result<()> {
    let get =
        |namespace: &str, what: &str| stage.kubectl.json(&["get", &format!("--namespace={namespace}"), what]);
    let plane = get("cp-a", "controlplanes.c5c3.io/cp-a")?;
    assert_eq!(plane["spec"]["services"]["glance"]["targetClusterRef"]["name"], "services-a1");
    let pool = get("cp-b", &format!("{POOLS}/compute-b1-micro"))?;
    ensure!(
        pool["spec"]["libvirt"]["cpuMode"].is_null() && pool["spec"]["image"]["repository"].is_string(),
        "{pool}"
    );
    let backend = get("cp-a", &format!("{BACKENDS}/rbd-storage-a1"))?;
    let daemon = get("cp-a", "daemonsets.apps/storage-a1-libvirt-secret")?.to_string();
    let uuid = backend["spec"]["rbd"]["secretUUID"].as_str().context("a backend without secretUUID")?;
    ensure!(daemon.contains(uuid), "hypervisors define another secret than Cinder names");
    let node = stage.kubectl.json(&["get", "node", "kvm-a1"])?;
    assert_eq!(node["metadata"]["labels"]["openstack.c5c3.io/nova-compute-pool"], "general");
    assert_eq!(node["metadata"]["annotations"]["nova.openstack.cloud.sap/custom-traits"], "CUSTOM_GOLD");
    let gateway = get("cp-a", "gateways.gateway.networking.k8s.io/openstack-gw")?;
    ensure!(
        gateway["spec"]["listeners"].as_array().is_some_and(|listeners| listeners.len() == 8),
        "{gateway}"
    );
    Ok(())
}
