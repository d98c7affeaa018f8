//! Starting: with nothing to hear, and once more.

use std::collections::BTreeMap;

use c5c3_api::{Eviction, Hypervisor};
use c5c3_apiserver::configuration::{Configuration, HostAddress, Reach};
use c5c3_apiserver::intent::{IntentKey, declaration};
use c5c3_apiserver::wiring::{self, WiringError};
use kube::ResourceExt as _;
use kube::api::ListParams;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Ground, Server, condition, seen};

/// A port where nobody listens.
async fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_ready_with_every_source_away() {
    let ground = Ground::new(1).await;
    let mut configuration = ground.configuration();
    let port = closed_port().await;
    let reach = Reach {
        libvirt: Some(format!("tcp://127.0.0.1:{port}")),
        ovsdb: Some(format!("tcp:127.0.0.1:{port}")),
        openvswitch_run: Some(ground.path().join("nothing").display().to_string()),
        ..Reach::default()
    };
    configuration.hosts.known = ["away-1", "away-2"]
        .map(|name| (name.to_owned(), HostAddress { reach: reach.clone(), ..HostAddress::default() }))
        .into();
    if let Some(openstack) = &mut configuration.openstack {
        let text = std::fs::read_to_string(&openstack.clouds).unwrap();
        let mut clouds: serde_json::Value = serde_json::from_str(&text).unwrap();
        clouds["clouds"]["demo"]["auth"]["auth_url"] = json!(format!("http://127.0.0.1:{port}/identity/v3"));
        openstack.clouds = ground.path().join("away.yaml");
        std::fs::write(&openstack.clouds, clouds.to_string()).unwrap();
    }
    let server = ground.serve_with(configuration).await;
    let ready = http::Request::get("/readyz").body(Vec::new()).unwrap();
    // The first answer may come before the hosts are shown; the list below waits for them.
    let hypervisors = server.all::<Hypervisor>();
    let shown = seen(&hypervisors, "away-1", |found| {
        let conditions = &found.status.as_ref().unwrap().conditions;
        ["LibvirtConnected", "OVSDBConnected", "NovaReachable"]
            .iter()
            .all(|type_| condition(conditions, type_).0 == "False")
    })
    .await;
    assert_eq!(server.client.request_text(ready).await.unwrap(), "ok");
    assert!(server.running.is_ready());
    let status = shown.status.unwrap();
    assert_eq!(
        (status.num_instances, status.hypervisor_id, status.traits),
        (None, None, None),
        "absent, never 0"
    );
    assert_eq!(hypervisors.list(&ListParams::default()).await.unwrap().items.len(), 2);
    server.stop().await;
}

async fn uids(server: &Server) -> BTreeMap<String, String> {
    let mut uids = BTreeMap::new();
    let list = ListParams::default();
    for found in server.all::<Hypervisor>().list(&list).await.unwrap() {
        uids.insert(format!("hypervisor {}", found.name_any()), found.uid().unwrap());
    }
    for found in server.all::<Eviction>().list(&list).await.unwrap() {
        uids.insert(format!("eviction {}", found.name_any()), found.uid().unwrap());
    }
    for found in server.ovs_nodes().list(&list).await.unwrap() {
        uids.insert(format!("node {}", found.name_any()), found.uid().unwrap());
    }
    uids
}

#[tokio::test(flavor = "multi_thread")]
async fn identities_and_wishes_are_the_same_after_a_restart() {
    let ground = Ground::new(2).await;
    let first = ground.serve().await;
    let put = async |kind: &str, name: &str, spec: serde_json::Value| {
        let key = IntentKey::cluster(kind, name);
        first.running.intents().put(&key, None, declaration(&key, &spec)).await.unwrap();
    };
    put("Hypervisor", "ghost", json!({"maintenance": "manual", "maintenanceReason": "x"})).await;
    put("Eviction", "e", json!({"hypervisor": "host-1", "reason": "x"})).await;
    seen(&first.all::<Hypervisor>(), "ghost", |_| true).await;
    seen(&first.all::<Eviction>(), "e", |_| true).await;
    let before = uids(&first).await;
    first.stop().await;

    let second = ground.serve().await;
    seen(&second.all::<Eviction>(), "e", |_| true).await;
    let after = uids(&second).await;
    assert_eq!(after, before);
    assert_eq!(after.len(), 7);
    let mut distinct: Vec<&String> = after.values().collect();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 7, "no two objects share a UID");
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_start_says_why() {
    let ground = Ground::new(1).await;
    let running = ground.serve().await;
    let refused = |configuration: Configuration| async {
        wiring::start(configuration, CancellationToken::new()).await.unwrap_err()
    };
    let mut taken = ground.configuration();
    taken.listen = running.running.address();
    assert!(matches!(refused(taken).await, WiringError::Listen { .. }));
    assert!(matches!(refused(ground.configuration()).await, WiringError::Intent(_)), "the store is in use");
    let mut keyless = ground.configuration();
    keyless.serving.key = ground.path().join("none.key");
    assert!(matches!(refused(keyless).await, WiringError::Serving(_)));
    running.stop().await;
}
