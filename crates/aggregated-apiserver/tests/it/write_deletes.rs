//! DELETE: of one, of many, with finalizers, preconditions and policies.

use aggregated_apiserver::ObjectKey;
use http::Method;
use serde_json::{Value, json};

use crate::stored::{BALLOONS, FLIGHTS, Written, balloon, refusal, warnings};

// covers: C23 F6
#[tokio::test]
async fn without_finalizers_it_is_gone_at_once() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    let created = server.with_balloon("a", json!({"site": "roof"})).await;
    let version = created["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = server.client.watch(&format!("{BALLOONS}?watch=true&resourceVersion={version}")).await;
    let answer = server.delete(&path, &Value::Null).await;
    let status = answer.json();
    assert_eq!((answer.code, &status["status"], &status["kind"]), (200, &json!("Success"), &json!("Status")));
    let uid = created["metadata"]["uid"].clone();
    let details = json!({"name": "a", "group": "weather.example.com", "kind": "balloons", "uid": uid});
    assert_eq!(status["details"], details);
    assert_eq!(watch.brief().await, ("DELETED".into(), "a".into()));
    assert_eq!(server.client.get(&path).await.code, 404);
    assert_eq!(refusal(&server.delete(&path, &Value::Null).await).0, 404);
    let again = server.with_balloon("a", json!({"site": "roof"})).await;
    assert_ne!(again["metadata"]["uid"], created["metadata"]["uid"]);
}

// covers: C23
#[tokio::test]
async fn with_finalizers_it_waits_until_the_last_one_is_taken_away() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    let mut object = balloon("a", json!({"site": "roof"}));
    object["metadata"]["finalizers"] = json!(["x.io/one", "x.io/two"]);
    assert_eq!(server.post(BALLOONS, &object).await.code, 201);
    let mut watch = server.client.watch(&format!("{BALLOONS}?watch=true&resourceVersion=0")).await;
    assert_eq!(watch.brief().await.0, "ADDED");
    let answer = server.delete(&path, &Value::Null).await;
    let leaving = answer.json();
    let metadata = &leaving["metadata"];
    assert_eq!(
        (answer.code, &metadata["deletionGracePeriodSeconds"], &metadata["generation"]),
        (200, &json!(0), &json!(2))
    );
    assert!(metadata["deletionTimestamp"].is_string());
    assert_eq!(watch.brief().await.0, "MODIFIED");
    let writes = server.writes();
    assert_eq!((server.delete(&path, &Value::Null).await.json(), server.writes()), (leaving.clone(), writes));
    let taken = server.post(BALLOONS, &balloon("a", json!({"site": "roof"}))).await;
    let message = "object is being deleted: balloons.weather.example.com \"a\" already exists";
    assert_eq!(refusal(&taken), (409, "AlreadyExists".into(), message.into()));
    let more = server.merge(&path, &json!({"metadata": {"finalizers": ["x.io/one", "x.io/three"]}})).await;
    assert!(refusal(&more).2.contains("no new finalizers can be added if the object is being deleted"));
    let undone = server.merge(&path, &json!({"metadata": {"deletionTimestamp": null}})).await.json();
    assert_eq!(
        undone["metadata"]["deletionTimestamp"], metadata["deletionTimestamp"],
        "there is no way back"
    );
    let changed = server.merge(&path, &json!({"spec": {"height": 5}})).await.json();
    assert_eq!(changed["spec"]["height"], 5, "it can still be changed");
    assert_eq!(watch.brief().await.0, "MODIFIED");
    server.merge(&path, &json!({"metadata": {"finalizers": ["x.io/two"]}})).await;
    assert_eq!(watch.brief().await.0, "MODIFIED");
    let last = server.merge(&path, &json!({"metadata": {"finalizers": null}})).await;
    assert_eq!((last.code, last.json()["metadata"].get("finalizers")), (200, None));
    assert_eq!(watch.brief().await, ("DELETED".into(), "a".into()));
    assert_eq!(server.client.get(&path).await.code, 404);
}

// covers: C23 G4
#[tokio::test]
async fn a_garbage_collector_finds_and_removes_its_finalizers() {
    let server = Written::start().await;
    for (policy, finalizer) in [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")] {
        let path = format!("{BALLOONS}/a");
        let created = server.with_balloon("a", json!({"site": "roof"})).await;
        let answer = server.delete(&path, &json!({"propagationPolicy": policy})).await.json();
        assert_eq!(answer["metadata"]["finalizers"], json!([finalizer]));
        // As the garbage collector of Kubernetes does it: a strategic merge patch first, then a merge patch.
        let uid = created["metadata"]["uid"].clone();
        let patch = json!({"metadata": {"uid": uid, "finalizers": []}});
        let strategic = server
            .call(Method::PATCH, &path, "application/strategic-merge-patch+json", &patch.to_string())
            .await;
        assert_eq!(strategic.code, 415);
        assert_eq!(server.merge(&path, &patch).await.code, 200);
        assert_eq!(server.client.get(&path).await.code, 404);
    }
    let path = format!("{BALLOONS}/b");
    for (options, gone) in [
        (json!({"orphanDependents": true}), false),
        (json!({"orphanDependents": false}), true),
        (json!({"propagationPolicy": "Background", "gracePeriodSeconds": 30}), true),
    ] {
        if server.client.get(&path).await.code == 404 {
            server.with_balloon("b", json!({"site": "roof"})).await;
        }
        server.delete(&path, &options).await;
        assert_eq!(server.client.get(&path).await.code == 404, gone, "{options}");
    }
}

