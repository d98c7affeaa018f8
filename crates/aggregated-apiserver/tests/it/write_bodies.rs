//! POST, and what every body is asked for: decoding, names, unknown fields, defaults, validation, dry runs.

use aggregated_apiserver::{StorageError, WriteVerbs};
use http::Method;
use serde_json::{Value, json};

use crate::stored::{BALLOONS, FLIGHTS, Written, balloon, refusal, warnings};

#[tokio::test]
async fn a_new_object_gets_what_the_server_says_and_its_defaults() {
    let server = Written::start().await;
    let mut object = balloon("a", json!({"site": "roof", "note": null, "height": null}));
    object["status"] = json!({"readings": "mine"});
    object["metadata"] = json!({
        "name": "a", "uid": "mine", "generation": 9, "creationTimestamp": "2020-01-01T00:00:00Z", "namespace": "ignored",
        "deletionTimestamp": "2020-01-01T00:00:00Z", "labels": {"a": "b"}, "annotations": {}, "selfLink": "x",
    });
    let answer = server.post(BALLOONS, &object).await;
    assert_eq!((answer.code, answer.header("content-type")), (201, "application/json"));
    let created = answer.json();
    assert_eq!(created["spec"], json!({"site": "roof", "gas": "helium", "note": null}));
    let metadata = &created["metadata"];
    assert_eq!((&metadata["generation"], &metadata["labels"]), (&json!(1), &json!({"a": "b"})));
    for absent in ["deletionTimestamp", "annotations", "selfLink", "namespace"] {
        assert_eq!(metadata[absent], Value::Null, "{absent}");
    }
    assert!(metadata["uid"] != "mine" && metadata["creationTimestamp"] != "2020-01-01T00:00:00Z");
    assert_eq!(created["status"], json!({"readings": 0}), "the status is computed");
    assert_eq!(created, server.shown("a").await, "what is answered is what is shown");
    let manager = &metadata["managedFields"][0];
    assert_eq!((&manager["manager"], &manager["operation"]), (&json!("tests"), &json!("Update")));
    assert_eq!(manager["fieldsV1"]["f:spec"]["f:gas"], json!({}), "who creates owns the defaults");
}

#[tokio::test]
async fn yaml_is_read_and_written_where_json_is() {
    let server = Written::start().await;
    let body = "apiVersion: weather.example.com/v1\nkind: Balloon\nmetadata: {name: yam}\nspec:\n  site: roof\n  height: 3.0\n";
    let headers = [("content-type", "application/yaml; charset=utf-8"), ("accept", "application/yaml")];
    let answer = server.client.call_with(Method::POST, BALLOONS, &headers, body).await;
    assert_eq!((answer.code, answer.header("content-type")), (201, "application/yaml"), "{:?}", answer.body);
    assert!(std::str::from_utf8(&answer.body).unwrap().contains("height: 3\n"));
    let table = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let object = balloon("t", json!({"site": "roof"})).to_string();
    let answer = server.client.call_with(Method::POST, BALLOONS, &table, object.clone()).await;
    assert_eq!((answer.code, &answer.json()["kind"]), (201, &json!("Table")));
    let nothing = [("accept", "text/html")];
    let before = server.writes();
    let answer =
        server.client.call_with(Method::POST, BALLOONS, &nothing, object.replace("\"t\"", "\"u\"")).await;
    assert_eq!((answer.code, server.writes()), (406, before), "what cannot be answered is not done");
}

