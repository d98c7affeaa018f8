//! What means nothing new wakes nobody.

use std::time::Duration;

use c5c3_api::{Hypervisor, OVSNode};

use crate::fixture::{Ground, Watch, condition, seen};

#[tokio::test(flavor = "multi_thread")]
async fn refreshes_alone_make_no_event() {
    let ground = Ground::new(2).await;
    let server = ground.serve().await;
    let hypervisors = server.all::<Hypervisor>();
    let nodes = server.ovs_nodes();
    for host in ["host-1", "host-2"] {
        seen(&hypervisors, host, |found| {
            let status = found.status.as_ref().unwrap();
            status.traits.is_some() && condition(&status.conditions, "Ready").0 == "True"
        })
        .await;
        seen(&nodes, host, |found: &OVSNode| {
            let status = found.status.as_ref().unwrap();
            status.flow_stats.is_some() && condition(&status.conditions, "OVNControllerConnected").0 == "True"
        })
        .await;
    }
    let age = async || {
        let status = hypervisors.get("host-1").await.unwrap().status.unwrap();
        status.sources.iter().find(|source| source.name == "libvirt").unwrap().observed_at.clone().unwrap()
    };
    let before = age().await;
    let (mut of_hypervisors, mut of_nodes) = (Watch::open(&hypervisors).await, Watch::open(&nodes).await);
    let quiet = Duration::from_secs(12);
    tokio::join!(of_hypervisors.stays_silent(quiet), of_nodes.stays_silent(quiet));
    assert!(age().await.0 > before.0, "whoever asks sees that the source was read since");
    server.stop().await;
}
