//! Bounds on what clients may send and how much they may have under way; and what is logged of it.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aggregated_apiserver::{AuditLog, Limits};
use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::fixture::{Fixture, STATIONS, Settings, station};
use crate::http::tls;

// covers: R6
#[tokio::test]
async fn one_user_cannot_open_watches_without_end() {
    let limits = Limits { watches_per_user: 2, watches: 3, ..Limits::default() };
    let fixture = Fixture::with(Settings::default(), |builder| builder.limits(limits)).await;
    let path = format!("{STATIONS}?watch=true");
    let client = fixture.reader().await;
    let first = client.watch(&path).await;
    let _second = client.watch(&path).await;
    let refused = client.get(&path).await;
    assert_eq!((refused.code, refused.json()["reason"].as_str()), (429, Some("TooManyRequests")));
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(client.get(STATIONS).await.code, 200, "lists are counted apart");
    let other = fixture.as_client(Some(&fixture.clients.client("otto", &["readers"]))).await;
    let _third = other.watch(&path).await;
    assert_eq!(other.get(&path).await.code, 429, "all places are taken");
    drop(first);
    let start = Instant::now();
    while other.send(Method::GET, &path, &[]).await.unwrap().status() == 429 {
        assert!(start.elapsed() < Duration::from_secs(5), "a watch that ended frees its place");
    }
}

#[tokio::test]
async fn ten_thousand_malformed_requests_get_the_answer_that_is_stated() {
    let fixture = Fixture::start().await;
    fixture.stations.publish(station("a", "north")).unwrap();
    let client = fixture.as_client(Some(&fixture.clients.client("ada", &["admins"]))).await;
    let faults = [
        (400, "?labelSelector=a+in+("),
        (400, "?labelSelector=%ff"),
        (400, "?fieldSelector=x"),
        (400, "?fieldSelector=spec.unknown%3Dx"),
        (400, "?resourceVersion=-1"),
        (400, "?resourceVersion=99999999999999999999999"),
        (504, "?resourceVersion=18446744073709551615"),
        (400, "?watch=1&timeoutSeconds=soon"),
        (400, "?limit=many"),
        (400, "?continue=zz"),
        (422, "?sendInitialEvents=true"),
        (422, "?watch=1&sendInitialEvents=maybe"),
        (422, "?resourceVersionMatch=Perhaps&resourceVersion=1"),
        (400, "/%zz"),
        (404, "/%2e%2e"),
        (404, "/a%2Fb"),
        (404, "/a/status"),
        (404, "/a/b/c/d"),
        (404, "//x"),
        (404, "/\u{2e}\u{2e}/x/y"),
    ];
    for round in 0..500 {
        for (code, fault) in &faults {
            let answer = client.get(&format!("{STATIONS}{fault}")).await;
            assert_eq!(answer.code, *code, "{fault} in round {round}");
            assert_eq!(answer.json()["kind"], "Status");
        }
    }
    assert_eq!(client.get(&format!("{STATIONS}/a")).await.code, 200);
}

#[tokio::test]
async fn bytes_that_are_no_request_harm_nobody() {
    let fixture = Fixture::start().await;
    let mut bytes = 0x2545_f491_u32;
    for round in 0..60 {
        let protocol: &[u8] = if round % 2 == 0 { b"http/1.1" } else { b"h2" };
        let mut stream = tls(fixture.address, &fixture.serving.pem, None, protocol).await.unwrap();
        let garbage: Vec<u8> = (0..200 * (round + 1))
            .map(|_| {
                bytes = bytes.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                bytes.to_be_bytes()[0]
            })
            .collect();
        // The server may close while it is still being written to.
        let _ = stream
            .write_all(if round % 3 == 0 {
                b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
            } else {
                b"GET / HTTP/1.1\r\n"
            })
            .await;
        let _ = stream.write_all(&garbage).await;
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(Duration::from_millis(20), stream.read_to_end(&mut answer)).await;
        assert!(!answer.starts_with(b"HTTP/1.1 200"));
    }
    assert_eq!(fixture.reader().await.get(STATIONS).await.code, 200);
}

#[tokio::test]
async fn headers_have_a_limit() {
    let fixture = Fixture::start().await;
    let client = fixture.reader().await;
    let large = "x".repeat(100 << 10);
    let answer = client.send(Method::GET, STATIONS, &[("x-large", &large)]).await;
    assert!(answer.is_err() || answer.unwrap().status() == 431);
}

/// Keeps what is written.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Shared {
    async fn lines(&self, count: usize) -> Vec<Value> {
        let start = Instant::now();
        loop {
            let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
            let lines: Vec<_> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            if lines.len() >= count {
                return lines;
            }
            assert!(start.elapsed() < Duration::from_secs(5), "{lines:?}");
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn every_request_is_logged_with_who_and_what() {
    let written = Shared::default();
    let log = AuditLog::new(written.clone()).unwrap();
    let fixture = Fixture::with(Settings::default(), |builder| builder.audit(log)).await;
    let client = fixture.reader().await;
    client.get("/livez").await;
    let path = format!("{STATIONS}/a?pretty=true");
    let headers =
        [("audit-id", "id-1"), ("user-agent", "test/1"), ("x-forwarded-for", "192.0.2.7, nonsense")];
    let answer = client.call(Method::GET, &path, &headers).await;
    assert_eq!((answer.code, answer.header("audit-id")), (404, "id-1"));
    client.call(Method::DELETE, STATIONS, &[]).await;
    fixture.as_client(None).await.get(STATIONS).await;
    let lines = written.lines(3).await;
    assert_eq!(lines.len(), 3, "health is not logged");
    let get = &lines[0];
    assert_eq!((&get["kind"], &get["apiVersion"]), (&json!("Event"), &json!("audit.k8s.io/v1")));
    assert_eq!(
        (&get["auditID"], &get["verb"], &get["requestURI"]),
        (&json!("id-1"), &json!("get"), &json!(path))
    );
    assert_eq!((&get["user"]["username"], &get["userAgent"]), (&json!("rita"), &json!("test/1")));
    assert_eq!(get["sourceIPs"], json!(["192.0.2.7", "127.0.0.1"]));
    assert_eq!(get["objectRef"]["resource"], "stations");
    assert_eq!((&get["objectRef"]["name"], &get["responseStatus"]["code"]), (&json!("a"), &json!(404)));
    assert_eq!(get["annotations"]["authorization.k8s.io/decision"], "allow");
    assert_eq!(lines[1]["verb"], "deletecollection");
    assert_eq!(lines[1]["annotations"]["authorization.k8s.io/decision"], "forbid");
    assert_eq!(lines[2]["responseStatus"]["code"], 401);
    assert!(lines[1]["auditID"].as_str().unwrap().len() > 30);
}
