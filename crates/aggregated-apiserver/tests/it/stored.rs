//! Resources that are written: a store in memory, replicas that show what is in it, and a client that writes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use aggregated_apiserver::{
    Authorizer, Cause, Collection, CollectionOptions, Column, NoReplicas, ObjectKey, Replicas,
    ResourceDefinition, Revision, Scope, ServedResource, ServerBuilder, Storage, StorageError, Strategy,
    VersionClock, WriteVerbs, Writing,
};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::Method;
use serde_json::{Value, json};

use crate::fixture::{Fixture, Settings, stations};
use crate::http::{Answer, Client};

pub(crate) const BALLOONS: &str = "/apis/weather.example.com/v1/balloons";
pub(crate) const FLIGHTS: &str = "/apis/weather.example.com/v1/namespaces/n/flights";

pub(crate) fn balloons() -> ResourceDefinition {
    ResourceDefinition {
        kind: "Balloon".into(),
        list_kind: "BalloonList".into(),
        plural: "balloons".into(),
        singular: "balloon".into(),
        short_names: vec![],
        columns: vec![Column::string("Gas", ".spec.gas"), Column::age()],
        selectable_fields: vec![".spec.gas".into()],
        schema: json!({
            "type": "object", "required": ["spec"],
            "properties": {
                "spec": {"type": "object", "required": ["site"], "properties": {
                    "site": {"type": "string", "minLength": 1},
                    "gas": {"type": "string", "enum": ["helium", "hydrogen"], "default": "helium"},
                    "height": {"type": "integer", "minimum": 0},
                    "note": {"type": "string", "nullable": true},
                    "sensors": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                    "limits": {"type": "object", "additionalProperties": {"type": "number"}},
                }},
                "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            },
        }),
        description: "A weather balloon.".into(),
        ..stations()
    }
}

fn flights() -> ResourceDefinition {
    ResourceDefinition {
        kind: "Flight".into(),
        list_kind: "FlightList".into(),
        plural: "flights".into(),
        singular: "flight".into(),
        scope: Scope::Namespaced,
        ..balloons()
    }
}

/// What replicas share.
#[derive(Default)]
pub(crate) struct Store {
    records: Mutex<BTreeMap<ObjectKey, (u64, Value)>>,
    next: AtomicU64,
    pub(crate) writes: AtomicUsize,
}

impl Store {
    pub(crate) fn record(&self, key: &ObjectKey) -> Option<(u64, Value)> {
        self.records.lock().unwrap().get(key).cloned()
    }

    fn swap(
        &self,
        key: &ObjectKey,
        expected: Option<&Revision>,
        object: Option<Value>,
    ) -> Result<Revision, StorageError> {
        let mut records = self.records.lock().unwrap();
        let found = records.get(key).map(|(revision, _)| revision.to_string()).unwrap_or_default();
        match expected {
            None if !found.is_empty() => return Err(StorageError::Exists),
            Some(expected) if expected.as_str() != found => return Err(StorageError::Conflict),
            _ => {}
        }
        let revision = self.next.fetch_add(1, Ordering::SeqCst) + 1;
        self.writes.fetch_add(1, Ordering::SeqCst);
        match object {
            Some(object) => records.insert(key.clone(), (revision, object)),
            None => records.remove(key),
        };
        Ok(Revision::new(&revision.to_string()))
    }
}

/// One replica's view of the store.
pub(crate) struct Replica {
    pub(crate) store: Arc<Store>,
    pub(crate) collection: Arc<Collection>,
    /// False while it hears nothing of the store.
    pub(crate) hears: AtomicBool,
    /// What fails every write.
    pub(crate) fault: Mutex<Option<fn() -> StorageError>>,
    counter: AtomicU64,
}

impl Replica {
    pub(crate) fn new(store: Arc<Store>, collection: Arc<Collection>) -> Arc<Self> {
        let (hears, fault, counter) = (AtomicBool::new(true), Mutex::new(None), AtomicU64::new(0));
        Arc::new(Self { store, collection, hears, fault, counter })
    }

    /// Shows what is stored of an object, with a status that moves each time.
    pub(crate) fn show(&self, key: &ObjectKey) {
        match self.store.record(key) {
            Some((revision, mut object)) => {
                object["status"] = json!({"readings": self.counter.fetch_add(1, Ordering::SeqCst)});
                let revision = Revision::new(&revision.to_string());
                self.collection.publish_from(object, revision).unwrap();
            }
            None => drop(self.collection.withdraw(key)),
        }
    }

    fn written(&self, key: &ObjectKey) {
        if self.hears.load(Ordering::SeqCst) {
            self.show(key);
        }
    }

    fn swap(
        &self,
        key: &ObjectKey,
        expected: Option<&Revision>,
        object: Option<Value>,
    ) -> Result<Revision, StorageError> {
        if let Some(fault) = *self.fault.lock().unwrap() {
            return Err(fault());
        }
        let outcome = self.store.swap(key, expected, object);
        self.written(key);
        outcome
    }
}

/// A replica as the storage of its resource.
pub(crate) struct Stored(pub(crate) Arc<Replica>);

impl Storage for Stored {
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

/// The site of a balloon cannot be changed, and `moon` is none.
pub(crate) struct Rules;

impl Strategy for Rules {
    fn validate(&self, object: &Value) -> Vec<Cause> {
        if object["spec"]["site"] == "moon" {
            return vec![Cause::invalid("spec.site", "moon", "there is no weather")];
        }
        Vec::new()
    }

    fn validate_update(&self, old: &Value, new: &Value) -> Vec<Cause> {
        if old["spec"]["site"] != new["spec"]["site"] {
            return vec![Cause::invalid("spec.site", new["spec"]["site"].clone(), "field is immutable")];
        }
        Vec::new()
    }

    fn warnings(&self, object: &Value) -> Vec<String> {
        let burns = object["spec"]["gas"] == "hydrogen";
        burns.then(|| "spec.gas: hydrogen burns".to_owned()).into_iter().collect()
    }
}

/// A server with balloons and flights, and somebody who may do everything.
pub(crate) struct Written {
    pub(crate) fixture: Fixture,
    pub(crate) balloons: Arc<Replica>,
    pub(crate) client: Client,
}

impl Written {
    pub(crate) async fn start() -> Self {
        Self::on(Arc::default(), 1, WriteVerbs::ALL).await
    }

    /// The same, with somebody else who says what is allowed.
    pub(crate) async fn allowing(authorizer: Arc<dyn Authorizer>) -> Self {
        let verbs = WriteVerbs::ALL;
        Self::built(Arc::default(), 1, verbs, Arc::new(NoReplicas), |builder| builder.authorizer(authorizer))
            .await
    }

    /// A replica of this slot on a store.
    pub(crate) async fn on(store: Arc<Store>, slot: u8, verbs: WriteVerbs) -> Self {
        Self::built(store, slot, verbs, Arc::new(NoReplicas), |builder| builder).await
    }

    /// A replica that knows something of others.
    pub(crate) async fn beside(store: Arc<Store>, slot: u8, replicas: Arc<dyn Replicas>) -> Self {
        Self::built(store, slot, WriteVerbs::ALL, replicas, |builder| builder).await
    }

    async fn built(
        store: Arc<Store>,
        slot: u8,
        verbs: WriteVerbs,
        replicas: Arc<dyn Replicas>,
        more: impl FnOnce(ServerBuilder) -> ServerBuilder,
    ) -> Self {
        let clock = Arc::new(VersionClock::new(slot));
        let collection = |definition| {
            Collection::new(definition, Arc::clone(&clock), CollectionOptions::default()).unwrap()
        };
        let served = |replica: &Arc<Replica>| {
            let writing = Writing::new(Arc::new(Stored(Arc::clone(replica))));
            let writing = writing.strategy(Arc::new(Rules)).verbs(verbs).replicas(Arc::clone(&replicas));
            ServedResource::new(Arc::clone(&replica.collection)).written(writing)
        };
        let balloons = Replica::new(store, collection(balloons()));
        let flights = Replica::new(Arc::default(), collection(flights()));
        let fixture = Fixture::with(Settings::default(), |builder| {
            more(builder.resource(served(&balloons)).resource(served(&flights)))
        })
        .await;
        let client = fixture.as_client(Some(&fixture.clients.client("ada", &["admins"]))).await;
        Self { fixture, balloons, client }
    }

    pub(crate) async fn call(&self, method: Method, path: &str, media_type: &str, body: &str) -> Answer {
        let headers = [("content-type", media_type), ("user-agent", "tests/1.0")];
        self.client.call_with(method, path, &headers, body.to_owned()).await
    }

    pub(crate) async fn post(&self, path: &str, object: &Value) -> Answer {
        self.call(Method::POST, path, "application/json", &object.to_string()).await
    }

    pub(crate) async fn put(&self, path: &str, object: &Value) -> Answer {
        self.call(Method::PUT, path, "application/json", &object.to_string()).await
    }

    pub(crate) async fn merge(&self, path: &str, patch: &Value) -> Answer {
        self.call(Method::PATCH, path, "application/merge-patch+json", &patch.to_string()).await
    }

    pub(crate) async fn json_patch(&self, path: &str, patch: &Value) -> Answer {
        self.call(Method::PATCH, path, "application/json-patch+json", &patch.to_string()).await
    }

    pub(crate) async fn apply(&self, path: &str, object: &Value) -> Answer {
        self.call(Method::PATCH, path, "application/apply-patch+yaml", &object.to_string()).await
    }

    pub(crate) async fn delete(&self, path: &str, options: &Value) -> Answer {
        let body = if options.is_null() { String::new() } else { options.to_string() };
        self.call(Method::DELETE, path, "application/json", &body).await
    }

    /// A balloon that is there, as it is shown.
    pub(crate) async fn with_balloon(&self, name: &str, spec: Value) -> Value {
        let answer = self.post(BALLOONS, &balloon(name, spec)).await;
        assert_eq!(answer.code, 201, "{:?}", answer.body);
        answer.json()
    }

    pub(crate) async fn shown(&self, name: &str) -> Value {
        self.client.get(&format!("{BALLOONS}/{name}")).await.json()
    }

    pub(crate) fn writes(&self) -> usize {
        self.balloons.store.writes.load(Ordering::SeqCst)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the calls are easier to read")]
pub(crate) fn balloon(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "weather.example.com/v1", "kind": "Balloon", "metadata": {"name": name}, "spec": spec})
}

pub(crate) fn warnings(answer: &Answer) -> Vec<String> {
    answer.headers.get_all("warning").iter().map(|value| value.to_str().unwrap().to_owned()).collect()
}

/// Code, reason and message of a refusal.
pub(crate) fn refusal(answer: &Answer) -> (u16, String, String) {
    let status = answer.json();
    assert_eq!((&status["kind"], &status["status"]), (&json!("Status"), &json!("Failure")), "{status}");
    assert_eq!(status["code"], answer.code);
    let text = |field: &str| status[field].as_str().unwrap_or_default().to_owned();
    (answer.code, text("reason"), text("message"))
}
