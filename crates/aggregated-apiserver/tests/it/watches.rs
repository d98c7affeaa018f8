//! WATCH, as informers use it.

use std::time::Duration;

use aggregated_apiserver::{CollectionOptions, ObjectKey, ResourceVersion, Watching};
use serde_json::{Value, json};

use crate::fixture::{Fixture, STATIONS, Settings, station};

const STREAMING: &str =
    "watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
const END: &str = "k8s.io/initial-events-end";

fn version(event: &Value) -> u64 {
    event["object"]["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

async fn filled() -> Fixture {
    let fixture = Fixture::start().await;
    for (name, region) in [("a", "north"), ("b", "south")] {
        fixture.stations.publish(station(name, region)).unwrap();
    }
    fixture
}

// covers: C1 C2 R2
#[tokio::test]
async fn a_streaming_list_ends_with_the_annotated_bookmark() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    let known = fixture.version();
    let older = ["&resourceVersion=1".to_owned(), format!("&resourceVersion={known}")];
    for query in ["", "&resourceVersion=0", &older[0], &older[1], "&timeoutSeconds=400"] {
        let mut watch = client.watch(&format!("{STATIONS}?{STREAMING}{query}")).await;
        assert_eq!(watch.brief().await, ("ADDED".into(), "a".into()));
        assert_eq!(watch.brief().await, ("ADDED".into(), "b".into()));
        let bookmark = watch.next().await.unwrap();
        assert_eq!(bookmark["type"], "BOOKMARK");
        assert_eq!(bookmark["object"]["kind"], "Station");
        assert_eq!(bookmark["object"]["apiVersion"], "weather.example.com/v1");
        assert_eq!(bookmark["object"]["metadata"]["annotations"][END], "true");
        assert!(version(&bookmark) >= known.parse().unwrap());
        watch.is_silent().await;
    }
}

// covers: C1 C2 C25 C8
#[tokio::test]
async fn the_bookmark_comes_without_objects_and_in_every_representation() {
    let fixture = Fixture::start().await;
    let client = fixture.reader().await;
    for path in [STATIONS, crate::fixture::READINGS] {
        let mut watch = client.watch(&format!("{path}?{STREAMING}")).await;
        let bookmark = watch.next().await.unwrap();
        assert_eq!(bookmark["object"]["metadata"]["annotations"][END], "true");
    }
    let metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let mut watch = client.watch_as(&format!("{STATIONS}?{STREAMING}"), metadata).await;
    let bookmark = watch.next().await.unwrap();
    assert_eq!(bookmark["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(bookmark["object"]["apiVersion"], "meta.k8s.io/v1");
    assert_eq!(bookmark["object"]["metadata"]["annotations"][END], "true");
    fixture.stations.publish(station("a", "north")).unwrap();
    let added = watch.next().await.unwrap();
    assert_eq!(
        (&added["object"]["kind"], &added["object"]["metadata"]["name"]),
        (&json!("PartialObjectMetadata"), &json!("a"))
    );

    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let mut watch = client.watch_as(&format!("{STATIONS}?{STREAMING}"), table).await;
    let first = watch.next().await.unwrap();
    assert_eq!((&first["type"], &first["object"]["kind"]), (&json!("ADDED"), &json!("Table")));
    assert_eq!(first["object"]["columnDefinitions"][1]["name"], "Region");
    assert_eq!(first["object"]["rows"][0]["cells"][0], "a");
    let bookmark = watch.next().await.unwrap();
    assert_eq!((&bookmark["type"], &bookmark["object"]["kind"]), (&json!("BOOKMARK"), &json!("Table")));
    assert_eq!(bookmark["object"]["columnDefinitions"], Value::Null);
    assert_eq!(bookmark["object"]["rows"][0]["object"]["metadata"]["annotations"][END], "true");
    assert!(version(&bookmark) > 0);
}

// covers: C3 L3
#[tokio::test]
async fn a_watch_from_nowhere_begins_with_what_is_there() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    for query in ["watch=true", "watch=1&resourceVersion=0"] {
        let mut watch = client.watch(&format!("{STATIONS}?{query}")).await;
        assert_eq!(watch.brief().await, ("ADDED".into(), "a".into()));
        assert_eq!(watch.brief().await, ("ADDED".into(), "b".into()));
        watch.is_silent().await;
    }
    let later = "watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    let mut watch = client.watch(&format!("{STATIONS}?{later}")).await;
    watch.is_silent().await;
    fixture.stations.publish(station("c", "north")).unwrap();
    assert_eq!(watch.brief().await, ("ADDED".into(), "c".into()));
}

// covers: C3 C4 R7
#[tokio::test]
async fn a_watch_from_a_version_tells_what_came_after_it() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    let list = client.get(STATIONS).await.json();
    let from = list["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    fixture.stations.publish(station("a", "west")).unwrap();
    let mut watch = client.watch(&format!("{STATIONS}?watch=true&resourceVersion={from}")).await;
    let modified = watch.next().await.unwrap();
    assert_eq!(modified["type"], "MODIFIED");
    assert_eq!(modified["object"]["spec"]["region"], "west");
    fixture.stations.publish(station("c", "north")).unwrap();
    let added = watch.next().await.unwrap();
    fixture.stations.withdraw(&ObjectKey::cluster("a"));
    let deleted = watch.next().await.unwrap();
    assert_eq!(deleted["type"], "DELETED");
    assert_eq!(deleted["object"]["spec"]["region"], "west");
    assert!(from.parse::<u64>().unwrap() < version(&modified));
    assert!(version(&modified) < version(&added) && version(&added) < version(&deleted));
    watch.is_silent().await;
}

// covers: X4
#[tokio::test]
async fn repeated_and_amended_objects_are_no_events() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    let mut watch =
        client.watch(&format!("{STATIONS}?watch=true&resourceVersion={}", fixture.version())).await;
    fixture.stations.publish(station("a", "north")).unwrap();
    let mut object = station("a", "north");
    object["status"]["sensors"] = json!(9);
    fixture.stations.amend(object).unwrap();
    watch.is_silent().await;
}

// covers: C6 R3 K4
#[tokio::test]
async fn a_version_that_is_forgotten_is_an_event_of_a_good_answer() {
    let options = CollectionOptions { max_events: 2, ..CollectionOptions::default() };
    let fixture = Fixture::with(Settings { options, ..Settings::default() }, |builder| builder).await;
    let client = fixture.reader().await;
    let from = fixture.version();
    for name in ["a", "b", "c"] {
        fixture.stations.publish(station(name, "north")).unwrap();
    }
    for old in [from.as_str(), "1"] {
        let mut watch = client.watch(&format!("{STATIONS}?watch=true&resourceVersion={old}")).await;
        let event = watch.next().await.unwrap();
        assert_eq!(event["type"], "ERROR");
        assert_eq!(
            (&event["object"]["kind"], &event["object"]["apiVersion"]),
            (&json!("Status"), &json!("v1"))
        );
        assert_eq!((&event["object"]["code"], &event["object"]["reason"]), (&json!(410), &json!("Expired")));
        assert_eq!(watch.next().await, None);
    }
}

// covers: C6 K4
#[tokio::test]
async fn a_version_of_the_future_is_refused() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    let now: ResourceVersion = fixture.version().parse().unwrap();
    let future = ResourceVersion::from_parts(now.micros() + 3_600_000_000, 1);
    let mut watch = client.watch(&format!("{STATIONS}?watch=true&resourceVersion={future}")).await;
    let event = watch.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert_eq!(watch.next().await, None);
    let answer = client.get(&format!("{STATIONS}?{STREAMING}&resourceVersion={future}")).await;
    assert_eq!(answer.code, 504);
    assert_eq!(answer.json()["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
}

// covers: C24
#[tokio::test]
async fn selectors_turn_changes_into_additions_and_removals() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    let from = fixture.version();
    let path = format!("{STATIONS}?watch=true&resourceVersion={from}&labelSelector=region%3Dnorth");
    let mut watch = client.watch(&path).await;
    fixture.stations.publish(station("a", "west")).unwrap();
    let gone = watch.next().await.unwrap();
    assert_eq!((&gone["type"], &gone["object"]["metadata"]["name"]), (&json!("DELETED"), &json!("a")));
    assert_eq!(gone["object"]["spec"]["region"], "north", "its last state that matched");
    assert!(version(&gone) > from.parse().unwrap());
    fixture.stations.publish(station("a", "north")).unwrap();
    assert_eq!(watch.brief().await, ("ADDED".into(), "a".into()));
    fixture.stations.publish(station("b", "east")).unwrap();
    fixture.stations.withdraw(&ObjectKey::cluster("b"));
    watch.is_silent().await;
    fixture.stations.withdraw(&ObjectKey::cluster("a"));
    assert_eq!(watch.brief().await, ("DELETED".into(), "a".into()));
}

// covers: C24
#[tokio::test]
async fn field_selectors_follow_changes_like_label_selectors() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    let path = format!(
        "{STATIONS}?watch=true&resourceVersion={}&fieldSelector=spec.region%3Dnorth",
        fixture.version()
    );
    let mut watch = client.watch(&path).await;
    let mut moved = station("a", "north");
    moved["spec"]["region"] = json!("west");
    fixture.stations.publish(moved).unwrap();
    assert_eq!(watch.brief().await, ("DELETED".into(), "a".into()));
    fixture.stations.publish(station("b", "north")).unwrap();
    assert_eq!(watch.brief().await, ("ADDED".into(), "b".into()));
}

