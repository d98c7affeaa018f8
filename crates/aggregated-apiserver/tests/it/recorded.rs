//! What a real kube-apiserver answered to server-side apply and to other writes of a custom resource, asked of this server: each recorded exchange starts from the object that
//! was stored then, and ends with the same answer and the same object stored.
//!
//! `server-side-apply` proves the same of its functions; here it is the whole way through HTTP, decoding, defaults, metadata and validation.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use aggregated_apiserver::{
    Collection, CollectionOptions, ObjectKey, ResourceDefinition, Revision, ServedResource, Storage,
    StorageError, VersionClock, Writing,
};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::Method;
use serde_json::{Value, json};

use crate::fixture::{Fixture, Settings, stations};
use crate::http::{Answer, Client};

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../../../server-side-apply/tests/data/", $name))
    };
}

/// Exchanges in which this server differs, each in some aspects, and why.
const DIFFERENT: &[(&str, &[&str], &str)] = &[
    ("requests/bad-yaml", &["message"], "another parser says where it is wrong"),
    ("requests/scalar-body", &["message"], "no names of Go types"),
    ("requests/duplicate-key-strict", &["message"], "the field instead of the line"),
    ("shrink/map-empty", EMPTIED, "what was emptied stays, empty, as in structured-merge-diff 6.4.0"),
    ("shrink/object-empty", EMPTIED, "the same"),
    ("shrink/inner-empty", EMPTIED, "the same"),
    ("shrink/schemaless-empty", &["object", "stored"], "the same"),
    ("negotiation/none", &["message"], "no protobuf here"),
];

const EMPTIED: &[&str] = &["code", "version", "reason", "message", "causes", "object", "stored"];

/// A store of one object.
struct Shelf {
    collection: Arc<Collection>,
    record: Mutex<(u64, Option<Value>)>,
}

impl Shelf {
    fn swap(
        &self,
        key: &ObjectKey,
        expected: Option<&Revision>,
        object: Option<Value>,
    ) -> Result<Revision, StorageError> {
        let mut record = self.record.lock().unwrap();
        match expected {
            None if record.1.is_some() => return Err(StorageError::Exists),
            Some(expected) if expected.as_str() != record.0.to_string() => {
                return Err(StorageError::Conflict);
            }
            _ => {}
        }
        *record = (record.0 + 1, object);
        let revision = Revision::new(&record.0.to_string());
        match &record.1 {
            Some(object) => drop(self.collection.publish_from(object.clone(), revision.clone()).unwrap()),
            None => drop(self.collection.withdraw(key)),
        }
        Ok(revision)
    }

    /// Puts the object of a recording in place of whatever there is.
    fn set(&self, key: &ObjectKey, object: Option<&Value>) {
        let object = object.map(|object| {
            let mut object = object.clone();
            let metadata = object["metadata"].as_object_mut().unwrap();
            metadata.remove("resourceVersion");
            object
        });
        self.record.lock().unwrap().1 = None;
        let _ = self.collection.withdraw(key);
        if object.is_some() {
            self.swap(key, None, object).unwrap();
        }
    }
}

struct OnShelf(Arc<Shelf>);

impl Storage for OnShelf {
    fn create<'a>(
        &'a self,
        key: &'a ObjectKey,
        object: &'a Value,
    ) -> BoxFuture<'a, Result<Revision, StorageError>> {
        std::future::ready(self.0.swap(key, None, Some(object.clone()))).boxed()
    }

    fn replace<'a>(
        &'a self,
        key: &'a ObjectKey,
        expected: &'a Revision,
        _old: &'a Value,
        new: &'a Value,
    ) -> BoxFuture<'a, Result<Revision, StorageError>> {
        std::future::ready(self.0.swap(key, Some(expected), Some(new.clone()))).boxed()
    }

    fn remove<'a>(
        &'a self,
        key: &'a ObjectKey,
        expected: &'a Revision,
        _object: &'a Value,
    ) -> BoxFuture<'a, Result<(), StorageError>> {
        std::future::ready(self.0.swap(key, Some(expected), None).map(drop)).boxed()
    }
}

fn hosts() -> ResourceDefinition {
    ResourceDefinition {
        group: "ssa.example.com".into(),
        version: "v1".into(),
        kind: "Host".into(),
        list_kind: "HostList".into(),
        plural: "hosts".into(),
        singular: "host".into(),
        short_names: vec![],
        categories: vec![],
        columns: vec![],
        selectable_fields: vec![],
        schema: serde_json::from_str(recorded!("schema.json")).unwrap(),
        description: String::new(),
        ..stations()
    }
}

