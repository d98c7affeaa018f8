//! Who is believed, and who may do what without a cluster.

use std::sync::{Arc, Mutex};

use aggregated_apiserver::{
    Attributes, AuthorizationError, Authorizer, CertificateAuthority, Decision, Trust, User,
};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::Method;

use crate::certificates::{Authority, Pair};
use crate::fixture::{Fixture, STATIONS, Settings};

/// Allows everything and remembers who asked.
#[derive(Default)]
struct Recorder(Mutex<Vec<User>>);

impl Authorizer for Recorder {
    fn authorize<'a>(
        &'a self,
        user: &'a User,
        _: &'a Attributes,
    ) -> BoxFuture<'a, Result<Decision, AuthorizationError>> {
        self.0.lock().unwrap().push(user.clone());
        std::future::ready(Ok(Decision::Allowed)).boxed()
    }
}

/// The answer to a list, and who the server takes the client for.
async fn seen(
    fixture: &Fixture,
    recorder: &Recorder,
    pair: Option<&Pair>,
    headers: &[(&str, &str)],
) -> (u16, Option<User>) {
    let client = fixture.as_client(pair).await;
    let answer = client.call(Method::GET, STATIONS, headers).await;
    (answer.code, recorder.0.lock().unwrap().pop())
}

async fn recording() -> (Fixture, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let authorizer = recorder.clone();
    let fixture = Fixture::with(Settings::default(), |builder| builder.authorizer(authorizer)).await;
    (fixture, recorder)
}

const HEADERS: [(&str, &str); 6] = [
    ("X-Remote-User", "jane"),
    ("X-Remote-Uid", "u-1"),
    ("X-Remote-Group", "one"),
    ("X-Remote-Group", "two"),
    ("X-Remote-Extra-Example.org%2Fscopes", "a"),
    ("X-Remote-Extra-Example.org%2Fscopes", "b"),
];

// covers: C18 A4
#[tokio::test]
async fn the_front_proxy_speaks_for_users() {
    let (fixture, recorder) = recording().await;
    let proxy = fixture.proxies.client("front-proxy-client", &[]);
    let (code, user) = seen(&fixture, &recorder, Some(&proxy), &HEADERS).await;
    let user = user.unwrap();
    assert_eq!((code, user.name.as_str(), user.uid.as_str()), (200, "jane", "u-1"));
    assert_eq!(user.groups, ["one", "two", "system:authenticated"]);
    assert_eq!(user.extra["example.org/scopes"], ["a", "b"]);
    let (code, user) = seen(&fixture, &recorder, Some(&proxy), &[]).await;
    assert_eq!((code, user), (401, None), "the proxy is nobody itself");
}

// covers: C18
#[tokio::test]
async fn headers_of_anybody_else_are_ignored() {
    let (fixture, recorder) = recording().await;
    let masters = [("X-Remote-User", "admin"), ("X-Remote-Group", "system:masters")];
    let client = fixture.clients.client("rita", &["readers"]);
    let (code, user) = seen(&fixture, &recorder, Some(&client), &masters).await;
    let user = user.unwrap();
    assert_eq!((code, user.name.as_str()), (200, "rita"));
    assert_eq!(user.groups, ["readers", "system:authenticated"]);
    let stranger = Authority::new("proxies");
    for pair in [
        None,
        Some(fixture.proxies.client("somebody-else", &[])),
        Some(stranger.client("front-proxy-client", &[])),
    ] {
        let (code, user) = seen(&fixture, &recorder, pair.as_ref(), &masters).await;
        assert_eq!((code, user), (401, None));
    }
}

// covers: C18
#[tokio::test]
async fn without_identity_only_signs_of_life_are_shown() {
    let (fixture, _) = recording().await;
    fixture.ready.open();
    let client = fixture.as_client(None).await;
    for path in ["/livez", "/readyz", "/healthz", "/version"] {
        assert_eq!(client.get(path).await.code, 200, "{path}");
    }
    for path in ["/", "/apis", "/apis/weather.example.com/v1", STATIONS, "/metrics", "/openapi/v3"] {
        let answer = client.get(path).await;
        assert_eq!((answer.code, answer.json()["reason"].as_str()), (401, Some("Unauthorized")), "{path}");
    }
    let token = [("authorization", "Bearer x")];
    assert_eq!(client.call(Method::GET, "/livez", &token).await.code, 401, "a token that nobody knows");
}

#[tokio::test]
async fn groups_decide_when_there_is_no_cluster() {
    let fixture = Fixture::start().await;
    let code = async |group: &str, method: Method, path: &str| {
        let client = fixture.as_client(Some(&fixture.clients.client("u", &[group]))).await;
        client.call(method, path, &[]).await
    };
    assert_eq!(code("readers", Method::GET, STATIONS).await.code, 200);
    assert_eq!(code("readers", Method::GET, "/metrics").await.code, 200);
    let answer = code("readers", Method::DELETE, STATIONS).await;
    assert_eq!((answer.code, answer.json()["reason"].as_str()), (403, Some("Forbidden")));
    let message = answer.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains(r#"User "u" cannot deletecollection resource "stations""#), "{message}");
    assert_eq!(code("others", Method::GET, STATIONS).await.code, 403);
    assert_eq!(
        code("others", Method::GET, "/apis").await.code,
        200,
        "discovery is for everybody who is known"
    );
    assert_eq!(code("others", Method::GET, "/metrics").await.code, 403);
    assert_eq!(code("admins", Method::DELETE, STATIONS).await.code, 405);
    assert_eq!(
        code("system:masters", Method::GET, STATIONS).await.code,
        403,
        "a cluster's masters are nobody here"
    );
}

// covers: C16
#[tokio::test]
async fn authorities_are_replaced_on_open_connections() {
    let (fixture, _) = recording().await;
    let next = Authority::new("next");
    let (old_client, new_client) = (
        fixture.as_client(Some(&fixture.clients.client("old", &[]))).await,
        fixture.as_client(Some(&next.client("new", &[]))).await,
    );
    assert_eq!((old_client.get(STATIONS).await.code, new_client.get(STATIONS).await.code), (200, 401));
    let both = format!("{}{}", fixture.clients.pem, next.pem);
    let trust = |pem: &str| {
        Arc::new(Trust { clients: Some(CertificateAuthority::from_pem(pem).unwrap()), front_proxy: None })
    };
    fixture.trust.store(trust(&both));
    assert_eq!((old_client.get(STATIONS).await.code, new_client.get(STATIONS).await.code), (200, 200));
    fixture.trust.store(trust(&next.pem));
    assert_eq!((old_client.get(STATIONS).await.code, new_client.get(STATIONS).await.code), (401, 200));
}
