//! PUT: what may change, what counts as a change, what is answered.

use serde_json::{Value, json};

use crate::stored::{BALLOONS, Written, balloon, refusal};

fn set(object: &Value, pointer: &str, value: Value) -> Value {
    let mut object = object.clone();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[field] = value;
    object
}

// covers: F6
#[tokio::test]
async fn the_generation_grows_with_the_spec_and_only_with_it() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    let created = server.with_balloon("a", json!({"site": "roof"})).await;
    let labelled = server.put(&path, &set(&created, "/metadata/labels", json!({"a": "b"}))).await;
    assert_eq!((labelled.code, &labelled.json()["metadata"]["generation"]), (200, &json!(1)));
    let higher = server.put(&path, &set(&labelled.json(), "/spec/height", json!(5))).await.json();
    assert_eq!(higher["metadata"]["generation"], 2);
    let forged =
        set(&set(&higher, "/metadata/generation", json!(77)), "/status", json!({"readings": "forged"}));
    let answer = server.put(&path, &forged).await.json();
    assert_eq!(answer["metadata"]["generation"], 2);
    assert!(answer["status"]["readings"].is_number());
    for field in ["uid", "creationTimestamp"] {
        assert_eq!(answer["metadata"][field], created["metadata"][field]);
    }
}

// covers: F4
#[tokio::test]
async fn nothing_new_is_not_written_and_wakes_nobody() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    let created = server.with_balloon("a", json!({"site": "roof", "limits": {"x": 2.0, "y": 1.5}})).await;
    let (writes, version) = (server.writes(), created["metadata"]["resourceVersion"].as_str().unwrap());
    let mut watch = server.client.watch(&format!("{path}?watch=true&resourceVersion={version}")).await;
    for object in [
        created.clone(),
        set(&created, "/metadata/creationTimestamp", json!("2020-01-01T00:00:00Z")),
        set(&created, "/metadata/annotations", json!({})),
        set(&created, "/spec/limits/x", json!(2)),
        set(&created, "/status", json!({})),
    ] {
        let answer = server.put(&path, &object).await;
        assert_eq!((answer.code, answer.json()), (200, created.clone()));
    }
    assert_eq!(server.merge(&path, &json!({"spec": {"site": "roof"}})).await.json(), created);
    assert_eq!(server.json_patch(&path, &json!([])).await.json(), created);
    assert_eq!(server.writes(), writes);
    watch.is_silent().await;
}

// covers: F5
#[tokio::test]
async fn what_an_update_must_say_and_may_not_change() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    let created = server.with_balloon("a", json!({"site": "roof"})).await;
    let uid = created["metadata"]["uid"].as_str().unwrap();
    let modified = "Operation cannot be fulfilled on balloons.weather.example.com \"a\": the object has been modified; please \
                    apply your changes to the latest version and try again";
    for (object, code, message) in [
        (set(&created, "/metadata/resourceVersion", json!("")), 422,
         "balloons.weather.example.com \"a\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update"
            .to_owned()),
        (set(&created, "/metadata/resourceVersion", json!("0")), 422, "must be specified for an update".to_owned()),
        (set(&created, "/metadata/resourceVersion", json!("1")), 409, modified.to_owned()),
        (set(&created, "/metadata/resourceVersion", json!("x")), 400, "is not a resource version".to_owned()),
        (set(&created, "/metadata/uid", json!("x")), 409,
         format!("Precondition failed: UID in precondition: x, UID in object meta: {uid}")),
        (set(&created, "/metadata/name", json!("b")), 400,
         "the name of the object (b) does not match the name on the URL (a)".to_owned()),
        (set(&created, "/metadata/name", json!("")), 400,
         "the name of the object (a based on URL) was undeterminable: name must be provided".to_owned()),
        (set(&created, "/metadata/deletionTimestamp", json!("2020-01-01T00:00:00Z")), 422,
         "metadata.deletionTimestamp: Invalid value: \"2020-01-01T00:00:00Z\": field is immutable".to_owned()),
        (set(&created, "/metadata/deletionGracePeriodSeconds", json!(5)), 422,
         "metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable".to_owned()),
        (set(&created, "/spec/site", json!("hill")), 422, "spec.site: Invalid value: \"hill\": field is immutable".to_owned()),
        (set(&created, "/spec", json!("x")), 422,
         "spec: Invalid value: \"string\": spec in body must be of type object: \"string\"".to_owned()),
    ] {
        let (found, _, text) = refusal(&server.put(&path, &object).await);
        assert!(found == code && text.contains(&message), "{found} {text}");
    }
    let missing = server.put(&format!("{BALLOONS}/zz"), &balloon("zz", json!({"site": "roof"}))).await;
    assert_eq!(
        refusal(&missing),
        (404, "NotFound".into(), "balloons.weather.example.com \"zz\" not found".into())
    );
    assert_eq!(refusal(&server.put(BALLOONS, &created).await).2, "name must be provided");
    assert_eq!(server.shown("a").await, created);
}

