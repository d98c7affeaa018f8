//! Sources that misbehave: the object stays, says so, and is right again when they behave.

use std::time::Duration;

use c5c3_api::{Hypervisor, OVSNode};
use fleet_simulator::model::{Fault, Host};
use kube::api::{Api, ListParams};

use crate::fixture::{Ground, Kind, Watch, condition, seen};

/// A list takes less than a second whatever the sources do. The best of three: the machine may be busy.
async fn lists_stay_fast<K: Kind>(api: &Api<K>, hosts: usize) {
    for attempt in 1..=3 {
        let list = tokio::time::timeout(Duration::from_secs(1), api.list(&ListParams::default())).await;
        match list {
            Ok(list) => {
                assert_eq!(list.unwrap().items.len(), hosts);
                return;
            }
            Err(_) => assert!(attempt < 3, "no list in a second"),
        }
    }
}

fn libvirt(hypervisor: &Hypervisor) -> (String, String, String) {
    condition(&hypervisor.status.as_ref().unwrap().conditions, "LibvirtConnected")
}

fn nova(hypervisor: &Hypervisor) -> (String, String, String) {
    condition(&hypervisor.status.as_ref().unwrap().conditions, "NovaReachable")
}

fn ovsdb(node: &OVSNode) -> (String, String, String) {
    condition(&node.status.as_ref().unwrap().conditions, "OVSDBConnected")
}

async fn libvirt_comes_and_goes(fault: Fault, expected: &str) {
    let ground = Ground::new(2).await;
    let server = ground.serve().await;
    let hypervisors = server.all::<Hypervisor>();
    seen(&hypervisors, "host-1", |found| libvirt(found).0 == "True").await;
    let mut watch = Watch::open(&hypervisors).await;
    let set = |fault| ground.fleet.host(0).unwrap().set_faults(|faults| faults.libvirt = fault);
    set(fault);
    let away = watch.until("host-1", |found| libvirt(found).0 != "True").await;
    assert_eq!(libvirt(&away).1, expected);
    assert!(!libvirt(&away).2.is_empty(), "the message says what is wrong");
    let status = away.status.unwrap();
    assert_eq!((status.num_instances, status.instances.unwrap().len()), (Some(2), 2), "last values stay");
    assert_eq!(condition(&status.conditions, "Ready").1, "LibvirtUnreachable");
    lists_stay_fast(&hypervisors, 2).await;
    let other = hypervisors.get("host-2").await.unwrap();
    assert_eq!(libvirt(&other).0, "True", "another host's trouble is not this one's");
    set(Fault::None);
    watch.until("host-1", |found| libvirt(found).0 == "True").await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_libvirtd_that_accepts_and_never_answers() {
    libvirt_comes_and_goes(Fault::Stall, "Stale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_libvirtd_that_refuses() {
    libvirt_comes_and_goes(Fault::Refuse, "Unreachable").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_libvirtd_that_dies_in_mid_frame() {
    libvirt_comes_and_goes(Fault::HalfFrame, "Unreachable").await;
}

async fn ovsdb_comes_and_goes(fault: Fault, expected: &str) {
    let ground = Ground::new(2).await;
    let server = ground.serve().await;
    let nodes = server.ovs_nodes();
    seen(&nodes, "host-1", |found| ovsdb(found).0 == "True").await;
    let mut watch = Watch::open(&nodes).await;
    let host = ground.fleet.host(0).unwrap();
    let set = |host: &Host, fault| host.set_faults(|faults| faults.ovsdb = fault);
    set(host, fault);
    let away = watch.until("host-1", |found| ovsdb(found).0 != "True").await;
    assert_eq!(ovsdb(&away).1, expected);
    assert!(!ovsdb(&away).2.is_empty(), "the message says what is wrong");
    assert_eq!(away.status.unwrap().bridges.unwrap().len(), 2, "last rows stay");
    lists_stay_fast(&nodes, 2).await;
    set(host, Fault::None);
    watch.until("host-1", |found| ovsdb(found).0 == "True").await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ovsdb_server_that_accepts_and_never_answers() {
    ovsdb_comes_and_goes(Fault::Stall, "Stale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ovsdb_server_that_refuses() {
    ovsdb_comes_and_goes(Fault::Refuse, "Unreachable").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ovsdb_server_that_dies_in_mid_frame() {
    ovsdb_comes_and_goes(Fault::HalfFrame, "Unreachable").await;
}

async fn nova_comes_and_goes(fault: Fault, says: &str) {
    let ground = Ground::new(2).await;
    let server = ground.serve().await;
    let hypervisors = server.all::<Hypervisor>();
    seen(&hypervisors, "host-1", |found| nova(found).0 == "True").await;
    let mut watch = Watch::open(&hypervisors).await;
    let set = |fault| ground.fleet.model().cloud.change(|cloud| cloud.fault = fault);
    set(fault);
    let away = watch.until("host-1", |found| nova(found).0 == "False").await;
    assert_eq!(nova(&away).1, "Unreachable");
    assert!(nova(&away).2.contains(says), "{:?}", nova(&away));
    let status = away.status.unwrap();
    assert!(status.service_id.is_some() && status.hypervisor_id.is_some(), "last values stay");
    let ready = condition(&status.conditions, "Ready");
    assert_eq!((ready.0.as_str(), ready.1.as_str()), ("Unknown", "NovaUnreachable"));
    assert_eq!(condition(&status.conditions, "LibvirtConnected").0, "True");
    lists_stay_fast(&hypervisors, 2).await;
    set(Fault::None);
    watch.until("host-1", |found| nova(found).0 == "True").await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nova_that_says_503() {
    nova_comes_and_goes(Fault::Unavailable, "503").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nova_that_refuses() {
    nova_comes_and_goes(Fault::Refuse, "").await;
}