/// The exchanges with the main endpoint of the one version that is served here.
fn exchanges() -> Vec<Value> {
    let topics = [
        recorded!("requests.json"),
        recorded!("ownership.json"),
        recorded!("lists.json"),
        recorded!("shrink.json"),
        recorded!("maps.json"),
        recorded!("metadata.json"),
        recorded!("managers.json"),
        recorded!("clientside.json"),
        recorded!("negotiation.json"),
        recorded!("status.json"),
    ];
    let all = topics.iter().flat_map(|topic| serde_json::from_str::<Vec<Value>>(topic).unwrap());
    let here = |exchange: &Value| {
        let path = exchange["request"]["path"].as_str().unwrap();
        let beta = exchange.to_string().contains("v1beta1");
        path.starts_with("/apis/ssa.example.com/v1/hosts") && !path.ends_with("/status") && !beta
    };
    all.filter(here).collect()
}

/// `<time:N>` as a time, in strings of any JSON.
fn with_times(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix("<time:").and_then(|rest| rest.strip_suffix('>')) {
            Some(number) => json!(format!("2026-06-01T00:00:{:02}Z", number.parse::<u32>().unwrap())),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(with_times).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), with_times(value))).collect(),
        other => other.clone(),
    }
}

/// What must be the same: times as "old" or "new", no versions, no made-up uids and names.
fn comparable(object: &Value, before: &Value) -> Value {
    let mut object = object.clone();
    if !object.is_object() {
        return object;
    }
    object.as_object_mut().unwrap().remove("status");
    let old_times = before.to_string();
    let Some(metadata) = object["metadata"].as_object_mut() else { return object };
    let moved = |value: &mut Value| {
        let known = value.as_str().is_some_and(|time| old_times.contains(time));
        *value = json!(if known { "old" } else { "new" });
    };
    for field in ["creationTimestamp", "deletionTimestamp"] {
        metadata.get_mut(field).into_iter().for_each(moved);
    }
    let entries = metadata.get_mut("managedFields").and_then(Value::as_array_mut).into_iter().flatten();
    for entry in entries {
        entry.get_mut("time").into_iter().for_each(moved);
    }
    for field in ["uid", "resourceVersion"] {
        metadata.get_mut(field).into_iter().for_each(|value| *value = json!("some"));
    }
    if metadata.contains_key("generateName") && before.is_null() {
        metadata.insert("name".into(), json!("made up"));
    }
    object
}

struct Site {
    client: Client,
    shelf: Arc<Shelf>,
}

impl Site {
    async fn ask(&self, exchange: &Value, key: &ObjectKey) -> Answer {
        let request = &exchange["request"];
        let shown = self.client.get(&format!("/apis/ssa.example.com/v1/hosts/{}", key.name)).await;
        let shown = if shown.code == 200 { shown.json() } else { Value::Null };
        let mut body = match &request["body"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            body => with_times(body).to_string(),
        };
        let then = exchange["before"]["metadata"]["resourceVersion"].as_str().unwrap_or("<none>");
        // One recording has the version as it was.
        body = body
            .replace("\"1534\"", &format!("\"{then}\""))
            .replace(then, shown["metadata"]["resourceVersion"].as_str().unwrap_or_default());
        let path = request["path"].as_str().unwrap();
        let query = request["query"]
            .as_str()
            .map_or(String::new(), |query| format!("?{}", query.replace(' ', "%20").replace('\n', "%0A")));
        let mut headers: BTreeMap<String, String> =
            [("accept", "application/json"), ("user-agent", "recorder/1.0")]
                .map(|(a, b)| (a.into(), b.into()))
                .into();
        if let Some(media_type) = request["contentType"].as_str() {
            headers.insert("content-type".into(), media_type.into());
        }
        for (name, value) in request["headers"].as_object().into_iter().flatten() {
            headers.insert(name.to_lowercase(), value.as_str().unwrap().into());
        }
        let headers: Vec<(&str, &str)> = headers.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let method: Method = request["method"].as_str().unwrap().parse().unwrap();
        self.client.call_with(method, &format!("{path}{query}"), &headers, body).await
    }