// covers: L5 C24 Q2
#[tokio::test]
async fn one_object_can_be_watched() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    for path in
        [format!("{STATIONS}?watch=true&fieldSelector=metadata.name%3Db"), format!("{STATIONS}/b?watch=true")]
    {
        let mut watch = client.watch(&path).await;
        assert_eq!(watch.brief().await, ("ADDED".into(), "b".into()));
        fixture.stations.publish(station("a", "west")).unwrap();
        fixture.stations.publish(station("a", "north")).unwrap();
        watch.is_silent().await;
        fixture.stations.publish(station("b", "west")).unwrap();
        assert_eq!(watch.brief().await, ("MODIFIED".into(), "b".into()));
        fixture.stations.publish(station("b", "south")).unwrap();
        assert_eq!(watch.brief().await, ("MODIFIED".into(), "b".into()));
    }
    let contradiction = format!("{STATIONS}/b?watch=true&fieldSelector=metadata.name%3Da");
    assert_eq!(client.get(&contradiction).await.code, 400);
}

// covers: R5 K2
#[tokio::test]
async fn a_watch_ends_in_time_with_the_version_that_it_reached() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    let from = fixture.version();
    let path = format!("{STATIONS}?watch=true&timeoutSeconds=1&resourceVersion={from}");
    let start = std::time::Instant::now();
    let mut watch = client.watch(&format!("{path}&allowWatchBookmarks=true")).await;
    let bookmark = watch.next().await.unwrap();
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert!(version(&bookmark) > from.parse().unwrap());
    assert_eq!(bookmark["object"]["metadata"].get("annotations"), None);
    assert_eq!(watch.next().await, None);
    assert!((1..10).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    assert_eq!(client.watch(&path).await.next().await, None, "no bookmark that was not allowed");
}