// covers: C27 R10
#[tokio::test]
async fn bodies_that_cannot_be_read_are_refused_as_kube_apiserver_does() {
    let server = Written::start().await;
    let good = balloon("a", json!({"site": "roof"}));
    let with = |field: &str, value: Value| {
        let mut object = good.clone();
        object[field] = value;
        object.to_string()
    };
    let without = |field: &str| {
        let mut object = good.clone();
        object.as_object_mut().unwrap().remove(field);
        object.to_string()
    };
    for (body, code, message) in [
        (String::new(), 400, "the object provided is unrecognized (must be of type Balloon)"),
        ("{".to_owned(), 400, "the object provided is unrecognized (must be of type Balloon)"),
        ("[]".to_owned(), 400, "Object 'Kind' is missing in '[]'"),
        (without("kind"), 400, "Object 'Kind' is missing in"),
        (
            without("apiVersion"),
            400,
            "the API version in the data () does not match the expected API version (weather.example.com/v1)",
        ),
        (
            with("apiVersion", json!("weather.example.com/v2")),
            400,
            "the API version in the data (weather.example.com/v2)",
        ),
        (
            with("kind", json!("Cloud")),
            422,
            "Cloud.weather.example.com \"a\" is invalid: kind: Invalid value: \"Cloud\": must be Balloon",
        ),
        (
            with("metadata", json!({"name": "a", "labels": {"x": 5}})),
            400,
            "cannot unmarshal number into field metadata.labels",
        ),
        (
            with("metadata", json!({"name": "a", "resourceVersion": "5"})),
            400,
            "resourceVersion should not be set on objects to be created",
        ),
        (with("metadata", json!({})), 422, "metadata.name: Required value: name or generateName is required"),
        (
            with("metadata", json!({"name": "A"})),
            422,
            "metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must",
        ),
        (with("metadata", Value::Null), 422, "metadata.name: Required value"),
    ] {
        let answer = server.call(Method::POST, BALLOONS, "application/json", &body).await;
        let (found, _, text) = refusal(&answer);
        assert!(found == code && text.contains(message), "{body}: {found} {text}");
    }
    for media_type in ["text/plain", "application/vnd.kubernetes.protobuf", "application/cbor"] {
        let answer = server.call(Method::POST, BALLOONS, media_type, "x").await;
        let expected = "the body of the request was in an unknown format - accepted media types include: application/json, \
                        application/yaml";
        assert_eq!(refusal(&answer), (415, "UnsupportedMediaType".into(), expected.into()));
    }
    let large = with("spec", json!({"site": "x".repeat(3 << 20)}));
    let answer = server.call(Method::POST, BALLOONS, "application/json", &large).await;
    assert_eq!(refusal(&answer).0, 413);
    assert_eq!(server.writes(), 0);
}

// covers: H1
#[tokio::test]
async fn unknown_and_double_fields_are_warned_of_refused_or_ignored_as_wanted() {
    let server = Written::start().await;
    let body = r#"{"apiVersion":"weather.example.com/v1","kind":"Balloon","metadata":{"name":"a","foo":1},
                   "spec":{"site":"x","site":"roof","nope":1,"gas":"helium"},"extra":1}"#;
    let post = async |query: &str| {
        server.call(Method::POST, &format!("{BALLOONS}?dryRun=All{query}"), "application/json", body).await
    };
    for query in ["", "&fieldValidation=Warn"] {
        let answer = post(query).await;
        assert_eq!((answer.code, &answer.json()["spec"]), (201, &json!({"site": "roof", "gas": "helium"})));
        let expected = [
            r#"299 - "duplicate field \"spec.site\"""#,
            r#"299 - "unknown field \"extra\"""#,
            r#"299 - "unknown field \"spec.nope\"""#,
            r#"299 - "unknown field \"metadata.foo\"""#,
        ];
        assert_eq!(warnings(&answer), expected);
    }
    let answer = post("&fieldValidation=Ignore").await;
    assert_eq!((answer.code, warnings(&answer).len()), (201, 0));
    let answer = post("&fieldValidation=Strict").await;
    let expected = "Balloon in version \"v1\" cannot be handled as a Balloon: strict decoding error: duplicate field \"spec.site\", \
                    unknown field \"extra\", unknown field \"spec.nope\", unknown field \"metadata.foo\"";
    assert_eq!(refusal(&answer), (400, "BadRequest".into(), expected.into()));
    let answer = post("&fieldValidation=Odd").await;
    assert_eq!(refusal(&answer).0, 422);
    let clean = balloon("b", json!({"site": "roof", "gas": "hydrogen"}));
    let answer = server.post(&format!("{BALLOONS}?fieldValidation=Strict"), &clean).await;
    assert_eq!(
        (answer.code, warnings(&answer)),
        (201, vec!["299 - \"spec.gas: hydrogen burns\"".to_owned()])
    );
}

