//! GET and LIST, in every representation.

use std::io::Read as _;

use aggregated_apiserver::{CollectionOptions, ResourceVersion};
use http::Method;
use serde_json::{Value, json};

use crate::fixture::{Fixture, READINGS, STATIONS, Settings, reading, station};
use crate::http::Answer;

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().expect("a list always has items");
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

async fn filled() -> Fixture {
    let fixture = Fixture::start().await;
    for (name, region) in [("b", "north"), ("a", "north"), ("c", "south")] {
        fixture.stations.publish(station(name, region)).unwrap();
    }
    for (namespace, name) in [("two", "x"), ("one", "x"), ("one", "y")] {
        fixture.readings.publish(reading(namespace, name)).unwrap();
    }
    fixture
}

fn status(answer: &Answer) -> (u16, String) {
    let status = answer.json();
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!((&status["kind"], &status["apiVersion"]), (&json!("Status"), &json!("v1")));
    assert_eq!(status["status"], "Failure");
    assert_eq!(status["code"], answer.code);
    (answer.code, status["reason"].as_str().unwrap().to_owned())
}

// covers: C3 C4 R8
#[tokio::test]
async fn an_object_and_a_list_are_what_was_published() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    let object = client.get(&format!("{STATIONS}/a")).await;
    assert_eq!((object.code, object.header("content-type")), (200, "application/json"));
    let object = object.json();
    assert_eq!(
        (&object["kind"], &object["apiVersion"]),
        (&json!("Station"), &json!("weather.example.com/v1"))
    );
    let list = client.get(STATIONS).await.json();
    assert_eq!(
        (&list["kind"], &list["apiVersion"]),
        (&json!("StationList"), &json!("weather.example.com/v1"))
    );
    assert_eq!(names(&list), ["a", "b", "c"]);
    assert_eq!(list["items"][0], object);
    let version =
        |value: &Value| value["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap();
    let newest = list["items"].as_array().unwrap().iter().map(version).max().unwrap();
    assert!(version(&list) >= newest);
}

// covers: C4 L6
#[tokio::test]
async fn an_empty_list_has_items_and_a_version() {
    let fixture = Fixture::start().await;
    let client = fixture.reader().await;
    let list = client.get(STATIONS).await.json();
    assert_eq!(list["items"], json!([]));
    let version: ResourceVersion = list["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    assert!(version.get() > 0);
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    assert_eq!(client.accepting(STATIONS, table).await.json()["rows"], json!([]));
}

#[tokio::test]
async fn namespaced_objects_are_listed_alone_and_together() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    assert_eq!(names(&client.get(READINGS).await.json()), ["x", "y", "x"]);
    let one = "/apis/weather.example.com/v1/namespaces/one/readings";
    assert_eq!(names(&client.get(one).await.json()), ["x", "y"]);
    assert_eq!(
        names(&client.get(&format!("{READINGS}?fieldSelector=metadata.namespace%3Dtwo")).await.json()),
        ["x"]
    );
    assert_eq!(client.get(&format!("{one}/x")).await.json()["metadata"]["namespace"], "one");
    let none = "/apis/weather.example.com/v1/namespaces/none/readings";
    assert_eq!(client.get(none).await.json()["items"], json!([]));
    assert_eq!(client.get(&format!("{READINGS}/x")).await.code, 404, "a name without a namespace");
    let wrong = "/apis/weather.example.com/v1/namespaces/one/stations";
    assert_eq!(client.get(wrong).await.code, 404, "a namespace around a cluster-scoped resource");
}

// covers: C24 L4
#[tokio::test]
async fn selectors_choose_and_unknown_ones_are_refused() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    for (query, expected) in [
        ("labelSelector=region%3Dnorth", vec!["a", "b"]),
        ("labelSelector=region+in+(south,west)", vec!["c"]),
        ("labelSelector=!region", vec![]),
        ("fieldSelector=metadata.name%3Db", vec!["b"]),
        ("fieldSelector=metadata.name!%3Db", vec!["a", "c"]),
        ("fieldSelector=spec.region%3Dsouth", vec!["c"]),
        ("fieldSelector=spec.region%3Dnorth,metadata.name!%3Da&labelSelector=region", vec!["b"]),
    ] {
        let list = client.get(&format!("{STATIONS}?{query}")).await;
        assert_eq!(names(&list.json()), expected, "{query}");
    }
    let answer = client.get(&format!("{STATIONS}?fieldSelector=spec.colour%3Dred")).await;
    assert_eq!(status(&answer), (400, "BadRequest".into()));
    assert!(answer.json()["message"].as_str().unwrap().contains("\"spec.region\""));
    let answer = client.get(&format!("{STATIONS}?labelSelector=a+b")).await;
    assert_eq!(status(&answer), (400, "BadRequest".into()));
}