    /// The aspects of an exchange that are not as recorded.
    async fn play(&self, exchange: &Value) -> Vec<(&'static str, String)> {
        let name = [
            &exchange["before"],
            &exchange["after"],
            &exchange["response"]["body"],
            &exchange["request"]["body"],
        ]
        .iter()
        .find_map(|object| object["metadata"]["name"].as_str())
        .unwrap_or("none");
        let key = ObjectKey { namespace: None, name: name.to_owned() };
        let before = with_times(&exchange["before"]);
        self.shelf.set(&key, Some(&before).filter(|before| before.is_object()));
        let answer = self.ask(exchange, &key).await;
        let ours = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
        let theirs = with_times(&exchange["response"]["body"]);
        let stored = self.shelf.record.lock().unwrap().1.clone().unwrap_or(Value::Null);
        self.shelf.set(&key, None);
        let after = with_times(&exchange["after"]);
        let mut after = comparable(&after, &before);
        if let Some(metadata) = after.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("resourceVersion");
        }
        let object =
            |body: &Value| if body["kind"] == "Host" { comparable(body, &before) } else { Value::Null };
        let mut differences = Vec::new();
        let mut same = |aspect, theirs: Value, ours: Value| {
            if theirs != ours {
                differences.push((aspect, format!("\n      theirs {theirs}\n      ours   {ours}")));
            }
        };
        let bare_version =
            |body: &Value| body["metadata"].get("resourceVersion").is_some_and(|version| version != "");
        same("code", exchange["response"]["code"].clone(), json!(answer.code));
        same("version", json!(bare_version(&theirs)), json!(bare_version(&ours)));
        if theirs["kind"] == "Status" || ours["kind"] == "Status" {
            let text = |body: &Value, field: &str| body[field].clone();
            let masked = |text: Value| json!(text.as_str().unwrap_or_default().replace("<uid:1>", "UID"));
            same("reason", text(&theirs, "reason"), text(&ours, "reason"));
            same("message", masked(text(&theirs, "message")), masked(text(&ours, "message")));
            let causes = |body: &Value| {
                let causes = body["details"]["causes"].as_array().into_iter().flatten();
                let mut causes: Vec<_> =
                    causes.map(|cause| format!("{} {}", cause["reason"], cause["field"])).collect();
                causes.sort();
                // A real server tells some twice.
                causes.dedup();
                json!(causes)
            };
            same("causes", causes(&theirs), causes(&ours));
        }
        same("object", object(&theirs), object(&ours));
        let mut stored = comparable(&stored, &before);
        if stored.is_object() {
            stored["apiVersion"] = json!("ssa.example.com/v1");
            stored["kind"] = json!("Host");
        }
        same("stored", after, stored);
        let warnings = |body: usize| json!(body);
        let recorded = exchange["response"]["headers"]["Warning"].as_array().map_or(0, Vec::len);
        same("warnings", warnings(recorded), warnings(answer.headers.get_all("warning").iter().count()));
        differences
    }
}

#[tokio::test]
async fn recorded_exchanges_end_as_they_did_on_a_real_server() {
    let clock = Arc::new(VersionClock::new(1));
    let collection = Collection::new(hosts(), clock, CollectionOptions::default()).unwrap();
    let shelf = Arc::new(Shelf { collection: collection.clone(), record: Mutex::new((0, None)) });
    let writing = Writing::new(Arc::new(OnShelf(shelf.clone())));
    let served = ServedResource::new(collection).written(writing);
    let fixture = Fixture::with(Settings::default(), |builder| builder.resource(served)).await;
    let client = fixture.as_client(Some(&fixture.clients.client("ada", &["admins"]))).await;
    let site = Site { client, shelf };
    let exchanges = exchanges();
    assert!(exchanges.len() > 190, "{}", exchanges.len());
    let known: BTreeMap<&str, &[&str]> = DIFFERENT.iter().map(|(id, aspects, _)| (*id, *aspects)).collect();
    let mut wrong = Vec::new();
    for exchange in &exchanges {
        let id = exchange["id"].as_str().unwrap();
        let known = known.get(id).copied().unwrap_or_default();
        let found = site.play(exchange).await;
        for (aspect, values) in found.iter().filter(|(aspect, _)| !known.contains(aspect)) {
            wrong.push(format!("{id} ({}): {aspect}{values}", exchange["purpose"]));
        }
        for aspect in known.iter().filter(|aspect| !found.iter().any(|(found, _)| found == *aspect)) {
            wrong.push(format!("{id}: {aspect} does not differ any more"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), exchanges.len(), wrong.join("\n"));
}
