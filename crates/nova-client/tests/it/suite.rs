//! What holds for every cloud, simulated or real.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use nova_client::{Cloud, Interface, Limits, Microversion, Service, ServiceState, ServiceStatus};
use uuid::Uuid;

use crate::peer::{Peer, Simulated};

/// Runs each check against the simulator and against the real cloud.
macro_rules! for_every_cloud {
    ($($check:ident)*) => {
        mod on_the_simulator {
            use super::*;
            $(#[tokio::test]
            async fn $check() {
                let cloud = Simulated::new(3, 2).await;
                super::$check(&cloud.peer).await;
            })*
        }

        mod on_a_real_cloud {
            use super::*;
            $(#[tokio::test]
            async fn $check() {
                let Some(peer) = Peer::real() else { return };
                super::$check(&peer).await;
            })*
        }
    };
}

for_every_cloud! {
    every_kind_of_credential_logs_in_and_versions_are_agreed
    a_wrong_secret_is_unauthorized_and_not_told
    an_unknown_application_credential_is_unauthorized
    hypervisors_are_joined_with_services_by_host_and_with_providers_by_id
    aggregates_name_service_hosts
    servers_are_listed_by_host_and_an_unknown_host_has_none
    pages_of_one_row_give_the_same_list
    an_unknown_provider_is_none
    a_provider_has_inventories_usages_and_traits
    migrations_are_listed_since_a_time
    the_interface_is_chosen_and_a_missing_endpoint_is_told
    a_keystone_that_is_not_there_is_unavailable
}

const CLOUDS: [&str; 2] = ["rig", "rig-appcred"];

fn hosts_of(list: impl IntoIterator<Item = Option<String>>) -> BTreeSet<String> {
    list.into_iter().map(Option::unwrap).collect()
}

async fn service_hosts(cloud: &Cloud) -> BTreeSet<String> {
    hosts_of(cloud.compute_services().await.unwrap().into_iter().map(|service| service.host))
}

async fn every_kind_of_credential_logs_in_and_versions_are_agreed(peer: &Peer) {
    for name in CLOUDS {
        let cloud = Cloud::from_clouds_yaml(&peer.clouds_yaml, name).await.unwrap();
        assert_eq!(cloud.version(Service::Compute).await.unwrap(), Microversion::new(2, 93));
        assert_eq!(cloud.version(Service::Placement).await.unwrap(), Microversion::new(1, 39));
        let services = cloud.compute_services().await.unwrap();
        assert!(!services.is_empty(), "{name} sees no services");
    }
}

async fn a_wrong_secret_is_unauthorized_and_not_told(peer: &Peer) {
    let wrong = peer.altered(|text| {
        let line = |line: &str| match line.trim_start().split_once(": ") {
            Some((key @ ("password" | "application_credential_secret"), _)) => {
                format!("      {key}: not-the-secret-4711\n")
            }
            _ => format!("{line}\n"),
        };
        text.lines().map(line).collect()
    });
    for name in CLOUDS {
        let error = Cloud::connect(wrong.options(name)).await.unwrap_err();
        assert!(error.is_unauthorized(), "{name}: {}", error.report());
        assert!(!error.is_unavailable());
        assert_eq!(error.status().unwrap().as_u16(), 401);
        let told = format!("{} {error:?} {:?}", error.report(), wrong.options(name));
        assert!(told.contains("refused the credentials"), "{told}");
        assert!(!told.contains("4711"), "{told}");
    }
}

async fn an_unknown_application_credential_is_unauthorized(peer: &Peer) {
    let gone =
        peer.altered(|text| text.replace("application_credential_id: ", "application_credential_id: 0"));
    let error = Cloud::connect(gone.options("rig-appcred")).await.unwrap_err();
    assert!(error.is_unauthorized(), "{}", error.report());
    assert_eq!(error.status().unwrap().as_u16(), 404);
}

