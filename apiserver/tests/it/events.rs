//! What happens on a host arrives in a watch that is open.

use std::time::Duration;

use c5c3_api::migration::JobType;
use c5c3_api::{Hypervisor, Migration, OVSNode};
use fleet_simulator::model::{Host, migrate};
use kube::ResourceExt as _;
use uuid::Uuid;

use crate::fixture::{Ground, Watch, condition, seen};

fn first_domain(host: &Host) -> Uuid {
    host.read(|state| *state.domains.keys().next().unwrap())
}

fn runs(hypervisor: &Hypervisor, domain: Uuid) -> Option<bool> {
    let instances = hypervisor.status.as_ref()?.instances.as_ref()?;
    instances.iter().find(|instance| instance.id == domain.to_string()).map(|instance| instance.active)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_that_stops_and_starts_is_seen_at_once() {
    let ground = Ground::new(2).await;
    let mut configuration = ground.configuration();
    // Only events can be in time.
    configuration.refresh.counters = "10m".parse().unwrap();
    let server = ground.serve_with(configuration).await;
    let hypervisors = server.all::<Hypervisor>();
    let host = ground.fleet.host(0).unwrap();
    let domain = first_domain(host);
    seen(&hypervisors, "host-1", |found| runs(found, domain) == Some(true)).await;
    let mut watch = Watch::open(&hypervisors).await;
    assert!(host.stop(domain));
    watch.until("host-1", |found| runs(found, domain) == Some(false)).await;
    assert!(host.start(domain));
    let shown = watch.until("host-1", |found| runs(found, domain) == Some(true)).await;
    assert_eq!(shown.status.unwrap().num_instances, Some(2));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_is_one_object_with_progress_both_ends_and_an_end() {
    let ground = Ground::new(2).await;
    let server = ground.serve().await;
    let hypervisors = server.all::<Hypervisor>();
    let (from, to) = (ground.fleet.host(0).unwrap(), ground.fleet.host(1).unwrap());
    let domain = first_domain(from);
    for host in [from, to] {
        seen(&hypervisors, &host.name, |found| found.status.as_ref().unwrap().num_instances == Some(2)).await;
    }
    let mut watch = Watch::<Migration>::open(&server.migrations()).await;
    let mut hosts = Watch::open(&hypervisors).await;
    let moving = {
        let (from, to) = (from.clone(), to.clone());
        tokio::spawn(async move { migrate(&from, &to, domain, Duration::from_secs(6)).await })
    };
    let (type_, first) = watch.next().await;
    assert_eq!((type_, first.name_any()), ("ADDED", domain.to_string()));
    let mut progress = Vec::new();
    let last = loop {
        let (type_, object) = watch.next().await;
        assert_eq!((type_, object.uid()), ("MODIFIED", first.uid()), "one migration is one object");
        let status = object.status.unwrap();
        progress.push(status.mem_processed.clone());
        let both = status.origin.is_some() && status.destination.is_some();
        if status.type_ == Some(JobType::Completed) && both {
            break status;
        }
    };
    progress.dedup();
    assert!(progress.len() >= 3, "numbers move while it runs: {progress:?}");
    assert_eq!((last.origin.as_deref(), last.destination.as_deref()), (Some("host-1"), Some("host-2")));
    assert!(moving.await.unwrap());

    let arrived = hosts.until("host-2", |found| runs(found, domain) == Some(true)).await;
    let left = seen(&hypervisors, "host-1", |found| runs(found, domain).is_none()).await;
    for hypervisor in [arrived, left] {
        assert_eq!(hypervisor.status.unwrap().findings, [], "a domain that moves is not on two hosts");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_migration_goes_when_its_time_is_over_though_its_hosts_are_silent() {
    let ground = Ground::new(2).await;
    let mut configuration = ground.configuration();
    configuration.refresh.migrations_kept = "3s".parse().unwrap();
    let server = ground.serve_with(configuration).await;
    let (from, to) = (ground.fleet.host(0).unwrap(), ground.fleet.host(1).unwrap());
    let domain = first_domain(from);
    seen(&server.all::<Hypervisor>(), "host-1", |found| runs(found, domain) == Some(true)).await;
    let mut watch = Watch::<Migration>::open(&server.migrations()).await;
    assert!(migrate(from, to, domain, Duration::from_secs(2)).await);
    watch
        .until(&domain.to_string(), |found| found.status.as_ref().unwrap().type_ == Some(JobType::Completed))
        .await;
    for host in [from, to] {
        host.set_faults(|faults| faults.libvirt = fleet_simulator::model::Fault::Refuse);
    }
    while watch.next().await.0 != "DELETED" {}
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bond_member_that_goes_down_is_told_and_so_is_its_return() {
    let ground = Ground::new(1).await;
    let server = ground.serve().await;
    let nodes = server.ovs_nodes();
    let bonds = |node: &OVSNode| condition(&node.status.as_ref().unwrap().conditions, "AllBondsHealthy");
    seen(&nodes, "host-1", |node| bonds(node).0 == "True").await;
    let mut watch = Watch::open(&nodes).await;
    let host = ground.fleet.host(0).unwrap();
    assert!(host.set_bond_member("bond0", "eno2", false));
    let down = watch.until("host-1", |node| bonds(node).0 == "False").await;
    assert_eq!(bonds(&down).1, "BondDegraded");
    assert!(bonds(&down).2.contains("bond0"), "{:?}", bonds(&down));
    assert!(host.set_bond_member("bond0", "eno2", true));
    watch.until("host-1", |node| bonds(node).0 == "True").await;
    server.stop().await;
}
