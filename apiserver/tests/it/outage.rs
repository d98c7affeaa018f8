//! Everything behind the server goes away at once. Clients must not notice by anything missing.

use std::time::Duration;

use c5c3_api::{Hypervisor, OVSNode};
use fleet_simulator::model::Fault;
use kube::ResourceExt as _;
use kube::api::{Api, ListParams};

use crate::fixture::{Ground, Kind, Watch, condition, seen};

/// Names and UIDs of what a list shows.
async fn shown<K: Kind>(api: &Api<K>) -> Vec<(String, String)> {
    let list = api.list(&ListParams::default()).await.unwrap();
    list.into_iter().map(|object| (object.name_any(), object.uid().unwrap())).collect()
}

/// Takes events until each of these objects was told to be away; a removal among them is what must not be.
async fn all_away<K: Kind>(watch: &mut Watch<K>, mut waiting: Vec<String>, away: impl Fn(&K) -> bool) {
    while !waiting.is_empty() {
        let (type_, object) = watch.next().await;
        assert_eq!(type_, "MODIFIED", "{}", object.name_any());
        if away(&object) {
            waiting.retain(|name| *name != object.name_any());
        }
    }
}

// covers: C11 C12 C34 X2
#[tokio::test(flavor = "multi_thread")]
async fn with_everything_away_all_objects_stay_and_none_is_told_to_be_gone() {
    let ground = Ground::new(3).await;
    let server = ground.serve().await;
    let (hypervisors, nodes) = (server.all::<Hypervisor>(), server.ovs_nodes());
    let connected =
        |type_: &'static str, conditions: &[c5c3_api::Condition]| condition(conditions, type_).0 == "True";
    for host in ["host-1", "host-2", "host-3"] {
        seen(&hypervisors, host, |found| {
            let conditions = &found.status.as_ref().unwrap().conditions;
            connected("LibvirtConnected", conditions) && connected("NovaReachable", conditions)
        })
        .await;
        seen(&nodes, host, |found: &OVSNode| {
            connected("OVSDBConnected", &found.status.as_ref().unwrap().conditions)
        })
        .await;
    }
    let before = (shown(&hypervisors).await, shown(&nodes).await);
    assert_eq!((before.0.len(), before.1.len()), (3, 3));
    let mut watches = (Watch::open(&hypervisors).await, Watch::open(&nodes).await);

    for host in &ground.fleet.model().hosts {
        host.set_faults(|faults| {
            faults.libvirt = Fault::Refuse;
            faults.ovsdb = Fault::Refuse;
        });
    }
    ground.fleet.model().cloud.change(|cloud| cloud.fault = Fault::Refuse);
    let names: Vec<String> = before.0.iter().map(|(name, _)| name.clone()).collect();
    all_away(&mut watches.0, names.clone(), |found| {
        let conditions = &found.status.as_ref().unwrap().conditions;
        !connected("LibvirtConnected", conditions) && !connected("NovaReachable", conditions)
    })
    .await;
    all_away(&mut watches.1, names, |found| {
        !connected("OVSDBConnected", &found.status.as_ref().unwrap().conditions)
    })
    .await;
    assert_eq!((shown(&hypervisors).await, shown(&nodes).await), before, "same objects, same UIDs");
    for path in ["/readyz", "/apis", "/apis/hypervisor.c5c3.io/v1", "/openapi/v3"] {
        let request = http::Request::get(path).body(Vec::new()).unwrap();
        let answer = tokio::time::timeout(Duration::from_secs(5), server.client.request_text(request)).await;
        assert!(answer.is_ok_and(|answer| answer.is_ok()), "{path}");
    }
    server.stop().await;
}