#[tokio::test]
async fn what_is_not_good_is_refused_with_all_causes() {
    let server = Written::start().await;
    let bad = json!({"gas": "air", "height": -1, "sensors": ["a", "a"], "limits": {"x": "y"}});
    let answer = server.post(BALLOONS, &balloon("a", bad)).await;
    let details = &answer.json()["details"];
    assert_eq!((answer.code, &answer.json()["reason"]), (422, &json!("Invalid")));
    assert_eq!(
        (&details["name"], &details["group"], &details["kind"]),
        (&json!("a"), &json!("weather.example.com"), &json!("Balloon"))
    );
    let causes: Vec<_> = details["causes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cause| format!("{} {}", cause["field"].as_str().unwrap(), cause["reason"].as_str().unwrap()))
        .collect();
    let expected = [
        "spec.site FieldValueRequired",
        "spec.gas FieldValueNotSupported",
        "spec.height FieldValueInvalid",
        "spec.limits.x FieldValueTypeInvalid",
        "spec.sensors[1] FieldValueDuplicate",
    ];
    assert_eq!(causes, expected);
    let answer = server.post(BALLOONS, &balloon("a", json!({"site": "moon"}))).await;
    let message = "Balloon.weather.example.com \"a\" is invalid: spec.site: Invalid value: \"moon\": there is no weather";
    assert_eq!(refusal(&answer).2, message);
    assert_eq!(server.writes(), 0);
}

#[tokio::test]
async fn a_name_is_taken_once_and_generated_when_asked_for() {
    let server = Written::start().await;
    server.with_balloon("a", json!({"site": "roof"})).await;
    let again = server.post(BALLOONS, &balloon("a", json!({"site": "roof"}))).await;
    let expected = (409, "AlreadyExists".into(), "balloons.weather.example.com \"a\" already exists".into());
    assert_eq!(refusal(&again), expected);
    let mut object = balloon("", json!({"site": "roof"}));
    object["metadata"] = json!({"generateName": "made-"});
    let mut names = std::collections::BTreeSet::new();
    for _ in 0..5 {
        let created = server.post(BALLOONS, &object).await.json();
        let name = created["metadata"]["name"].as_str().unwrap().to_owned();
        assert!(name.len() == 10 && name.starts_with("made-"), "{name}");
        assert_eq!(created["metadata"]["generateName"], "made-");
        names.insert(name);
    }
    assert_eq!(names.len(), 5);
    object["metadata"] = json!({"generateName": "x".repeat(100)});
    let created = server.post(BALLOONS, &object).await.json();
    assert_eq!(created["metadata"]["name"].as_str().unwrap().len(), 63);
}

// covers: C20 F3
#[tokio::test]
async fn a_dry_run_answers_as_if_and_touches_nothing() {
    let server = Written::start().await;
    let mut watch = server.client.watch(&format!("{BALLOONS}?watch=true&resourceVersion=0")).await;
    let answer = server.post(&format!("{BALLOONS}?dryRun=All"), &balloon("a", json!({"site": "roof"}))).await;
    let object = answer.json();
    assert_eq!((answer.code, &object["spec"]["gas"]), (201, &json!("helium")));
    assert!(object["metadata"]["uid"].is_string() && object["metadata"]["managedFields"].is_array());
    assert!(object["metadata"].get("resourceVersion").is_none(), "so that Flux knows that it is not there");
    let bad = server.post(&format!("{BALLOONS}?dryRun=All"), &balloon("a", json!({"site": "moon"}))).await;
    assert_eq!(bad.code, 422);
    let odd = server.post(&format!("{BALLOONS}?dryRun=Some"), &balloon("a", json!({"site": "roof"}))).await;
    assert_eq!(refusal(&odd).0, 422);
    assert_eq!((server.writes(), server.balloons.collection.len()), (0, 0));
    watch.is_silent().await;
}

#[tokio::test]
async fn namespaces_of_path_and_object_must_agree() {
    let server = Written::start().await;
    let flight = |namespace: Value| {
        let mut object = balloon("f", json!({"site": "roof"}));
        object["kind"] = json!("Flight");
        object["metadata"]["namespace"] = namespace;
        object
    };
    let answer = server.post(FLIGHTS, &flight(json!("other"))).await;
    let message = "the namespace of the provided object does not match the namespace sent on the request";
    assert_eq!(refusal(&answer), (400, "BadRequest".into(), message.into()));
    let answer = server.post(FLIGHTS, &flight(Value::Null)).await;
    assert_eq!((answer.code, &answer.json()["metadata"]["namespace"]), (201, &json!("n")));
    let everywhere = server.post("/apis/weather.example.com/v1/flights", &flight(json!("n"))).await;
    assert_eq!(refusal(&everywhere).0, 405);
}

// covers: R10
#[tokio::test]
async fn faults_of_the_store_are_told_as_what_they_are() {
    let server = Written::start().await;
    let object = balloon("a", json!({"site": "roof"}));
    for (fault, code, reason) in [
        (
            (|| StorageError::Full("the disk is full".into())) as fn() -> StorageError,
            507,
            "InsufficientStorage",
        ),
        (|| StorageError::Unavailable("the disk is read-only".into()), 503, "ServiceUnavailable"),
        (|| StorageError::Forbidden("not today".into()), 403, "Forbidden"),
        (
            || StorageError::Fault { operation: "writing failed".into(), source: "secret".into() },
            500,
            "InternalError",
        ),
    ] {
        *server.balloons.fault.lock().unwrap() = Some(fault);
        let answer = server.post(BALLOONS, &object).await;
        let (found, why, message) = refusal(&answer);
        assert_eq!((found, why.as_str()), (code, reason));
        assert!(!message.contains("secret"));
    }
    *server.balloons.fault.lock().unwrap() = None;
    assert_eq!(server.post(BALLOONS, &object).await.code, 201);
}

#[tokio::test]
async fn each_verb_needs_permission_and_a_resource_that_has_it() {
    let server = Written::start().await;
    let reader = server.fixture.reader().await;
    let object = balloon("a", json!({"site": "roof"})).to_string();
    let one = format!("{BALLOONS}/a");
    for (method, path) in [
        (Method::POST, BALLOONS),
        (Method::PUT, &one),
        (Method::PATCH, &one),
        (Method::DELETE, &one),
        (Method::DELETE, BALLOONS),
    ] {
        let answer = reader.call_with(method.clone(), path, &[], object.clone()).await;
        assert_eq!(answer.code, 403, "{method} {path}");
        let path = path.replace("balloons", "stations");
        let read_only = server.client.call_with(method.clone(), &path, &[], object.clone());
        assert_eq!(read_only.await.code, 405, "{method} on a resource that is only read");
    }
    assert_eq!(server.writes(), 0);
    let deletable = WriteVerbs { create: false, update: false, delete: true };
    let other = Written::on(Default::default(), 2, deletable).await;
    assert_eq!(refusal(&other.post(BALLOONS, &balloon("a", json!({"site": "roof"}))).await).0, 405);
    assert_eq!(refusal(&other.apply(&format!("{one}?fieldManager=x"), &json!({})).await).0, 405);
    let list = other.client.get("/apis/weather.example.com/v1").await.json();
    let verbs = |name: &str| {
        let resources = list["resources"].as_array().unwrap();
        resources.iter().find(|resource| resource["name"] == name).unwrap()["verbs"].clone()
    };
    assert_eq!(verbs("balloons"), json!(["delete", "deletecollection", "get", "list", "watch"]));
    assert_eq!(verbs("stations"), json!(["get", "list", "watch"]));
}

#[tokio::test]
async fn the_status_is_refused_with_the_reason() {
    let server = Written::start().await;
    server.with_balloon("a", json!({"site": "roof"})).await;
    let status = format!("{BALLOONS}/a/status");
    for answer in [
        server.merge(&status, &json!({"status": {}})).await,
        server.put(&status, &balloon("a", json!({}))).await,
    ] {
        let message = "the status of balloons is computed and cannot be written";
        assert_eq!(refusal(&answer), (405, "MethodNotAllowed".into(), message.into()));
    }
    assert_eq!(server.client.get(&status).await.code, 404);
    assert_eq!(server.merge(&format!("{BALLOONS}/a/scale"), &json!({})).await.code, 404);
}