async fn hypervisors_are_joined_with_services_by_host_and_with_providers_by_id(peer: &Peer) {
    let cloud = peer.connect("rig").await;
    let services = cloud.compute_services().await.unwrap();
    let hypervisors = cloud.hypervisors().await.unwrap();
    assert!(hypervisors.len() >= 2, "{hypervisors:?}");
    for hypervisor in &hypervisors {
        let host = hypervisor.service_host().unwrap();
        let mut of_host = services.iter().filter(|service| service.host.as_deref() == Some(host));
        let service = of_host.next().unwrap();
        assert!(of_host.next().is_none(), "{host} has two services");
        assert_eq!(service.binary.as_deref(), Some("nova-compute"));
        assert_eq!(service.state, hypervisor.state);
        assert_eq!(service.status, hypervisor.status);
        assert_eq!(service.id, hypervisor.service.as_ref().unwrap().id);
        assert!(service.updated_at.unwrap() <= Timestamp::now() + SignedDuration::from_secs(60));
        let provider = cloud.resource_provider(hypervisor.id.unwrap()).await.unwrap().unwrap();
        assert_eq!(provider.name, hypervisor.hypervisor_hostname);
    }
    // The libvirt ones tell their version; the fake driver says 1000.
    let qemu = hypervisors.iter().filter(|hypervisor| hypervisor.hypervisor_type.as_deref() == Some("QEMU"));
    assert!(qemu.clone().count() >= 2, "{hypervisors:?}");
    assert!(qemu.clone().all(|hypervisor| hypervisor.hypervisor_version > Some(6_000_000)));
    assert!(qemu.clone().all(|hypervisor| !hypervisor.is_ironic() && hypervisor.host_ip.is_some()));
    let up = hypervisors.iter().filter(|hypervisor| hypervisor.state == ServiceState::Up);
    assert!(up.clone().count() >= 2, "{hypervisors:?}");
    assert!(up.clone().any(|hypervisor| hypervisor.status == ServiceStatus::Enabled));
    assert!(up.clone().any(|hypervisor| hypervisor.uptime.is_some()), "{hypervisors:?}");
}

async fn aggregates_name_service_hosts(peer: &Peer) {
    let cloud = peer.connect("rig").await;
    let hosts = service_hosts(&cloud).await;
    let aggregates = cloud.aggregates().await.unwrap();
    assert!(!aggregates.is_empty());
    for aggregate in &aggregates {
        assert!(aggregate.id.is_some() && aggregate.uuid.is_some() && aggregate.name.is_some());
        for host in aggregate.hosts.as_ref().unwrap() {
            assert!(hosts.contains(host), "{host} of {:?} is no service host", aggregate.name);
            assert!(aggregate.has_host(host));
        }
        assert_eq!(aggregate.availability_zone.as_ref(), aggregate.metadata.get("availability_zone"));
    }
    assert!(!aggregates[0].has_host("nosuch"));
}

async fn servers_are_listed_by_host_and_an_unknown_host_has_none(peer: &Peer) {
    let cloud = peer.connect("rig").await;
    let mut seen = BTreeSet::new();
    for host in service_hosts(&cloud).await {
        for server in cloud.servers_of_host(&host).await.unwrap() {
            assert_eq!(server.host.as_deref(), Some(host.as_str()));
            assert!(seen.insert(server.id), "{} is on two hosts", server.id);
            assert!(server.instance_name.is_some() && server.vm_state.is_some(), "{server:?}");
            assert!(server.flavor.as_ref().unwrap().vcpus.unwrap() >= 1);
            assert!(server.created.unwrap() <= Timestamp::now() + SignedDuration::from_secs(60));
        }
    }
    assert!(cloud.servers_of_host("nosuch").await.unwrap().is_empty());
    if seen.is_empty() {
        println!("this cloud has no servers");
    }
}