// covers: C25 Q1
#[tokio::test]
async fn a_table_has_the_columns_of_the_definition() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
    let table = client.accepting(STATIONS, kubectl).await.json();
    assert_eq!((&table["kind"], &table["apiVersion"]), (&json!("Table"), &json!("meta.k8s.io/v1")));
    let headings: Vec<_> =
        table["columnDefinitions"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(headings, ["Name", "Region", "Ready", "Sensors", "Age"]);
    assert_eq!(table["columnDefinitions"][3]["priority"], 1);
    assert_eq!(
        table["rows"][2]["cells"].as_array().unwrap()[..4],
        [json!("c"), json!("south"), json!("True"), json!(3)]
    );
    let row = &table["rows"][0]["object"];
    assert_eq!((&row["kind"], &row["metadata"]["uid"]), (&json!("PartialObjectMetadata"), &json!("uid-a")));
    assert!(row.get("spec").is_none());
    assert!(table["metadata"]["resourceVersion"].is_string());

    let beta = "application/json;as=Table;v=v1beta1;g=meta.k8s.io";
    let one = client.accepting(&format!("{STATIONS}/a?includeObject=Object"), beta).await.json();
    assert_eq!(one["apiVersion"], "meta.k8s.io/v1beta1");
    assert_eq!(one["rows"].as_array().unwrap().len(), 1);
    assert_eq!(one["rows"][0]["object"]["spec"]["region"], "north");
    let none = client.accepting(&format!("{STATIONS}?includeObject=None"), beta).await.json();
    assert_eq!(none["rows"][0]["object"], Value::Null);
    let answer = client.accepting(&format!("{STATIONS}?includeObject=All"), beta).await;
    assert_eq!(status(&answer), (400, "BadRequest".into()));
    let readings = client.accepting(READINGS, kubectl).await.json();
    assert_eq!(readings["columnDefinitions"][1]["name"], "Age");
    assert_eq!(readings["rows"][0]["cells"], json!(["x", "<unknown>"]));
}

// covers: C8 R8 G1
#[tokio::test]
async fn metadata_alone_is_what_the_garbage_collector_asks_for() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    let collector = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
                     application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
    let list = client.accepting(READINGS, collector).await.json();
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(list["apiVersion"], "meta.k8s.io/v1");
    assert!(list["metadata"]["resourceVersion"].is_string());
    let item = &list["items"][0];
    assert_eq!(
        (&item["kind"], &item["apiVersion"]),
        (&json!("PartialObjectMetadata"), &json!("meta.k8s.io/v1"))
    );
    assert_eq!(item["metadata"]["uid"], "uid-one-x");
    let owner = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let object = client.accepting(&format!("{STATIONS}/a"), owner).await.json();
    assert_eq!(object["kind"], "PartialObjectMetadata");
    assert_eq!(object.as_object().unwrap().len(), 3);
}

#[tokio::test]
async fn yaml_is_written_when_it_is_preferred() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    let answer = client.accepting(&format!("{STATIONS}/a"), "application/yaml").await;
    assert_eq!(answer.header("content-type"), "application/yaml");
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    assert!(text.contains("kind: Station\n") && text.contains("  region: north\n"), "{text}");
    let list = client.accepting(STATIONS, "application/yaml").await;
    assert!(String::from_utf8(list.body.to_vec()).unwrap().contains("kind: StationList"));
    let none = client.accepting(&format!("{STATIONS}/none"), "application/yaml").await;
    assert_eq!((none.code, none.header("content-type")), (404, "application/yaml"));
    assert!(String::from_utf8(none.body.to_vec()).unwrap().contains("reason: NotFound"));
    let both = client.accepting(&format!("{STATIONS}/none"), "application/json,application/yaml").await;
    assert_eq!(both.header("content-type"), "application/json");
    let watch = client.accepting(&format!("{STATIONS}?watch=true"), "application/yaml").await;
    assert_eq!(watch.code, 406, "a stream of events has no form in YAML");
}

