//! A rolling restart as users of the API see it: nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use aggregated_apiserver::{Drain, VersionClock};
use http::Method;
use tokio::sync::Mutex;

use crate::fixture::{Fixture, STATIONS, Settings, station};
use crate::http::Client;

/// What kube-apiserver does: a connection to a ready endpoint, used until the server tells it to go.
#[derive(Default)]
struct Endpoints {
    ready: Mutex<Vec<Arc<Client>>>,
}

impl Endpoints {
    /// What the kubelet and the endpoints controller do, a few times a second.
    async fn probe(&self, all: &[Arc<Client>]) {
        let mut ready = Vec::new();
        for client in all {
            let probe = client.send(Method::GET, "/readyz", &[]).await;
            if probe.is_ok_and(|answer| answer.status() == 200) {
                ready.push(client.clone());
            }
        }
        *self.ready.lock().await = ready;
    }
}

// covers: C14 C31
#[tokio::test]
async fn a_rolling_restart_fails_no_request() {
    let drain = || Drain { announce: Duration::from_millis(1200), finish: Duration::from_secs(5) };
    let settings = |slot, process| Settings {
        drain: drain(),
        clock: VersionClock::new(slot).of_process(process),
        ..Settings::default()
    };
    let mut replicas = vec![Fixture::with(settings(1, 0), |builder| builder).await];
    replicas.push(replicas[0].replica(settings(2, 0)).await);
    let endpoints = Arc::new(Endpoints::default());
    let (done, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut clients = Vec::new();
    for replica in &replicas {
        replica.stations.publish(station("a", "north")).unwrap();
        replica.ready.open();
        clients.push(Arc::new(replica.reader().await));
    }
    endpoints.probe(&clients).await;
    let asking = tokio::spawn({
        let (endpoints, done, asked) = (endpoints.clone(), done.clone(), asked.clone());
        async move {
            while !done.load(Ordering::SeqCst) {
                let number = asked.fetch_add(1, Ordering::SeqCst);
                let client = {
                    let ready = endpoints.ready.lock().await;
                    assert!(!ready.is_empty(), "no replica is ready");
                    ready[number % ready.len()].clone()
                };
                for path in ["/apis/weather.example.com/v1", STATIONS] {
                    let answer = client.send(Method::GET, path, &[]).await.expect("an answer");
                    assert_eq!(answer.status(), 200, "request {number} of the rollout");
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    });
    for (number, slot) in [(0, 1), (1, 2)] {
        replicas[number].stop.cancel();
        let start = tokio::time::Instant::now();
        while start.elapsed() < Duration::from_secs(2) {
            endpoints.probe(&clients).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let successor = replicas[number].replica(settings(slot, 1)).await;
        successor.stations.publish(station("a", "north")).unwrap();
        successor.ready.open();
        clients[number] = Arc::new(successor.reader().await);
        replicas[number] = successor;
        endpoints.probe(&clients).await;
    }
    done.store(true, Ordering::SeqCst);
    asking.await.unwrap();
    assert!(asked.load(Ordering::SeqCst) > 50);
}
