//! kube-rs as a client: discovery, get, list, and its watcher in both of its modes.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::{StreamExt as _, TryStreamExt as _, pin_mut};
use kube::api::{Api, DynamicObject, ListParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::PartialObjectMeta;
use kube::discovery::{ApiResource, Discovery, Scope};
use kube::runtime::watcher::{self, Event};
use kube::{Client, Config, ResourceExt as _};
use serde_json::json;

use aggregated_apiserver::ObjectKey;

use crate::certificates::{Authority, Pair};
use crate::fixture::{Fixture, station};

async fn kube_client(fixture: &Fixture) -> Client {
    client_at(fixture, fixture.address).await
}

/// A client of the fixture's authorities, for a server at another address.
pub(crate) async fn client_at(fixture: &Fixture, address: SocketAddr) -> Client {
    client_of(address, &fixture.serving, &fixture.clients.client("rita", &["readers"])).await
}

/// A client with a certificate.
pub(crate) async fn client_of(address: SocketAddr, serving: &Authority, pair: &Pair) -> Client {
    let encode = |text: &str| STANDARD.encode(text);
    let kubeconfig = json!({
        "clusters": [{"name": "c", "cluster": {
            "server": format!("https://localhost:{}", address.port()),
            "certificate-authority-data": encode(&serving.pem),
        }}],
        "users": [{"name": "u", "user": {
            "client-certificate-data": encode(&pair.certificate), "client-key-data": encode(&pair.key),
        }}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    });
    let kubeconfig: Kubeconfig = serde_json::from_value(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

pub(crate) fn stations(client: Client) -> (Api<DynamicObject>, ApiResource) {
    let resource = ApiResource {
        group: "weather.example.com".into(),
        version: "v1".into(),
        api_version: "weather.example.com/v1".into(),
        kind: "Station".into(),
        plural: "stations".into(),
    };
    (Api::all_with(client, &resource), resource)
}

// covers: K6
#[tokio::test]
async fn discovery_and_reads_work() {
    let fixture = Fixture::start().await;
    fixture.stations.publish(station("a", "north")).unwrap();
    let client = kube_client(&fixture).await;
    let discovery = Discovery::new(client.clone()).filter(&["weather.example.com"]).run().await.unwrap();
    let (resource, capabilities) = discovery.groups().next().unwrap().recommended_kind("Station").unwrap();
    assert_eq!((resource.plural.as_str(), capabilities.scope), ("stations", Scope::Cluster));
    let (api, _) = stations(client);
    assert_eq!(api.get("a").await.unwrap().name_any(), "a");
    assert!(api.get_opt("b").await.unwrap().is_none());
    let list = api
        .list(&ListParams::default().labels("region in (north)").fields("metadata.name!=b"))
        .await
        .unwrap();
    assert_eq!(list.items.len(), 1);
    assert_eq!(api.list_metadata(&ListParams::default()).await.unwrap().items.len(), 1);
    let error = api.get("none").await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.is_not_found()));
}

async fn follows(configuration: watcher::Config) {
    let fixture = Fixture::start().await;
    fixture.stations.publish(station("a", "north")).unwrap();
    let (api, _) = stations(kube_client(&fixture).await);
    let events = watcher::watcher(api, configuration);
    pin_mut!(events);
    let mut brief = async || match events.try_next().await.unwrap().unwrap() {
        Event::Init => "init".to_owned(),
        Event::InitApply(object) => format!("there {}", object.name_any()),
        Event::InitDone => "complete".to_owned(),
        Event::Apply(object) => format!("apply {}", object.name_any()),
        Event::Delete(object) => format!("delete {}", object.name_any()),
    };
    assert_eq!(brief().await, "init");
    assert_eq!(brief().await, "there a");
    assert_eq!(brief().await, "complete");
    fixture.stations.publish(station("b", "north")).unwrap();
    assert_eq!(brief().await, "apply b");
    fixture.stations.publish(station("a", "south")).unwrap();
    assert_eq!(brief().await, "apply a");
    fixture.stations.withdraw(&ObjectKey::cluster("a"));
    assert_eq!(brief().await, "delete a");
}

// covers: K1 K2 K5
#[tokio::test]
async fn the_watcher_follows_by_list_and_watch() {
    follows(watcher::Config::default()).await;
}

// covers: K1 C7
#[tokio::test]
async fn the_watcher_lists_in_pages() {
    let fixture = Fixture::start().await;
    for number in 0..10 {
        fixture.stations.publish(station(&format!("n{number}"), "north")).unwrap();
    }
    let (api, _) = stations(kube_client(&fixture).await);
    let events = watcher::watcher(api, watcher::Config::default().page_size(3));
    let all = events.take(12).try_collect::<Vec<_>>().await.unwrap();
    assert_eq!(all.iter().filter(|event| matches!(event, Event::InitApply(_))).count(), 10);
    assert!(matches!(all.last(), Some(Event::InitDone)));
}

// covers: K3 C1
#[tokio::test]
async fn the_watcher_follows_by_streaming_list() {
    follows(watcher::Config::default().streaming_lists()).await;
}

// covers: C1 C8
#[tokio::test]
async fn the_metadata_watcher_follows() {
    for configuration in [watcher::Config::default(), watcher::Config::default().streaming_lists()] {
        let fixture = Fixture::start().await;
        let client = kube_client(&fixture).await;
        let (_, resource) = stations(client.clone());
        let api = Api::<PartialObjectMeta<DynamicObject>>::all_with(client, &resource);
        let events = watcher::watcher(api, configuration);
        pin_mut!(events);
        assert!(matches!(events.next().await.unwrap().unwrap(), Event::Init));
        assert!(matches!(events.next().await.unwrap().unwrap(), Event::InitDone));
        fixture.stations.publish(station("a", "north")).unwrap();
        match events.next().await.unwrap().unwrap() {
            Event::Apply(object) => assert_eq!(object.name_any(), "a"),
            other => panic!("{other:?}"),
        }
    }
}