#[tokio::test]
async fn a_large_list_is_compressed_for_those_who_accept_it() {
    let fixture = Fixture::start().await;
    for number in 0..400 {
        let mut object = station(&format!("n{number:04}"), "north");
        object["spec"]["text"] = json!("x".repeat(1000));
        fixture.stations.publish(object).unwrap();
    }
    for client in [
        fixture.reader().await,
        crate::http::Client::http1(
            fixture.address,
            &fixture.serving.pem,
            Some(&fixture.clients.client("rita", &["readers"])),
        )
        .await,
    ] {
        let plain = client.get(STATIONS).await;
        assert_eq!(plain.header("content-encoding"), "");
        assert_eq!(names(&plain.json()).len(), 400);
        let answer = client.call(Method::GET, STATIONS, &[("accept-encoding", "gzip")]).await;
        assert_eq!(answer.header("content-encoding"), "gzip");
        assert!(answer.body.len() < plain.body.len() / 10);
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&answer.body[..]).read_to_end(&mut unpacked).unwrap();
        let list: Value = serde_json::from_slice(&unpacked).unwrap();
        assert_eq!(list["items"], plain.json()["items"]);
        let small =
            client.call(Method::GET, &format!("{STATIONS}/n0001"), &[("accept-encoding", "gzip")]).await;
        assert_eq!(small.header("content-encoding"), "");
    }
}

// covers: R10 C27 L4 K6
#[tokio::test]
async fn every_fault_is_a_status() {
    let fixture = filled().await;
    let client = fixture.as_client(Some(&fixture.clients.client("ada", &["admins"]))).await;
    let answer = client.get(&format!("{STATIONS}/none")).await;
    assert_eq!(status(&answer), (404, "NotFound".into()));
    assert_eq!(answer.json()["message"], r#"stations.weather.example.com "none" not found"#);
    assert_eq!(answer.json()["details"]["name"], "none");
    for path in ["/none", "/apis/other/v1", "/apis/weather.example.com/v2/stations", "/api", "/api/v1/pods"] {
        assert_eq!(status(&client.get(path).await), (404, "NotFound".into()), "{path}");
    }
    for (method, path) in [
        (Method::POST, STATIONS.to_owned()),
        (Method::DELETE, STATIONS.to_owned()),
        (Method::PUT, format!("{STATIONS}/a")),
        (Method::PATCH, format!("{STATIONS}/a")),
        (Method::DELETE, format!("{STATIONS}/a")),
        (Method::POST, "/apis".to_owned()),
        (Method::HEAD, "/version".to_owned()),
    ] {
        let answer = client.call(method.clone(), &path, &[]).await;
        assert_eq!(answer.code, 405, "{method} {path}");
        if method != Method::HEAD {
            assert_eq!(status(&answer).1, "MethodNotAllowed");
        }
    }
    let protobuf = "application/vnd.kubernetes.protobuf";
    assert_eq!(status(&client.accepting(STATIONS, protobuf).await), (406, "NotAcceptable".into()));
    assert_eq!(status(&client.accepting("/apis", protobuf).await), (406, "NotAcceptable".into()));
    let long = format!("{STATIONS}?labelSelector={}", "a".repeat(20_000));
    assert_eq!(status(&client.get(&long).await), (414, "RequestURITooLong".into()));
    for query in ["resourceVersion=x", "limit=x", "labelSelector=%zz"] {
        assert_eq!(
            status(&client.get(&format!("{STATIONS}?{query}")).await),
            (400, "BadRequest".into()),
            "{query}"
        );
    }
    let answer = client.get(&format!("{STATIONS}?resourceVersionMatch=Exact")).await;
    assert_eq!(status(&answer), (422, "Invalid".into()));
    assert_eq!(answer.json()["details"]["causes"][0]["field"], "resourceVersionMatch");
}

// covers: L5 C6 R4
#[tokio::test]
async fn versions_are_honoured_or_refused() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    let version = fixture.version();
    let list = |query: String| format!("{STATIONS}?{query}");
    for query in [
        "resourceVersion=0".to_owned(),
        format!("resourceVersion={version}"),
        format!("resourceVersion={version}&resourceVersionMatch=NotOlderThan"),
        "resourceVersion=1".to_owned(),
    ] {
        let answer = client.get(&list(query.clone())).await;
        assert_eq!(answer.code, 200, "{query}");
    }
    let exact = format!("resourceVersion={version}&resourceVersionMatch=Exact");
    assert_eq!(
        client.get(&list(exact.clone())).await.json()["metadata"]["resourceVersion"],
        version.as_str()
    );
    fixture.stations.publish(station("d", "west")).unwrap();
    assert_eq!(status(&client.get(&list(exact)).await), (410, "Expired".into()));

    let future =
        ResourceVersion::from_parts(version.parse::<ResourceVersion>().unwrap().micros() + 60_000_000, 1);
    let answer = client.get(&list(format!("resourceVersion={future}"))).await;
    assert_eq!(status(&answer), (504, "Timeout".into()));
    let details = &answer.json()["details"];
    assert_eq!(details["causes"][0]["reason"], "ResourceVersionTooLarge");
    assert_eq!(details["retryAfterSeconds"], 1);
    assert_eq!(answer.header("retry-after"), "1");
    let soon = ResourceVersion::from_parts(fixture.stations.list(None).version.micros() + 300_000, 2);
    assert_eq!(
        client.get(&list(format!("resourceVersion={soon}"))).await.code,
        200,
        "clocks differ a little"
    );
}

