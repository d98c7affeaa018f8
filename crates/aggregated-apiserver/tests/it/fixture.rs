//! A server on loopback with two resources, and clients of it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use aggregated_apiserver::{
    ApiServer, CertificateAuthenticator, CertificateAuthority, Collection, CollectionOptions, Column, Drain,
    FrontProxy, FrontProxyHeaders, GroupAuthorizer, Latch, Readiness, ResourceDefinition, Scope, ServeError,
    ServerBuilder, TlsConfig, Trust, VersionClock, VersionInfo, Watching,
};
use arc_swap::ArcSwap;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::certificates::{Authority, Pair};
use crate::http::Client;

pub(crate) const STATIONS: &str = "/apis/weather.example.com/v1/stations";
pub(crate) const READINGS: &str = "/apis/weather.example.com/v1/readings";

pub(crate) struct Fixture {
    pub(crate) address: SocketAddr,
    pub(crate) stations: Arc<Collection>,
    pub(crate) readings: Arc<Collection>,
    pub(crate) serving: Arc<Authority>,
    pub(crate) clients: Arc<Authority>,
    pub(crate) proxies: Arc<Authority>,
    pub(crate) trust: Arc<ArcSwap<Trust>>,
    pub(crate) ready: Latch,
    pub(crate) stop: CancellationToken,
    pub(crate) task: JoinHandle<Result<(), ServeError>>,
}

pub(crate) fn stations() -> ResourceDefinition {
    ResourceDefinition {
        group: "weather.example.com".into(),
        version: "v1".into(),
        kind: "Station".into(),
        list_kind: "StationList".into(),
        plural: "stations".into(),
        singular: "station".into(),
        short_names: vec!["wst".into()],
        categories: vec!["weather".into()],
        scope: Scope::Cluster,
        columns: vec![
            Column::string("Region", ".spec.region"),
            Column::string("Ready", r#".status.conditions[?(@.type=="Ready")].status"#),
            Column::typed("Sensors", "integer", ".status.sensors").wide(),
            Column::age(),
        ],
        selectable_fields: vec![".spec.region".into()],
        schema: json!({
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"region": {"type": "string", "description": "Where it is.", "nullable": true}},
                },
                "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            },
        }),
        description: "A weather station.".into(),
    }
}

pub(crate) fn readings() -> ResourceDefinition {
    ResourceDefinition {
        kind: "Reading".into(),
        list_kind: "ReadingList".into(),
        plural: "readings".into(),
        singular: "reading".into(),
        short_names: vec![],
        categories: vec![],
        scope: Scope::Namespaced,
        columns: vec![],
        selectable_fields: vec![],
        schema: json!({"type": "object", "properties": {"status": {"type": "object"}}}),
        description: String::new(),
        ..stations()
    }
}

pub(crate) fn station(name: &str, region: &str) -> Value {
    json!({
        "metadata": {
            "name": name, "uid": format!("uid-{name}"), "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"region": region},
        },
        "spec": {"region": region},
        "status": {"sensors": 3, "conditions": [{"type": "Ready", "status": "True"}]},
    })
}

pub(crate) fn reading(namespace: &str, name: &str) -> Value {
    json!({"metadata": {"namespace": namespace, "name": name, "uid": format!("uid-{namespace}-{name}")}})
}

pub(crate) struct Settings {
    pub(crate) options: CollectionOptions,
    pub(crate) watching: Watching,
    pub(crate) drain: Drain,
    pub(crate) clock: VersionClock,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            options: CollectionOptions::default(),
            watching: Watching::default(),
            drain: Drain { announce: Duration::ZERO, finish: Duration::from_secs(2) },
            clock: VersionClock::new(1),
        }
    }
}

impl Fixture {
    pub(crate) async fn start() -> Self {
        Self::with(Settings::default(), |builder| builder).await
    }

    pub(crate) async fn with(settings: Settings, more: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let authorities = ["serving", "clients", "proxies"].map(|name| Arc::new(Authority::new(name)));
        Self::under(authorities, settings, more).await
    }

    /// A server with another serving certificate.
    pub(crate) async fn served_with(tls: TlsConfig) -> Self {
        let authorities = ["serving", "clients", "proxies"].map(|name| Arc::new(Authority::new(name)));
        Self::listening(authorities, Settings::default(), |builder| builder, Some(tls)).await
    }

    /// A further replica: other process, other collections, same authorities.
    pub(crate) async fn replica(&self, settings: Settings) -> Self {
        let authorities = [&self.serving, &self.clients, &self.proxies].map(Arc::clone);
        Self::under(authorities, settings, |builder| builder).await
    }

    async fn under(
        authorities: [Arc<Authority>; 3],
        settings: Settings,
        more: impl FnOnce(ServerBuilder) -> ServerBuilder,
    ) -> Self {
        Self::listening(authorities, settings, more, None).await
    }

    async fn listening(
        authorities: [Arc<Authority>; 3],
        settings: Settings,
        more: impl FnOnce(ServerBuilder) -> ServerBuilder,
        tls: Option<TlsConfig>,
    ) -> Self {
        let [serving, clients, proxies] = authorities;
        let clock = Arc::new(settings.clock);
        let stations = Collection::new(stations(), clock.clone(), settings.options.clone()).unwrap();
        let readings = Collection::new(readings(), clock, settings.options).unwrap();
        let trust = Arc::new(ArcSwap::from_pointee(Trust {
            clients: Some(CertificateAuthority::from_pem(&clients.pem).unwrap()),
            front_proxy: Some(FrontProxy {
                authority: CertificateAuthority::from_pem(&proxies.pem).unwrap(),
                allowed_names: vec!["front-proxy-client".into()],
                headers: FrontProxyHeaders::default(),
            }),
        }));
        let readiness = Readiness::new();
        let ready = readiness.latch("sources");
        let builder = ApiServer::builder()
            .collection(stations.clone())
            .collection(readings.clone())
            .authenticator(Arc::new(CertificateAuthenticator::new(trust.clone())))
            .authorizer(Arc::new(GroupAuthorizer::new("readers", "admins")))
            .readiness(readiness)
            .version_info(VersionInfo::of("1.2.3"))
            .watching(settings.watching)
            .drain(settings.drain);
        let server = more(builder).build().unwrap();
        let pair = serving.server();
        let tls = tls.unwrap_or_else(|| TlsConfig::from_pem(&pair.certificate, &pair.key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let task = tokio::spawn({
            let stop = stop.clone();
            async move { server.serve(listener, tls, stop).await }
        });
        Self { address, stations, readings, serving, clients, proxies, trust, ready, stop, task }
    }

    pub(crate) async fn as_client(&self, identity: Option<&Pair>) -> Client {
        Client::http2(self.address, &self.serving.pem, identity).await
    }

    /// A client that may read.
    pub(crate) async fn reader(&self) -> Client {
        self.as_client(Some(&self.clients.client("rita", &["readers"]))).await
    }

    /// The version of an empty list.
    pub(crate) fn version(&self) -> String {
        self.stations.list(None).version.to_string()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.task.abort();
    }
}
