//! Against a stand-in for kube-apiserver: where identity is configured, and who decides.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aggregated_apiserver::{
    AuthenticationConfigMap, CertificateAuthenticator, SubjectAccessReviewAuthorizer,
    TokenReviewAuthenticator,
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::certificates::Authority;
use crate::fixture::{Fixture, STATIONS, Settings};

/// Serves one ConfigMap and SubjectAccessReviews.
#[derive(Default)]
struct Stub {
    data: Mutex<Value>,
    changed: Notify,
    reviews: Mutex<Vec<Value>>,
    mood: Mutex<Mood>,
    address: Mutex<Option<SocketAddr>>,
    stop: Mutex<CancellationToken>,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Mood {
    #[default]
    Well,
    Failing,
    Silent,
}

impl Stub {
    async fn start(data: Value) -> (Arc<Self>, kube::Client) {
        let stub = Arc::new(Self { data: Mutex::new(data), ..Self::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        stub.clone().listen(listener);
        (stub, client(address))
    }

    /// Serves until it is stopped.
    fn listen(self: Arc<Self>, listener: TcpListener) {
        let stop = CancellationToken::new();
        *self.stop.lock().unwrap() = stop.clone();
        let address = listener.local_addr().unwrap();
        *self.address.lock().unwrap() = Some(address);
        tokio::spawn(async move { stop.run_until_cancelled(self.run(listener, stop.clone())).await });
    }

    /// Gone, with all its connections, and back at the same address after a while.
    async fn restart(self: &Arc<Self>, away: Duration) {
        self.stop.lock().unwrap().cancel();
        tokio::time::sleep(away).await;
        let address = self.address.lock().unwrap().unwrap();
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(address).unwrap();
        self.clone().listen(socket.listen(16).unwrap());
    }

    async fn run(self: Arc<Self>, listener: TcpListener, stop: CancellationToken) {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let (stub, stop) = (self.clone(), stop.clone());
            tokio::spawn(async move {
                let service = service_fn(|request| stub.clone().answer(request));
                let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                // The client may go away at any time.
                let _ =
                    stop.run_until_cancelled(builder.serve_connection(TokioIo::new(stream), service)).await;
            });
        }
    }

    fn map(&self, version: &str) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": *self.data.lock().unwrap(),
            "metadata": {"name": "extension-apiserver-authentication", "namespace": "kube-system", "resourceVersion": version},
        })
    }

    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        let mood = *self.mood.lock().unwrap();
        let path = request.uri().path().to_owned();
        let query = request.uri().query().unwrap_or_default().to_owned();
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let value = if path.ends_with("/subjectaccessreviews") {
            match mood {
                Mood::Well => self.review(serde_json::from_slice(&body).unwrap()),
                Mood::Failing => {
                    let mut response = Response::new(Full::from("down"));
                    *response.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
                    return Ok(response);
                }
                Mood::Silent => std::future::pending().await,
            }
        } else if path.ends_with("/tokenreviews") {
            if mood != Mood::Well {
                std::future::pending::<()>().await;
            }
            self.token(serde_json::from_slice(&body).unwrap())
        } else if path.ends_with("/configmaps/extension-apiserver-authentication") {
            self.map("5")
        } else if query.contains("watch=true") {
            self.changed.notified().await;
            json!({"type": "MODIFIED", "object": self.map("6")})
        } else {
            assert!(
                query.contains("fieldSelector=metadata.name%3Dextension-apiserver-authentication"),
                "{query}"
            );
            json!({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {"resourceVersion": "5"}, "items": [self.map("5")]})
        };
        let mut response = Response::new(Full::from(format!("{value}\n")));
        response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
        Ok(response)
    }

    /// Believes the token `good`.
    fn token(&self, mut review: Value) -> Value {
        self.reviews.lock().unwrap().push(review["spec"].clone());
        review["status"] = if review["spec"]["token"] == "good" {
            json!({"authenticated": true, "user": {"username": "rita", "groups": ["readers"], "extra": {"k": ["v"]}}})
        } else {
            json!({"authenticated": false, "error": "unknown"})
        };
        review
    }

    /// Allows what `rita` wants.
    fn review(&self, mut review: Value) -> Value {
        self.reviews.lock().unwrap().push(review["spec"].clone());
        let allowed = review["spec"]["user"] == "rita";
        review["status"] = json!({"allowed": allowed, "reason": if allowed { "" } else { "no rule" }});
        review
    }
}