// covers: C7 R4 K1 X1
#[tokio::test]
async fn pages_are_of_one_snapshot() {
    let fixture = Fixture::start().await;
    for number in 0..7 {
        fixture.stations.publish(station(&format!("n{number}"), "north")).unwrap();
    }
    let client = fixture.reader().await;
    let first = client.get(&format!("{STATIONS}?limit=3")).await.json();
    assert_eq!(names(&first), ["n0", "n1", "n2"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 4);
    fixture.stations.retain(|key| key.name == "n0");
    fixture.stations.publish(station("n33", "north")).unwrap();
    let token = first["metadata"]["continue"].as_str().unwrap();
    let second = client.get(&format!("{STATIONS}?limit=3&continue={token}")).await.json();
    assert_eq!(names(&second), ["n3", "n4", "n5"]);
    assert_eq!(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    let token = second["metadata"]["continue"].as_str().unwrap();
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let last = client.accepting(&format!("{STATIONS}?limit=3&continue={token}"), table).await.json();
    assert_eq!(last["rows"][0]["cells"][0], "n6");
    assert_eq!(last["metadata"].get("continue"), None);
    let any = client.get(&format!("{STATIONS}?limit=1&resourceVersion=0")).await.json();
    assert_eq!(names(&any), ["n0", "n33"], "any version is given at once");
    assert_eq!(status(&client.get(&format!("{STATIONS}?continue=forged")).await), (400, "BadRequest".into()));
}

// covers: C11 R6
#[tokio::test]
async fn nothing_is_shown_before_everything_is_known() {
    let options = CollectionOptions { complete: false, ..CollectionOptions::default() };
    let fixture = Fixture::with(Settings { options, ..Settings::default() }, |builder| builder).await;
    let client = fixture.reader().await;
    for path in [STATIONS.to_owned(), format!("{STATIONS}/a"), format!("{STATIONS}?watch=true")] {
        let answer = client.get(&path).await;
        assert_eq!(status(&answer), (503, "ServiceUnavailable".into()));
        assert_eq!(answer.header("retry-after"), "1");
    }
    assert_eq!(client.get("/apis/weather.example.com/v1").await.code, 200);
    fixture.stations.complete();
    assert_eq!(client.get(STATIONS).await.code, 200);
}

// covers: X4
#[tokio::test]
async fn amendments_show_at_once_under_the_same_version() {
    let fixture = filled().await;
    let client = fixture.reader().await;
    let before = client.get(&format!("{STATIONS}/a")).await.json();
    let mut object = station("a", "north");
    object["status"]["sensors"] = json!(4);
    fixture.stations.amend(object).unwrap();
    let after = client.get(&format!("{STATIONS}/a")).await.json();
    assert_eq!(after["status"]["sensors"], 4);
    assert_eq!(after["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
}