async fn pages_of_one_row_give_the_same_list(peer: &Peer) {
    let whole = peer.connect("rig").await.hypervisors().await.unwrap();
    let limits = Limits { page_rows: 1, ..Limits::default() };
    let cloud = Cloud::connect(peer.options("rig").with_limits(limits)).await.unwrap();
    let paged = cloud.hypervisors().await.unwrap();
    let ids =
        |list: &[nova_client::Hypervisor]| list.iter().map(|row| row.id.unwrap()).collect::<BTreeSet<Uuid>>();
    assert_eq!(paged.len(), whole.len());
    assert_eq!(ids(&paged), ids(&whole));
    for host in service_hosts(&cloud).await {
        let paged = cloud.servers_of_host(&host).await.unwrap();
        assert!(paged.iter().all(|server| server.host.as_deref() == Some(host.as_str())));
    }
}

async fn an_unknown_provider_is_none(peer: &Peer) {
    let cloud = peer.connect("rig").await;
    let unknown = Uuid::from_u128(0x4711);
    assert_eq!(cloud.resource_provider(unknown).await.unwrap(), None);
    assert_eq!(cloud.provider_traits(unknown).await.unwrap(), None);
    assert_eq!(cloud.provider_inventories(unknown).await.unwrap(), None);
    assert_eq!(cloud.provider_usages(unknown).await.unwrap(), None);
}

async fn a_provider_has_inventories_usages_and_traits(peer: &Peer) {
    let cloud = peer.connect("rig-appcred").await;
    let providers = cloud.resource_providers().await.unwrap();
    for hypervisor in cloud.hypervisors().await.unwrap() {
        let id = hypervisor.id.unwrap();
        assert!(providers.iter().any(|provider| provider.uuid == id));
        let traits = cloud.provider_traits(id).await.unwrap().unwrap();
        assert!(traits.traits.iter().any(|name| name.starts_with("COMPUTE_")), "{traits:?}");
        let inventories = cloud.provider_inventories(id).await.unwrap().unwrap();
        let cpus = &inventories.inventories["VCPU"];
        assert!(cpus.total > 0 && cpus.capacity() >= cpus.total as f64, "{cpus:?}");
        let usages = cloud.provider_usages(id).await.unwrap().unwrap();
        assert!(usages.usages["VCPU"] >= 0);
    }
}

async fn migrations_are_listed_since_a_time(peer: &Peer) {
    let cloud = peer.connect("rig").await;
    for host in service_hosts(&cloud).await {
        for migration in cloud.migrations_of_host(&host, None).await.unwrap() {
            let ends = [migration.source_compute.as_deref(), migration.dest_compute.as_deref()];
            assert!(ends.contains(&Some(host.as_str())), "{migration:?}");
        }
        let later = Timestamp::now() + Duration::from_secs(86_400);
        assert_eq!(cloud.migrations_of_host(&host, Some(later)).await.unwrap(), []);
    }
}

async fn the_interface_is_chosen_and_a_missing_endpoint_is_told(peer: &Peer) {
    let internal = Cloud::connect(peer.options("rig").with_interface(Interface::Internal)).await.unwrap();
    assert!(!internal.hypervisors().await.unwrap().is_empty());
    let nowhere = Cloud::connect(peer.options("rig").with_region("Nowhere")).await.unwrap();
    let error = nowhere.hypervisors().await.unwrap_err();
    let told = error.report();
    assert!(told.contains("region Nowhere") && told.contains("public@RegionOne"), "{told}");
    assert!(!error.is_unavailable() && !error.is_unauthorized());
}

async fn a_keystone_that_is_not_there_is_unavailable(peer: &Peer) {
    let gone = peer.altered(|text| {
        let line = |line: &str| match line.split_once("auth_url: ") {
            Some((before, _)) => format!("{before}auth_url: http://127.0.0.1:1/v3\n"),
            None => format!("{line}\n"),
        };
        text.lines().map(line).collect()
    });
    let error = Cloud::connect(gone.options("rig")).await.unwrap_err();
    assert!(error.is_unavailable() && !error.is_unauthorized(), "{}", error.report());
    assert!(error.report().contains("http://127.0.0.1:1/v3"), "{}", error.report());
}