// covers: C2 K5
#[tokio::test]
async fn bookmarks_come_while_nothing_happens() {
    let watching = Watching { bookmarks: Duration::from_millis(100), ..Watching::default() };
    let fixture = Fixture::with(Settings { watching, ..Settings::default() }, |builder| builder).await;
    let client = fixture.reader().await;
    let from = fixture.version();
    let path = format!("{STATIONS}?watch=true&allowWatchBookmarks=true&resourceVersion={from}");
    let mut watch = client.watch(&path).await;
    let mut last = from.parse().unwrap();
    for _ in 0..3 {
        let bookmark = watch.next().await.unwrap();
        assert_eq!(bookmark["type"], "BOOKMARK");
        assert_eq!(bookmark["object"]["metadata"].get("annotations"), None);
        assert!(version(&bookmark) > last);
        last = version(&bookmark);
    }
    fixture.stations.publish(station("a", "north")).unwrap();
    loop {
        let event = watch.next().await.unwrap();
        if event["type"] == "ADDED" {
            assert!(version(&event) > last);
            break;
        }
        last = version(&event);
    }
}

// covers: C31
#[tokio::test]
async fn a_reader_that_stops_is_cut_off_and_delays_nobody() {
    let options = CollectionOptions { max_events: 500, ..CollectionOptions::default() };
    let fixture = Fixture::with(Settings { options, ..Settings::default() }, |builder| builder).await;
    let path = format!("{STATIONS}?watch=true&resourceVersion={}", fixture.version());
    let (slow, quick) = (fixture.reader().await, fixture.reader().await);
    let mut stopped = slow.watch(&path).await;
    let mut reading = quick.watch(&path).await;
    let total = 3000;
    for number in 0..total {
        let mut object = station(&format!("n{number}"), "north");
        object["spec"]["text"] = json!("x".repeat(2000));
        fixture.stations.publish(object).unwrap();
        let (kind, name) = reading.brief().await;
        assert_eq!((kind.as_str(), name), ("ADDED", format!("n{number}")));
    }
    let mut received = 0;
    let last = loop {
        let event = stopped.next().await.expect("an error before the end");
        if event["type"] != "ADDED" {
            break event;
        }
        received += 1;
    };
    assert_eq!((&last["type"], &last["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert!(received < total, "everything was kept for the reader that stopped");
    assert_eq!(stopped.next().await, None);
}

// covers: C31
#[tokio::test]
async fn hundreds_of_watches_share_one_connection() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    let path = format!("{STATIONS}?watch=true&resourceVersion={}", fixture.version());
    let mut watches = Vec::new();
    for _ in 0..500 {
        watches.push(client.watch(&path).await);
    }
    let mut times = Vec::new();
    for _ in 0..100 {
        let start = std::time::Instant::now();
        assert_eq!(client.get(STATIONS).await.code, 200);
        times.push(start.elapsed());
    }
    times.sort_unstable();
    assert!(times[98] < Duration::from_secs(1), "{times:?}");
    fixture.stations.publish(station("c", "west")).unwrap();
    for watch in &mut watches {
        assert_eq!(watch.brief().await, ("ADDED".into(), "c".into()));
    }
    let metrics =
        fixture.as_client(Some(&fixture.clients.client("rita", &["readers"]))).await.get("/metrics").await;
    let text = String::from_utf8(metrics.body.to_vec()).unwrap();
    let gauge =
        r#"aggregated_apiserver_watches{group="weather.example.com",version="v1",resource="stations"} 500"#;
    assert!(text.contains(gauge), "{text}");
    assert!(text.contains(
        r#"aggregated_apiserver_objects{group="weather.example.com",version="v1",resource="stations"} 3"#
    ));
}
