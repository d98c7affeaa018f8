//! Every host is there, with every field from its source.

use c5c3_api::{Eviction, Hypervisor, OVSNode};
use c5c3_apiserver::intent::{IntentKey, declaration};
use fleet_simulator::model::Host;
use kube::ResourceExt as _;
use kube::api::ListParams;
use serde_json::json;

use crate::fixture::{Ground, condition, seen};

/// Everything has been heard.
fn complete(hypervisor: &Hypervisor) -> bool {
    let status = hypervisor.status.as_ref().unwrap();
    status.num_instances.is_some() && status.traits.is_some() && status.compute_service.is_some()
}

fn is_as_the_model(hypervisor: &Hypervisor, host: &Host) {
    let status = hypervisor.status.as_ref().unwrap();
    let domains = host.read(|state| state.domains.keys().map(ToString::to_string).collect::<Vec<_>>());
    let instances: Vec<String> =
        status.instances.as_ref().unwrap().iter().map(|instance| instance.id.clone()).collect();
    assert_eq!(instances, domains);
    assert_eq!(status.lib_virt_version.as_deref(), Some("10.0.0"));
    assert_eq!(status.hypervisor_version.as_deref(), Some("8.2.0"));
    assert_eq!(status.capacity.as_ref().unwrap()["cpu"].0, "64");
    assert_eq!(status.capacity.as_ref().unwrap()["memory"].0, "512Gi");
    assert_eq!(status.allocation.as_ref().unwrap()["cpu"].0, "6");
    assert_eq!(status.cells.as_ref().unwrap().len(), 2);
    assert_eq!(status.capabilities.as_ref().unwrap().cpu_arch.as_deref(), Some("x86_64"));
    assert!(status.domain_capabilities.is_some());
    let system = status.operating_system.as_ref().unwrap();
    let serial = host.read(|state| state.hardware.serial.clone());
    assert_eq!(system.hardware_serial, Some(serial));
    assert_eq!(status.hypervisor_id, Some(host.uuid.to_string()));
    let service = status.compute_service.as_ref().unwrap();
    assert_eq!((service.state.as_deref(), service.status.as_deref()), (Some("up"), Some("enabled")));
    let zone = &hypervisor.labels()["topology.kubernetes.io/zone"];
    assert_eq!(&status.aggregates.as_ref().unwrap()[0].name, zone);
    let traits = status.traits.as_ref().unwrap();
    assert!(traits.contains(&"CUSTOM_SIMULATED".to_owned()), "{traits:?}");
    assert_eq!(condition(&status.conditions, "Ready").0, "True");
    for source in ["libvirt", "ovsdb", "nova", "placement"] {
        let found = status.sources.iter().find(|found| found.name == source).unwrap();
        assert_eq!((found.state.as_str(), found.observed_at.is_some()), ("Connected", true), "{source}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_host_is_there_with_every_field_from_its_source() {
    let ground = Ground::new(3).await;
    let server = ground.serve().await;
    let hypervisors = server.all::<Hypervisor>();
    for host in &ground.fleet.model().hosts {
        is_as_the_model(&seen(&hypervisors, &host.name, complete).await, host);
    }
    let list = hypervisors.list(&ListParams::default()).await.unwrap();
    assert_eq!(
        list.items.iter().map(|found| found.name_any()).collect::<Vec<_>>(),
        ["host-1", "host-2", "host-3"]
    );
    let in_zone = ListParams::default().labels("topology.kubernetes.io/zone=zone-b");
    assert_eq!(hypervisors.list(&in_zone).await.unwrap().items.len(), 1);
    let by_id = format!("status.hypervisorId={}", ground.fleet.host(1).unwrap().uuid);
    let found = hypervisors.list(&ListParams::default().fields(&by_id)).await.unwrap();
    assert_eq!(found.items.iter().map(|found| found.name_any()).collect::<Vec<_>>(), ["host-2"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_switch_of_a_host_is_there_with_flows_bonds_and_tunnels() {
    let ground = Ground::new(3).await;
    let server = ground.serve().await;
    let node = seen(&server.ovs_nodes(), "host-2", |node: &OVSNode| {
        let status = node.status.as_ref().unwrap();
        status.flow_stats.is_some() && condition(&status.conditions, "OVNControllerConnected").0 == "True"
    })
    .await;
    let status = node.status.unwrap();
    assert_eq!(status.ovs_version.as_deref(), Some("3.4.1"));
    let names: Vec<&str> = status.bridges.as_ref().unwrap().iter().map(|found| found.name.as_str()).collect();
    assert_eq!(names, ["br-ex", "br-int"]);
    let interfaces = status.interfaces.unwrap();
    let bond = &interfaces.bonds.unwrap()[0];
    assert_eq!((bond.name.as_str(), bond.members, bond.active_members), ("bond0", Some(2), Some(2)));
    assert_eq!(interfaces.tunnels.unwrap().len(), 2);
    assert_eq!(interfaces.physical.unwrap()[0].speed.as_deref(), Some("25Gbps"));
    assert_eq!(status.flow_stats.unwrap().flows_per_table.unwrap().len(), 41);
    assert_eq!(status.ovn_controller.unwrap().chassis_id.as_deref(), Some("host-2"));
    assert_eq!(condition(&status.conditions, "Ready").0, "True");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_for_one_object_gets_counters_of_now() {
    let ground = Ground::new(1).await;
    let mut configuration = ground.configuration();
    configuration.refresh.counters = "10m".parse().unwrap();
    let server = ground.serve_with(configuration).await;
    let nodes = server.ovs_nodes();
    let connected = |node: &OVSNode| node.status.as_ref().unwrap().metrics.is_some();
    seen(&nodes, "host-1", connected).await;
    for packets in [7_i64, 11] {
        // Values younger than a second are fresh enough.
        tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
        let host = ground.fleet.host(0).unwrap();
        let before = nodes.get("host-1").await.unwrap().status.unwrap().metrics.unwrap().packets_received;
        host.count("eno1", &[("rx_packets", packets)]);
        tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
        let after = nodes.get("host-1").await.unwrap().status.unwrap().metrics.unwrap().packets_received;
        assert_eq!(after.unwrap() - before.unwrap(), packets);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_only_somebodys_wish_knows_is_there_and_says_so() {
    let ground = Ground::new(1).await;
    let server = ground.serve().await;
    let key = IntentKey::cluster("Hypervisor", "ghost");
    let wish = declaration(&key, &json!({"maintenance": "manual", "maintenanceReason": "to come"}));
    let stored = server.running.intents().put(&key, None, wish).await.unwrap();
    let hypervisors = server.all::<Hypervisor>();
    let ghost = seen(&hypervisors, "ghost", |_| true).await;
    let status = ghost.status.as_ref().unwrap();
    let state = |name: &str| status.sources.iter().find(|source| source.name == name).unwrap().state.as_str();
    assert_eq!((state("node"), state("libvirt"), state("ovsdb")), ("Disabled", "Disabled", "Disabled"));
    assert_eq!(condition(&status.conditions, "Ready").1, "Maintenance");
    assert_eq!((ghost.metadata.owner_references, status.num_instances), (None, None));
    assert!(server.ovs_nodes().get_opt("ghost").await.unwrap().is_some());

    let mut watch = crate::fixture::Watch::open(&hypervisors).await;
    server.running.intents().remove(&key, &stored.version).await.unwrap();
    while watch.next().await.0 != "DELETED" {}
    assert!(hypervisors.get_opt("ghost").await.unwrap().is_none());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_eviction_shows_what_is_left_on_its_host() {
    let ground = Ground::new(1).await;
    let server = ground.serve().await;
    let key = IntentKey::cluster("Eviction", "host-1");
    let wish = declaration(&key, &json!({"hypervisor": "host-1", "reason": "memory"}));
    server.running.intents().put(&key, None, wish).await.unwrap();
    let eviction = seen(&server.all::<Eviction>(), "host-1", |eviction: &Eviction| {
        eviction.status.as_ref().unwrap().outstanding_instances.is_some()
    })
    .await;
    assert_eq!(eviction.status.unwrap().outstanding_instances.unwrap().len(), 2);
    assert_eq!(eviction.spec.reason, "memory");
    server.stop().await;
}
