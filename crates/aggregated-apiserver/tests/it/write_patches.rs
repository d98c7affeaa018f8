//! PATCH: JSON patch, merge patch, apply.

use http::Method;
use serde_json::{Value, json};

use crate::stored::{BALLOONS, Written, balloon, refusal, warnings};

fn applied(name: &str, spec: Value) -> Value {
    balloon(name, spec)
}

// covers: H2
#[tokio::test]
async fn both_kinds_of_patches_change_what_they_name() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    server.with_balloon("a", json!({"site": "roof", "height": 1})).await;
    let merged = server
        .merge(&path, &json!({"spec": {"height": null, "note": "x"}, "status": {"readings": "no"}}))
        .await;
    assert_eq!(
        (merged.code, &merged.json()["spec"]),
        (200, &json!({"site": "roof", "gas": "helium", "note": "x"}))
    );
    let patch = json!([
        {"op": "test", "path": "/spec/site", "value": "roof"},
        {"op": "add", "path": "/spec/sensors", "value": ["wind"]},
        {"op": "replace", "path": "/metadata/labels", "value": {"a": "b"}},
    ]);
    let patched = server.json_patch(&path, &patch).await.json();
    assert_eq!(patched["spec"]["sensors"], json!(["wind"]));
    assert_eq!(
        (&patched["metadata"]["labels"]["a"], &patched["metadata"]["generation"]),
        (&json!("b"), &json!(3))
    );
    assert_eq!(patched, server.shown("a").await);
}

