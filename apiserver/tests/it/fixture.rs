//! A running server with a fleet behind it and a client in front, and watches that wait for what shall come.

use std::fmt::Debug;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use c5c3_api::{Condition, Migration, OVSNode};
use c5c3_apiserver::configuration::{Configuration, Interval, Refresh};
use c5c3_apiserver::simulation::{Certificates, RunningFleet, configuration};
use c5c3_apiserver::wiring::{self, Running};
use futures::{Stream, TryStreamExt as _};
use k8s_openapi::ClusterResourceScope;
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config, Resource, ResourceExt as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// The longest that anything expected may take, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// Fleet, certificates and folder: what outlives a server.
pub(crate) struct Ground {
    pub(crate) folder: TempDir,
    pub(crate) fleet: RunningFleet,
    pub(crate) certificates: Certificates,
}

/// A server that runs on its ground.
pub(crate) struct Server {
    pub(crate) running: Running,
    pub(crate) client: Client,
    end: CancellationToken,
}

/// A type that kube can read: one of ours.
pub(crate) trait Kind:
    Resource<DynamicType = ()> + Clone + DeserializeOwned + Serialize + Debug + Send + 'static
{
}
impl<K> Kind for K where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Serialize + Debug + Send + 'static
{
}

impl Ground {
    pub(crate) async fn new(hosts: usize) -> Self {
        // Fails when another test has done it.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let folder = tempfile::tempdir().unwrap();
        let fleet = RunningFleet::start(folder.path(), hosts, 2).await.unwrap();
        let certificates = Certificates::make(folder.path()).unwrap();
        Self { folder, fleet, certificates }
    }

    /// A configuration for this fleet with short intervals.
    pub(crate) fn configuration(&self) -> Configuration {
        let mut configuration = configuration(self.folder.path(), &self.certificates, &self.fleet, 0);
        let second = Interval::seconds(1);
        configuration.refresh = Refresh {
            counters: second,
            services: second,
            memberships: second,
            deadline: second,
            ..Refresh::default()
        };
        configuration
    }

    pub(crate) async fn serve(&self) -> Server {
        self.serve_with(self.configuration()).await
    }

    pub(crate) async fn serve_with(&self, configuration: Configuration) -> Server {
        serve(&self.certificates, configuration).await
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A server with that configuration and a client of its administrator.
pub(crate) async fn serve(certificates: &Certificates, configuration: Configuration) -> Server {
    let end = CancellationToken::new();
    let running = wiring::start(configuration, end.clone()).await.unwrap();
    let kubeconfig: Kubeconfig = serde_json::from_value(certificates.kubeconfig(running.address())).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let client = Client::try_from(config).unwrap();
    Server { running, client, end }
}

impl Server {
    pub(crate) fn all<K: Kind + Resource<Scope = ClusterResourceScope>>(&self) -> Api<K> {
        Api::all(self.client.clone())
    }

    pub(crate) fn ovs_nodes(&self) -> Api<OVSNode> {
        Api::namespaced(self.client.clone(), "ovn-system")
    }

    pub(crate) fn migrations(&self) -> Api<Migration> {
        Api::namespaced(self.client.clone(), "c5c3-system")
    }

    /// Ends in order.
    pub(crate) async fn stop(self) {
        self.end.cancel();
        tokio::time::timeout(PATIENCE, self.running.ended()).await.expect("the server did not end").unwrap();
    }
}

/// An open watch, from what a list showed on.
pub(crate) struct Watch<K> {
    events: Pin<Box<dyn Stream<Item = kube::Result<WatchEvent<K>>> + Send>>,
    /// What the watch said so far, briefly, for the message of a test that fails.
    said: Vec<String>,
}

impl<K: Kind> Watch<K> {
    pub(crate) async fn open(api: &Api<K>) -> Self {
        let version = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
        let events = api.watch(&WatchParams::default(), &version).await.unwrap();
        Self { events: Box::pin(events), said: Vec::new() }
    }

    /// The next event, with its type.
    pub(crate) async fn next(&mut self) -> (&'static str, K) {
        let event = tokio::time::timeout(PATIENCE, self.events.try_next()).await;
        let event = event.unwrap_or_else(|_| panic!("no such event; seen: {:#?}", self.said));
        let (type_, object) = match event.unwrap().expect("the watch was ended") {
            WatchEvent::Added(object) => ("ADDED", object),
            WatchEvent::Modified(object) => ("MODIFIED", object),
            WatchEvent::Deleted(object) => ("DELETED", object),
            other => panic!("{other:?}"),
        };
        self.said.push(format!("{type_} {}", serde_json::to_string(&object).unwrap()));
        (type_, object)
    }

    /// The object of the first event that is `wanted`.
    pub(crate) async fn until(&mut self, name: &str, wanted: impl Fn(&K) -> bool) -> K {
        loop {
            let (type_, object) = self.next().await;
            if type_ != "DELETED" && object.name_any() == name && wanted(&object) {
                return object;
            }
        }
    }

    /// Nothing is said for that long.
    pub(crate) async fn stays_silent(&mut self, span: Duration) {
        if let Ok(event) = tokio::time::timeout(span, self.events.try_next()).await {
            panic!("an event without a reason: {:#?}", event.unwrap());
        }
    }
}

/// The object as it is when it is `wanted`: now, or by the event that makes it so.
pub(crate) async fn seen<K: Kind>(api: &Api<K>, name: &str, wanted: impl Fn(&K) -> bool) -> K {
    let mut watch = Watch::open(api).await;
    match api.get_opt(name).await.unwrap().filter(|object| wanted(object)) {
        Some(object) => object,
        None => watch.until(name, wanted).await,
    }
}

/// Status, reason and message of a condition.
pub(crate) fn condition(conditions: &[Condition], type_: &str) -> (String, String, String) {
    let found = Condition::find(conditions, type_).unwrap_or_else(|| panic!("no condition {type_}"));
    (found.status.to_string(), found.reason.clone(), found.message.clone())
}