fn client(address: SocketAddr) -> kube::Client {
    let config = kube::Config::new(format!("http://{address}").parse().unwrap());
    kube::Client::try_from(config).unwrap()
}

async fn reviewed(timeout: Duration) -> (Fixture, Arc<Stub>) {
    let (stub, client) = Stub::start(json!({})).await;
    let second = Duration::from_secs(10);
    let authorizer = SubjectAccessReviewAuthorizer::with_times(client, second, second, timeout);
    let fixture =
        Fixture::with(Settings::default(), |builder| builder.authorizer(Arc::new(authorizer))).await;
    (fixture, stub)
}

// covers: C19
#[tokio::test]
async fn the_cluster_decides_once_for_a_while() {
    let (fixture, stub) = reviewed(Duration::from_secs(10)).await;
    let allowed = fixture.reader().await;
    for _ in 0..3 {
        assert_eq!(allowed.get(STATIONS).await.code, 200);
    }
    let expected = json!({
        "user": "rita", "groups": ["readers", "system:authenticated"],
        "resourceAttributes": {"group": "weather.example.com", "version": "v1", "resource": "stations", "verb": "list"},
    });
    assert_eq!(*stub.reviews.lock().unwrap(), [expected]);
    let denied = fixture.as_client(Some(&fixture.clients.client("otto", &[]))).await;
    for _ in 0..3 {
        let answer = denied.get(&format!("{STATIONS}/a")).await;
        assert_eq!(answer.code, 403);
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.ends_with("at the cluster scope: no rule"), "{message}");
    }
    assert_eq!(stub.reviews.lock().unwrap().len(), 2);
    assert_eq!(stub.reviews.lock().unwrap()[1]["resourceAttributes"]["name"], "a");
    assert_eq!(denied.get("/metrics").await.code, 403);
    assert_eq!(
        stub.reviews.lock().unwrap()[2]["nonResourceAttributes"],
        json!({"path": "/metrics", "verb": "get"})
    );
    let master = fixture.as_client(Some(&fixture.clients.client("root", &["system:masters"]))).await;
    assert_eq!(master.get(STATIONS).await.code, 200);
    assert_eq!(stub.reviews.lock().unwrap().len(), 3, "masters are not asked about");
}

// covers: C19 C12
#[tokio::test]
async fn without_an_answer_resources_are_unavailable_and_discovery_is_not() {
    let (fixture, stub) = reviewed(Duration::from_millis(1500)).await;
    let client = fixture.reader().await;
    for mood in [Mood::Failing, Mood::Silent] {
        *stub.mood.lock().unwrap() = mood;
        let start = Instant::now();
        let answer = client.get(STATIONS).await;
        assert_eq!((answer.code, answer.json()["reason"].as_str()), (503, Some("ServiceUnavailable")));
        assert!(start.elapsed() < Duration::from_secs(8));
        for path in ["/apis", "/apis/weather.example.com/v1", "/openapi/v3", "/livez"] {
            assert_eq!(client.get(path).await.code, 200, "{path}");
        }
    }
    *stub.mood.lock().unwrap() = Mood::Well;
    assert_eq!(client.get(STATIONS).await.code, 200, "faults are not remembered");
}