// covers: G4 R10
#[tokio::test]
async fn patches_that_cannot_be_carried_out_are_refused() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    let created = server.with_balloon("a", json!({"site": "roof"})).await;
    let json = "application/json-patch+json";
    let merge = "application/merge-patch+json";
    for (media_type, body, code, message) in [
        (merge, "x", 400, "error decoding patch: "),
        (merge, "[]", 400, "error decoding patch: "),
        (merge, "", 400, "error decoding patch: "),
        (json, "{}", 400, "error decoding patch: "),
        (
            json,
            r#"[{"op":"test","path":"/spec/site","value":"x"}]"#,
            422,
            "the server rejected our request due to an error in our request",
        ),
        (json, r#"[{"op":"remove","path":"/spec/x"}]"#, 422, "the server rejected our request"),
        (json, r#"[{"op":"nope","path":"/spec/x"}]"#, 422, "the server rejected our request"),
        (
            json,
            r#"[{"op":"replace","path":"/metadata/name","value":"b"}]"#,
            400,
            "the name of the object (b) does not match the name on the URL (a)",
        ),
        (
            json,
            r#"[{"op":"replace","path":"/kind","value":"B"}]"#,
            422,
            "B.weather.example.com \"a\" is invalid: kind: Invalid value: \"B\": must be Balloon",
        ),
        (
            json,
            r#"[{"op":"replace","path":"/apiVersion","value":"x/v9"}]"#,
            422,
            "apiVersion: Invalid value: \"x/v9\": must be weather.example.com/v1",
        ),
        (
            json,
            r#"[{"op":"remove","path":"/metadata/resourceVersion"}]"#,
            422,
            "metadata.resourceVersion: Invalid value: 0: must be specified for an update",
        ),
        (json, r#"[{"op":"remove","path":"/metadata"}]"#, 400, "name must be provided"),
        (
            json,
            r#"[{"op":"replace","path":"","value":{}}]"#,
            422,
            " \"\" is invalid: patch: Invalid value: \"{}\": Object 'Kind' is missing in '{}'",
        ),
        (merge, r#"{"metadata":{"resourceVersion":"1"}}"#, 409, "the object has been modified"),
        (merge, r#"{"metadata":{"resourceVersion":null}}"#, 422, "must be specified for an update"),
        (merge, r#"{"metadata":{"uid":"1"}}"#, 422, "metadata.uid: Invalid value: \"1\": field is immutable"),
        (merge, r#"{"metadata":{"labels":{"a":5}}}"#, 422, " \"\" is invalid: patch: Invalid value: "),
        (merge, r#"{"metadata":null}"#, 400, "name must be provided"),
        (merge, r#"{"spec":"x"}"#, 422, "spec in body must be of type object"),
        (merge, r#"{"spec":null}"#, 422, "spec: Required value"),
    ] {
        let answer = server.call(Method::PATCH, &path, media_type, body).await;
        let (found, _, text) = refusal(&answer);
        assert!(found == code && text.contains(message), "{body}: {found} {text}");
    }
    for media_type in
        ["application/strategic-merge-patch+json", "application/json", "", "application/apply-patch+cbor"]
    {
        let answer = server.call(Method::PATCH, &path, media_type, "{}").await;
        let message = "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, \
                       application/merge-patch+json, application/apply-patch+yaml";
        assert_eq!(refusal(&answer), (415, "UnsupportedMediaType".into(), message.into()), "{media_type}");
    }
    for answer in [
        server.merge(&format!("{BALLOONS}/zz"), &json!({})).await,
        server.json_patch(&format!("{BALLOONS}/zz"), &json!([])).await,
    ] {
        assert_eq!(refusal(&answer).0, 404);
    }
    let forced = server.merge(&format!("{path}?force=true"), &json!({})).await;
    assert_eq!(refusal(&forced).0, 422);
    assert_eq!(server.shown("a").await, created);
}

#[tokio::test]
async fn patches_are_as_strict_as_wanted() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    server.with_balloon("a", json!({"site": "roof"})).await;
    let body = r#"{"spec":{"nope":1,"height":1,"height":2}}"#;
    let patch = async |query: &str| {
        server
            .call(Method::PATCH, &format!("{path}?dryRun=All{query}"), "application/merge-patch+json", body)
            .await
    };
    let answer = patch("").await;
    assert_eq!((answer.code, &answer.json()["spec"]["height"]), (200, &json!(2)));
    assert_eq!(
        warnings(&answer),
        [r#"299 - "duplicate field \"spec.height\"""#, r#"299 - "unknown field \"spec.nope\"""#]
    );
    assert_eq!(warnings(&patch("&fieldValidation=Ignore").await).len(), 0);
    let (code, _, message) = refusal(&patch("&fieldValidation=Strict").await);
    assert_eq!(code, 422);
    assert!(
        message
            .ends_with("strict decoding error: duplicate field \"spec.height\", unknown field \"spec.nope\""),
        "{message}"
    );
}

// covers: C21 F1 F3 F4
#[tokio::test]
async fn an_apply_creates_changes_shares_and_conflicts() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    let by = |manager: &str| format!("{path}?fieldManager={manager}");
    let dry =
        server.apply(&format!("{}&dryRun=All", by("flux")), &applied("a", json!({"site": "roof"}))).await;
    assert_eq!(dry.code, 201);
    assert!(dry.json()["metadata"].get("resourceVersion").is_none());
    let created = server.apply(&by("flux"), &applied("a", json!({"site": "roof", "height": 3}))).await;
    assert_eq!((created.code, &created.json()["spec"]["gas"]), (201, &json!("helium")));
    let entry = &created.json()["metadata"]["managedFields"][0];
    assert_eq!((&entry["manager"], &entry["operation"]), (&json!("flux"), &json!("Apply")));
    assert_eq!(entry["fieldsV1"], json!({"f:spec": {"f:site": {}, "f:height": {}}}));
    let writes = server.writes();
    let again = server.apply(&by("flux"), &applied("a", json!({"site": "roof", "height": 3}))).await;
    assert_eq!(
        (again.code, again.json(), server.writes()),
        (200, created.json(), writes),
        "a second one is not written"
    );
    let refused = server.apply(&by("person"), &applied("a", json!({"height": 4}))).await;
    let message = "Apply failed with 1 conflict: conflict with \"flux\": .spec.height";
    assert_eq!(refusal(&refused), (409, "Conflict".into(), message.into()));
    let cause = &refused.json()["details"]["causes"][0];
    assert_eq!((&cause["reason"], &cause["field"]), (&json!("FieldManagerConflict"), &json!(".spec.height")));
    let forced =
        server.apply(&format!("{}&force=true", by("person")), &applied("a", json!({"height": 4}))).await;
    assert_eq!((forced.code, &forced.json()["spec"]["height"]), (200, &json!(4)));
    let dropped = server.apply(&by("person"), &applied("a", json!({}))).await.json();
    assert_eq!(dropped["spec"], json!({"site": "roof", "gas": "helium"}), "what nobody wants any more goes");
}

// covers: C21 F7 H1
#[tokio::test]
async fn what_an_apply_must_say() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    let by = format!("{path}?fieldManager=m");
    let good = applied("a", json!({"site": "roof"}));
    assert_eq!(
        refusal(&server.apply(&path, &good).await).2,
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"
    );
    let with = |pointer: &str, value: Value| {
        let mut object = good.clone();
        *object.pointer_mut(pointer).unwrap() = value;
        object
    };
    for (object, code, message) in [
        (json!("x"), 400, "error decoding YAML: "),
        (with("/kind", json!("Cloud")), 400, "invalid object type: weather.example.com/v1, Kind=Cloud"),
        (with("/apiVersion", json!("")), 400, "invalid object type: /, Kind=Balloon"),
        (Value::Null, 400, "invalid object type: /, Kind="),
        (
            with("/metadata", json!({"name": "b"})),
            400,
            "the name of the object (b) does not match the name on the URL (a)",
        ),
        (
            with("/metadata", json!({"name": "a", "managedFields": []})),
            400,
            "metadata.managedFields must be nil",
        ),
        (
            with("/metadata", json!({"name": "a", "uid": "u"})),
            409,
            "uid mismatch: the provided object specified uid u, and no existing object was found",
        ),
        (with("/spec", json!({"nope": 1})), 500, ".spec.nope: field not declared in schema"),
        (with("/spec", json!({"site": "moon"})), 422, "there is no weather"),
        (
            with("/spec", json!({"site": "roof", "gas": "air"})),
            422,
            "spec.gas: Unsupported value: \"air\": supported values: \"helium\", \"hydrogen\"",
        ),
    ] {
        let (found, _, text) = refusal(&server.apply(&by, &object).await);
        assert!(found == code && text.contains(message), "{object}: {found} {text}");
    }
    let yaml = "apiVersion: weather.example.com/v1\nkind: Balloon\nmetadata:\n  name: a\nspec:\n  site: hill\n  site: roof\n";
    let strict = server
        .call(Method::PATCH, &format!("{by}&fieldValidation=Strict"), "application/apply-patch+yaml", yaml)
        .await;
    assert_eq!(refusal(&strict).0, 400);
    assert_eq!(server.writes(), 0);
    let warned = server.call(Method::PATCH, &by, "application/apply-patch+yaml; charset=utf-8", yaml).await;
    assert_eq!(
        (warned.code, warnings(&warned)),
        (201, vec![r#"299 - "duplicate field \"spec.site\"""#.to_owned()])
    );
    let stale = with("/metadata", json!({"name": "a", "resourceVersion": "1"}));
    assert_eq!(refusal(&server.apply(&by, &stale).await).0, 409);
    let other = with("/metadata", json!({"name": "a", "uid": "u"}));
    assert!(
        refusal(&server.apply(&by, &other).await)
            .2
            .contains("metadata.uid: Invalid value: \"u\": field is immutable")
    );
}

#[tokio::test]
async fn an_apply_that_creates_needs_permission_to_create() {
    use aggregated_apiserver::{Attributes, AuthorizationError, Authorizer, Decision, User};
    use futures::FutureExt as _;
    struct MayPatch;
    impl Authorizer for MayPatch {
        fn authorize<'a>(
            &'a self,
            _user: &'a User,
            attributes: &'a Attributes,
        ) -> futures::future::BoxFuture<'a, Result<Decision, AuthorizationError>> {
            let decision = match attributes.verb.as_str() {
                "create" => Decision::Denied("only patches".into()),
                _ => Decision::Allowed,
            };
            std::future::ready(Ok(decision)).boxed()
        }
    }
    let server = Written::allowing(std::sync::Arc::new(MayPatch)).await;
    let path = format!("{BALLOONS}/a?fieldManager=m");
    let refused = server.apply(&path, &applied("a", json!({"site": "roof"}))).await;
    let (code, _, message) = refusal(&refused);
    assert_eq!(code, 403);
    assert!(
        message.contains("cannot create resource \"balloons\"") && message.contains("only patches"),
        "{message}"
    );
    assert_eq!(server.writes(), 0);
}

// covers: F4 H1
#[tokio::test]
async fn managed_fields_can_be_handed_over_and_cleared() {
    let server = Written::start().await;
    let path = format!("{BALLOONS}/a");
    let created = server.with_balloon("a", json!({"site": "roof"})).await;
    let version = created["metadata"]["resourceVersion"].clone();
    let mut entries = created["metadata"]["managedFields"].clone();
    entries[0]["manager"] = json!("kubectl");
    entries[0]["operation"] = json!("Apply");
    let patch = json!([
        {"op": "replace", "path": "/metadata/managedFields", "value": entries},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
    ]);
    let moved = server.json_patch(&path, &patch).await.json();
    assert_eq!(moved["metadata"]["managedFields"][0]["manager"], "kubectl");
    assert_eq!(server.json_patch(&path, &patch).await.code, 409, "what it was based on has changed");
    let cleared = server
        .json_patch(&path, &json!([{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]))
        .await;
    assert_eq!((cleared.code, &cleared.json()["metadata"]["managedFields"]), (200, &Value::Null));
}

#[tokio::test]
async fn what_exists_by_itself_is_applied_to_without_a_fight() {
    let server = Written::start().await;
    let object = json!({
        "metadata": {"name": "wild", "uid": "u1", "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 1},
        "spec": {"site": "hill", "gas": "helium", "height": 9}, "status": {"readings": 1},
    });
    server.balloons.collection.publish(object).unwrap();
    let path = format!("{BALLOONS}/wild");
    let dry = server
        .apply(&format!("{path}?fieldManager=m&dryRun=All"), &applied("wild", json!({"height": 2})))
        .await;
    assert_eq!((dry.code, &dry.json()["spec"]["height"]), (200, &json!(2)));
    let managers = dry.json()["metadata"]["managedFields"].clone();
    assert_eq!(managers.as_array().unwrap().len(), 1, "{managers}");
    let dry = server.merge(&format!("{path}?dryRun=All"), &json!({"spec": {"height": 2}})).await.json();
    assert_eq!(dry["metadata"]["managedFields"][0]["fieldsV1"], json!({"f:spec": {"f:height": {}}}));
    let written = server.merge(&path, &json!({"spec": {"height": 1}})).await;
    assert_eq!((written.code, server.writes()), (200, 1), "from now on it is stored");
}
