//! How a server ends, and how its certificate is replaced.

use std::time::{Duration, Instant};

use aggregated_apiserver::{ApiServer, Drain, TlsConfig};
use http::Method;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::certificates::{Authority, Pair};
use crate::fixture::{Fixture, STATIONS, Settings, station};
use crate::http::{Client, tls};

// covers: C14 C31
#[tokio::test]
async fn readiness_fails_first_then_watches_end_then_connections_close() {
    let drain = Drain { announce: Duration::from_millis(2500), finish: Duration::from_secs(5) };
    let fixture = Fixture::with(Settings { drain, ..Settings::default() }, |builder| builder).await;
    fixture.ready.open();
    let client = fixture.reader().await;
    let mut watch = client
        .watch(&format!(
            "{STATIONS}?watch=true&allowWatchBookmarks=true&resourceVersion={}",
            fixture.version()
        ))
        .await;
    let start = Instant::now();
    fixture.stop.cancel();
    while client.get("/readyz").await.code == 200 {
        assert!(start.elapsed() < Duration::from_millis(2000));
        tokio::task::yield_now().await;
    }
    let late = fixture.reader().await;
    assert_eq!(
        late.get(STATIONS).await.code,
        200,
        "still serving while it is announced, new connections too"
    );
    fixture.stations.publish(station("a", "north")).unwrap();
    assert_eq!(watch.brief().await, ("ADDED".into(), "a".into()));
    assert_eq!(watch.next().await.unwrap()["type"], "BOOKMARK");
    assert_eq!(watch.next().await, None, "a clean end");
    assert!(start.elapsed() >= Duration::from_millis(2500));
    let mut fixture = fixture;
    tokio::time::timeout(Duration::from_secs(10), &mut fixture.task).await.unwrap().unwrap().unwrap();
    assert!(client.send(Method::GET, STATIONS, &[]).await.is_err());
}

struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn write(&self, pair: &Pair) {
        std::fs::write(self.folder.path().join("tls.key"), &pair.key).unwrap();
        std::fs::write(self.folder.path().join("tls.crt"), &pair.certificate).unwrap();
    }
}

// covers: C16
#[tokio::test]
async fn a_new_certificate_is_served_without_a_restart() {
    let files = Files { folder: tempfile::tempdir().unwrap() };
    let authority = Authority::new("serving");
    files.write(&authority.server());
    let path = |name: &str| files.folder.path().join(name);
    let config = TlsConfig::from_files(path("tls.crt"), path("tls.key")).unwrap();
    let config = config.reloaded_every(Duration::from_millis(20));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = ApiServer::builder()
        .drain(Drain { announce: Duration::ZERO, finish: Duration::from_secs(1) })
        .build()
        .unwrap();
    let stop = CancellationToken::new();
    let task = tokio::spawn({
        let stop = stop.clone();
        async move { server.serve(listener, config, stop).await }
    });
    let shown = async || {
        let stream = tls(address, &authority.pem, None, b"h2").await.unwrap();
        stream.get_ref().1.peer_certificates().unwrap()[0].to_vec()
    };
    let old_connection = Client::http2(address, &authority.pem, None).await;
    let first = shown().await;
    assert_eq!(first, shown().await);

    std::fs::write(path("tls.crt"), authority.server().certificate).unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(first, shown().await, "a certificate that does not fit its key is not adopted");

    files.write(&authority.server());
    let start = Instant::now();
    while first == shown().await {
        assert!(start.elapsed() < Duration::from_secs(5));
    }
    assert_eq!(old_connection.get("/livez").await.code, 200, "connections survive");
    stop.cancel();
    task.await.unwrap().unwrap();
}

/// As the kubelet does with a Secret: new files in a new folder, and then a link that is replaced at once.
// covers: C16
#[tokio::test]
async fn a_certificate_in_a_volume_is_swapped_and_watches_go_on() {
    use std::os::unix::fs::symlink;
    let volume = tempfile::tempdir().unwrap();
    let (old, new) = (Authority::new("old"), Authority::new("new"));
    let publish = |version: &str, pair: &Pair| {
        let folder = volume.path().join(version);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("tls.crt"), &pair.certificate).unwrap();
        std::fs::write(folder.join("tls.key"), &pair.key).unwrap();
        symlink(version, volume.path().join("..data_tmp")).unwrap();
        std::fs::rename(volume.path().join("..data_tmp"), volume.path().join("..data")).unwrap();
    };
    publish("..1", &old.server());
    for name in ["tls.crt", "tls.key"] {
        symlink(format!("..data/{name}"), volume.path().join(name)).unwrap();
    }
    let config = TlsConfig::from_files(volume.path().join("tls.crt"), volume.path().join("tls.key")).unwrap();
    let config = config.reloaded_every(Duration::from_millis(20));
    let fixture = Fixture::served_with(config).await;
    // During the change, clients believe both: that is what caBundle is for.
    let both = format!("{}{}", old.pem, new.pem);
    let identity = fixture.clients.client("rita", &["readers"]);
    let client = Client::http2(fixture.address, &both, Some(&identity)).await;
    let mut watch =
        client.watch(&format!("{STATIONS}?watch=true&resourceVersion={}", fixture.version())).await;
    publish("..2", &new.server());
    let start = Instant::now();
    loop {
        let next = Client::http2(fixture.address, &both, Some(&identity)).await;
        assert_eq!(next.get(STATIONS).await.code, 200, "no request fails meanwhile");
        if tls(fixture.address, &new.pem, None, b"h2").await.is_ok() {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(5));
    }
    assert!(tls(fixture.address, &old.pem, None, b"h2").await.is_err(), "the old one is not shown any more");
    fixture.stations.publish(station("a", "north")).unwrap();
    assert_eq!(watch.brief().await, ("ADDED".into(), "a".into()));
}

#[tokio::test]
async fn files_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing =
        TlsConfig::from_files(folder.path().join("tls.crt"), folder.path().join("tls.key")).unwrap_err();
    assert!(missing.to_string().contains("tls.crt"), "{missing}");
    let (one, other) = (Authority::new("a").server(), Authority::new("b").server());
    assert!(TlsConfig::from_pem(&one.certificate, &other.key).is_err());
}
