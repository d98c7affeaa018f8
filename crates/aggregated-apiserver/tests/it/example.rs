//! The example is a server that works: a stranger's client finds its resources, reads and watches them.

use std::process::{Command, Stdio};

use futures::{TryStreamExt as _, pin_mut};
use kube::ResourceExt as _;
use kube::api::{Api, DynamicObject};
use kube::discovery::Discovery;
use kube::runtime::watcher::{self, Event};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::certificates::Authority;
use crate::kube_clients::client_of;

#[expect(dead_code, reason = "its main reads the command line")]
#[path = "../../examples/live_resource.rs"]
mod live_resource;

#[tokio::test]
async fn the_example_serves_live_resources() {
    let folder = tempfile::tempdir().unwrap();
    let (serving, clients) = (Authority::new("serving"), Authority::new("clients"));
    let pair = serving.server();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let options = live_resource::Options {
        certificate: write("tls.crt", &pair.certificate),
        key: write("tls.key", &pair.key),
        client_authority: Some(write("ca.crt", &clients.pem)),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let _stopped = stop.clone().drop_guard();
    let serving_it = tokio::spawn(live_resource::serve(listener, options, stop));

    let client = client_of(address, &serving, &clients.client("rita", &["readers"])).await;
    let discovery = Discovery::new(client.clone()).filter(&["machine.example.com"]).run().await.unwrap();
    let (resource, _) = discovery.groups().next().unwrap().recommended_kind("Process").unwrap();
    let processes: Api<DynamicObject> = Api::all_with(client, &resource);
    let own = format!("pid-{}", std::process::id());
    let found = loop {
        // Nothing is shown before everything is known.
        match processes.get(&own).await {
            Ok(found) => break found,
            Err(kube::Error::Api(status)) if status.code == 503 => tokio::task::yield_now().await,
            Err(other) => panic!("{other}"),
        }
    };
    assert!(found.data["status"]["threads"].as_i64().unwrap() > 0);

    let events = watcher::watcher(processes, watcher::Config::default());
    pin_mut!(events);
    while !matches!(events.try_next().await.unwrap().unwrap(), Event::InitDone) {}
    let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    let name = format!("pid-{}", child.id());
    loop {
        match events.try_next().await.unwrap().unwrap() {
            Event::Apply(object) if object.name_any() == name => break,
            _ => {}
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    loop {
        match events.try_next().await.unwrap().unwrap() {
            Event::Delete(object) if object.name_any() == name => break,
            _ => {}
        }
    }
    assert!(!serving_it.is_finished());
}