#[tokio::test]
async fn a_deletion_that_waits_is_accepted_when_it_shall_cascade() {
    let server = Written::start().await;
    let mut object = balloon("a", json!({"site": "roof"}));
    object["metadata"]["finalizers"] = json!(["plain"]);
    let created = server.post(BALLOONS, &object).await;
    assert!(warnings(&created)[0].contains("prefer a domain-qualified finalizer name"));
    let answer = server.delete(&format!("{BALLOONS}/a?orphanDependents=false"), &Value::Null).await;
    assert_eq!((answer.code, &answer.json()["kind"]), (202, &json!("Balloon")));
}

// covers: C23 G3
#[tokio::test]
async fn preconditions_must_hold() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    let created = server.with_balloon("a", json!({"site": "roof"})).await;
    let uid = created["metadata"]["uid"].as_str().unwrap();
    let version = created["metadata"]["resourceVersion"].clone();
    let other = server.delete(&path, &json!({"preconditions": {"uid": "x"}})).await;
    let message = format!(
        "Operation cannot be fulfilled on Balloon.weather.example.com \"a\": the UID in the precondition (x) does not match the UID in \
         record ({uid}). The object might have been deleted and then recreated"
    );
    assert_eq!(refusal(&other), (409, "Conflict".into(), message));
    server.balloons.show(&ObjectKey::cluster("a"));
    server.merge(&path, &json!({"spec": {"height": 4}})).await;
    let stale = server.delete(&path, &json!({"preconditions": {"resourceVersion": version}})).await;
    assert!(refusal(&stale).2.contains("The object might have been modified"));
    let version = server.shown("a").await["metadata"]["resourceVersion"].clone();
    server.balloons.show(&ObjectKey::cluster("a"));
    let both = json!({"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": uid, "resourceVersion": version}});
    assert_eq!(server.delete(&path, &both).await.code, 200, "only the status has moved since");
}

#[tokio::test]
async fn options_that_are_wrong_delete_nothing() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    server.with_balloon("a", json!({"site": "roof"})).await;
    for (query, body, code) in [
        ("?propagationPolicy=Sometimes", "", 422),
        ("?gracePeriodSeconds=x", "", 400),
        ("?dryRun=Maybe", "", 422),
        ("", r#"{"propagationPolicy":"Orphan","orphanDependents":false}"#, 422),
        ("", "{", 400),
        ("", r#"{"kind":"Pod","apiVersion":"v1"}"#, 400),
    ] {
        let answer = server.call(Method::DELETE, &format!("{path}{query}"), "application/json", body).await;
        assert_eq!(refusal(&answer).0, code, "{query} {body}");
    }
    let answer = server.call(Method::DELETE, &path, "application/vnd.kubernetes.protobuf", "x").await;
    assert_eq!(refusal(&answer).0, 415);
    assert_eq!(server.client.get(&path).await.code, 200);
}

// covers: C20
#[tokio::test]
async fn a_dry_run_deletes_nothing_wherever_it_is_asked_for() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    let created = server.with_balloon("a", json!({"site": "roof"})).await;
    let writes = server.writes();
    for (query, options) in [
        ("?dryRun=All", Value::Null),
        ("", json!({"dryRun": ["All"]})),
        ("?dryRun=All", json!({"propagationPolicy": "Background"})),
        ("?dryRun=All", json!({"propagationPolicy": "Foreground"})),
    ] {
        assert_eq!(server.delete(&format!("{path}{query}"), &options).await.code, 200);
        assert_eq!(server.delete(&format!("{BALLOONS}{query}"), &options).await.code, 200);
    }
    assert_eq!((server.writes(), server.shown("a").await), (writes, created));
}

// covers: N2
#[tokio::test]
async fn many_are_deleted_by_their_labels_and_fields() {
    let server = Written::start().await;
    for (name, gas, label) in
        [("a", "helium", "x"), ("b", "hydrogen", "x"), ("c", "helium", "y"), ("d", "hydrogen", "y")]
    {
        let mut object = balloon(name, json!({"site": "roof", "gas": gas}));
        object["metadata"]["labels"] = json!({"l": label});
        server.post(BALLOONS, &object).await;
    }
    let left = || {
        let objects = server.balloons.collection.list(None).objects;
        objects.iter().map(|object| object.key().name.clone()).collect::<Vec<_>>()
    };
    let answer = server
        .delete(&format!("{BALLOONS}?labelSelector=l%3Dx&fieldSelector=spec.gas%3Dhelium"), &Value::Null)
        .await;
    let list = answer.json();
    assert_eq!(
        (answer.code, &list["kind"], list["items"].as_array().unwrap().len()),
        (200, &json!("BalloonList"), 1)
    );
    assert_eq!(left(), ["b", "c", "d"]);
    let wrong = server.delete(&format!("{BALLOONS}?fieldSelector=spec.nope%3Dx"), &Value::Null).await;
    assert_eq!(wrong.code, 400);
    server.merge(&format!("{BALLOONS}/c"), &json!({"metadata": {"finalizers": ["x.io/y"]}})).await;
    server.delete(BALLOONS, &Value::Null).await;
    assert_eq!(left(), ["c"]);
    assert!(server.shown("c").await["metadata"]["deletionTimestamp"].is_string());
    let everywhere = server.delete("/apis/weather.example.com/v1/flights", &Value::Null).await;
    assert_eq!(refusal(&everywhere).0, 405);
    assert_eq!(server.delete(FLIGHTS, &Value::Null).await.json()["items"], json!([]));
}