#[tokio::test]
async fn what_a_put_leaves_out_gets_its_default() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    let created = server.with_balloon("a", json!({"site": "roof", "gas": "hydrogen", "height": 3})).await;
    let answer = server.put(&path, &set(&created, "/spec", json!({"site": "roof"}))).await.json();
    assert_eq!(answer["spec"], json!({"site": "roof", "gas": "helium"}));
}

// covers: C20 F3
#[tokio::test]
async fn a_dry_run_of_an_update_has_the_old_version_and_changes_nothing() {
    let server = Written::start().await;
    let created = server.with_balloon("a", json!({"site": "roof"})).await;
    let writes = server.writes();
    let path = format!("{BALLOONS}/a?dryRun=All");
    let answer = server.put(&path, &set(&created, "/spec/height", json!(5))).await;
    let object = answer.json();
    assert_eq!((answer.code, &object["spec"]["height"]), (200, &json!(5)));
    assert_eq!(object["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);
    assert_eq!((&object["metadata"]["generation"], &object["status"]), (&json!(2), &created["status"]));
    let stale = set(&created, "/metadata/resourceVersion", json!("1"));
    assert_eq!(server.put(&path, &stale).await.code, 409, "a dry run checks everything");
    assert_eq!((server.writes(), server.shown("a").await), (writes, created));
}

#[tokio::test]
async fn openapi_tells_what_each_verb_takes() {
    let server = Written::start().await;
    let document = server.client.get("/openapi/v3/apis/weather.example.com/v1").await.json();
    let paths = &document["paths"];
    let one = &paths["/apis/weather.example.com/v1/balloons/{name}"];
    let patch = &one["patch"];
    let names = |operation: &Value| -> Vec<String> {
        let parameters = operation["parameters"].as_array().unwrap();
        parameters.iter().map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(patch), ["dryRun", "fieldManager", "fieldValidation", "force"]);
    let types: Vec<_> = patch["requestBody"]["content"].as_object().unwrap().keys().cloned().collect();
    let patches =
        ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
    assert_eq!(types, patches);
    let gvk = json!({"group": "weather.example.com", "version": "v1", "kind": "Balloon"});
    assert_eq!(
        (&patch["x-kubernetes-group-version-kind"], &patch["x-kubernetes-action"]),
        (&gvk, &json!("patch"))
    );
    assert!(one["put"].is_object() && one["delete"].is_object() && one["post"].is_null());
    let all = &paths["/apis/weather.example.com/v1/balloons"];
    assert!(all["post"].is_object() && names(&all["delete"]).contains(&"labelSelector".to_owned()));
    let everywhere = &paths["/apis/weather.example.com/v1/flights"];
    assert!(everywhere["get"].is_object() && everywhere["post"].is_null() && everywhere["delete"].is_null());
    assert!(paths["/apis/weather.example.com/v1/stations"]["post"].is_null(), "stations are only read");
    crate::discovery::dangling(&document, "#/components/schemas/", &document["components"]["schemas"]);
    let swagger = server.client.get("/openapi/v2").await.json();
    crate::discovery::dangling(&swagger, "#/definitions/", &swagger["definitions"]);
    let patch = &swagger["paths"]["/apis/weather.example.com/v1/balloons/{name}"]["patch"];
    assert_eq!(patch["consumes"], json!(patches));
    assert!(!swagger.to_string().contains("io.k8s."));
}
