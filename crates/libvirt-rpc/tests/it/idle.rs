//! Connections on which nothing is said: the daemon asks whether the client is there, and is answered.

use std::time::Duration;

use libvirt_rpc::OpenOptions;

use crate::target::{self, Target};

/// All daemons at once, because each takes its time.
#[tokio::test]
async fn daemons_ping_an_idle_connection() {
    let mut targets = target::simulator_tcp().await;
    targets.extend(target::simulator_tls().await);
    targets.extend(target::rig_tcp().await);
    targets.extend(target::rig_tls().await);
    targets.extend(target::rig_sasl().await);
    let stay = targets.iter().map(async |target| {
        let (connection, _events) = target.open_with(without_own_pings(target)).await;
        assert!(connection.has_keepalive());
        let before = connection.counters().frames;
        tokio::time::sleep(Duration::from_millis(5_700)).await;
        assert_eq!(connection.counters().frames - before, 1, "{}", target.name);
        connection.lib_version().await.unwrap();
    });
    futures::future::join_all(stay).await;
}

/// A daemon drops a client that answers none of its pings after 30 s.
#[tokio::test]
async fn an_idle_connection_outlives_the_daemons_patience() {
    let mut targets = target::simulator_tcp().await;
    targets.extend(target::rig_tcp().await.into_iter().take(1));
    targets.extend(target::rig_tls().await.into_iter().take(1));
    let stay = targets.iter().map(async |target| {
        let (connection, _events) = target.open_with(without_own_pings(target)).await;
        tokio::time::sleep(Duration::from_secs(36)).await;
        connection.lib_version().await.unwrap();
        assert!(connection.counters().frames >= 5 + 6, "{:?}", connection.counters());
    });
    futures::future::join_all(stay).await;
}

fn without_own_pings(target: &Target) -> OpenOptions {
    let mut options = target.options();
    options.keepalive_interval = Some(Duration::from_secs(3600));
    options
}