#[tokio::test]
async fn tokens_are_believed_when_the_cluster_believes_them() {
    let (stub, client) = Stub::start(json!({})).await;
    let tokens = TokenReviewAuthenticator::with_timeout(client, Duration::from_millis(1500));
    let fixture = Fixture::with(Settings::default(), |builder| builder.authenticator(Arc::new(tokens))).await;
    let client = fixture.as_client(None).await;
    let code = async |token: &str| {
        let value = format!("Bearer {token}");
        client.call(http::Method::GET, STATIONS, &[("authorization", &value)]).await.code
    };
    assert_eq!((code("good").await, code("bad").await), (200, 401));
    assert_eq!((code("good").await, code("bad").await), (200, 401));
    assert_eq!(stub.reviews.lock().unwrap().len(), 2, "answers are remembered");
    *stub.mood.lock().unwrap() = Mood::Silent;
    assert_eq!((code("good").await, code("other").await), (200, 503), "who gets no answer may try again");
}

// covers: C18 C16
#[tokio::test]
async fn the_config_map_says_who_is_believed_and_is_followed() {
    let (old, new) = (Authority::new("old"), Authority::new("new"));
    let keys = |authority: &Authority| {
        json!({
            "requestheader-client-ca-file": authority.pem,
            "requestheader-allowed-names": "[\"front-proxy-client\"]",
            "requestheader-username-headers": "[\"X-Remote-User\"]",
            "requestheader-group-headers": "[\"X-Remote-Group\"]",
            "requestheader-extra-headers-prefix": "[\"X-Remote-Extra-\"]",
        })
    };
    let (stub, client) = Stub::start(keys(&old)).await;
    let map = Arc::new(AuthenticationConfigMap::new(client));
    let authenticator = Arc::new(CertificateAuthenticator::new(map.trust().clone()));
    map.read().await.unwrap();
    let fixture = Fixture::with(Settings::default(), |builder| builder.authenticator(authenticator)).await;
    let headers = [("X-Remote-User", "jane"), ("X-Remote-Group", "readers")];
    let code = async |authority: &Authority| {
        let client = fixture.as_client(Some(&authority.client("front-proxy-client", &[]))).await;
        client.call(http::Method::GET, STATIONS, &headers).await.code
    };
    assert_eq!((code(&old).await, code(&new).await), (200, 401));
    let stop = CancellationToken::new();
    let following = tokio::spawn({
        let (map, stop) = (map.clone(), stop.clone());
        async move { map.follow(stop).await }
    });
    *stub.data.lock().unwrap() = keys(&new);
    stub.changed.notify_one();
    let start = Instant::now();
    while code(&new).await != 200 {
        assert!(start.elapsed() < Duration::from_secs(10));
    }
    assert_eq!(code(&old).await, 401);
    stop.cancel();
    following.await.unwrap();
}

// covers: C19
#[tokio::test]
async fn a_cluster_that_restarts_costs_time_and_no_request() {
    let (fixture, stub) = reviewed(Duration::from_secs(10)).await;
    let client = fixture.reader().await;
    assert_eq!(client.get(STATIONS).await.code, 200);
    let mut watch =
        client.watch(&format!("{STATIONS}?watch=true&resourceVersion={}", fixture.version())).await;
    let away = tokio::spawn({
        let stub = stub.clone();
        async move { stub.restart(Duration::from_millis(1500)).await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let start = Instant::now();
    assert_eq!(client.get(STATIONS).await.code, 200, "what was decided a moment ago still holds");
    assert!(start.elapsed() < Duration::from_secs(1));
    let unknown = client.get(crate::fixture::READINGS).await;
    assert_eq!(unknown.code, 200, "a new question waits for the cluster to be back");
    assert!(start.elapsed() > Duration::from_secs(1));
    away.await.unwrap();
    fixture.stations.publish(crate::fixture::station("a", "north")).unwrap();
    assert_eq!(watch.brief().await, ("ADDED".into(), "a".into()), "open watches do not notice");
}

// covers: C19
#[tokio::test]
async fn a_hundred_who_ask_at_once_cost_one_review() {
    let (fixture, stub) = reviewed(Duration::from_secs(10)).await;
    let client = Arc::new(fixture.reader().await);
    let asking = (0..100).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { client.get(STATIONS).await.code })
    });
    for code in futures::future::join_all(asking).await {
        assert_eq!(code.unwrap(), 200);
    }
    assert_eq!(stub.reviews.lock().unwrap().len(), 1);
}
