//! The intent store as the storage of a written kind.

use std::sync::Arc;

use aggregated_apiserver::{Collection, ObjectKey, Revision, Storage, StorageError};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::Bases;
use super::sparse::sparse;
use crate::intent::{self, IntentError, IntentKey, IntentRecord, IntentStore, StoreVersion, Trouble};
use crate::sources::observation::chain;

/// Hypervisors or Evictions in the intent store.
#[derive(Debug)]
pub struct IntentStorage {
    kind: &'static str,
    store: Arc<dyn IntentStore>,
    /// Of kinds whose objects exist also without intent.
    bases: Option<Arc<Bases>>,
    /// Of kinds whose objects go with a Hypervisor.
    hypervisors: Option<Arc<Collection>>,
}

impl IntentStorage {
    /// Hypervisors: what is stored is what differs from the base.
    pub fn hypervisors(store: Arc<dyn IntentStore>, bases: Arc<Bases>) -> Self {
        Self { kind: c5c3_api::hypervisor::KIND.kind, store, bases: Some(bases), hypervisors: None }
    }

    /// Evictions: they are stored whole, and go with the Hypervisor that they were made for.
    pub fn evictions(store: Arc<dyn IntentStore>, hypervisors: Arc<Collection>) -> Self {
        Self { kind: c5c3_api::eviction::KIND.kind, store, bases: None, hypervisors: Some(hypervisors) }
    }

    fn key(&self, key: &ObjectKey) -> IntentKey {
        IntentKey {
            kind: self.kind.to_owned(),
            namespace: key.namespace.clone().unwrap_or_default(),
            name: key.name.clone(),
        }
    }

    /// The record that a writer has seen, or a conflict.
    async fn seen(&self, key: &IntentKey, expected: &Revision) -> Result<Option<IntentRecord>, StorageError> {
        let record = self.store.get(key).await.map_err(fault)?;
        let found = record.as_ref().map_or("", |record| record.version.as_str());
        if found == expected.as_str() { Ok(record) } else { Err(StorageError::Conflict) }
    }

    async fn put(
        &self,
        key: &IntentKey,
        expected: Option<&StoreVersion>,
        object: Value,
    ) -> Result<Revision, StorageError> {
        let stored = self.store.put(key, expected, object).await.map_err(fault)?;
        Ok(Revision::new(stored.version.as_str()))
    }

    async fn create_one(&self, key: &ObjectKey, object: &Value) -> Result<Revision, StorageError> {
        let base = self.bases.as_ref().map(|bases| bases.spec(&key.name));
        let mut object = sparse(None, None, object, base.as_ref());
        if let Some(hypervisors) = &self.hypervisors {
            add_owner(&mut object, hypervisors);
        }
        let key = self.key(key);
        // What only says who an object was that is not there any more stands in nobody's way.
        let left = self.store.get(&key).await.map_err(fault)?;
        match left {
            Some(record) if record.is_declaration() => Err(StorageError::Exists),
            left => self.put(&key, left.as_ref().map(|record| &record.version), object).await,
        }
    }

    async fn replace_one(
        &self,
        key: &ObjectKey,
        expected: &Revision,
        old: &Value,
        new: &Value,
    ) -> Result<Revision, StorageError> {
        let base = self.bases.as_ref().map(|bases| bases.spec(&key.name));
        let key = self.key(key);
        let record = self.seen(&key, expected).await?;
        let object = sparse(record.as_ref().map(|record| &record.object), Some(old), new, base.as_ref());
        self.put(&key, record.as_ref().map(|record| &record.version), object).await
    }

    async fn remove_one(&self, key: &ObjectKey, expected: &Revision) -> Result<(), StorageError> {
        let exists_anyway = self.bases.as_ref().is_some_and(|bases| bases.exists(&key.name));
        let key = self.key(key);
        let record = self.seen(&key, expected).await?;
        let version = record.as_ref().map(|record| &record.version);
        if exists_anyway {
            // It comes back at once, and as somebody else.
            return self.put(&key, version, intent::identity(&key)).await.map(drop);
        }
        match version {
            Some(version) => self.store.remove(&key, version).await.map_err(fault),
            None => Ok(()),
        }
    }
}

impl Storage for IntentStorage {
    fn create<'a>(
        &'a self,
        key: &'a ObjectKey,
        object: &'a Value,
    ) -> BoxFuture<'a, Result<Revision, StorageError>> {
        self.create_one(key, object).boxed()
    }

    fn replace<'a>(
        &'a self,
        key: &'a ObjectKey,
        expected: &'a Revision,
        old: &'a Value,
        new: &'a Value,
    ) -> BoxFuture<'a, Result<Revision, StorageError>> {
        self.replace_one(key, expected, old, new).boxed()
    }

    fn remove<'a>(
        &'a self,
        key: &'a ObjectKey,
        expected: &'a Revision,
        _object: &'a Value,
    ) -> BoxFuture<'a, Result<(), StorageError>> {
        self.remove_one(key, expected).boxed()
    }
}

/// The Hypervisor that an Eviction names, if there is one, becomes its owner.
fn add_owner(eviction: &mut Value, hypervisors: &Collection) {
    let name = eviction.pointer("/spec/hypervisor").and_then(Value::as_str).unwrap_or_default();
    let Some(host) = hypervisors.get(&ObjectKey::cluster(name)) else { return };
    let Some(metadata) = eviction.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let owners = metadata.entry("ownerReferences").or_insert_with(|| json!([]));
    let Some(owners) = owners.as_array_mut() else { return };
    if owners.iter().any(|owner| owner.get("uid").and_then(Value::as_str) == Some(host.uid())) {
        return;
    }
    let mut owner = json!({"apiVersion": "hypervisor.c5c3.io/v1", "kind": "Hypervisor", "name": host.key().name, "uid": host.uid()});
    let is_controlled = owners.iter().any(|owner| owner.get("controller") == Some(&Value::Bool(true)));
    if let (false, Some(owner)) = (is_controlled, owner.as_object_mut()) {
        owner.insert("controller".to_owned(), true.into());
    }
    owners.push(owner);
}

/// What a fault of the intent store means to a writer.
fn fault(error: IntentError) -> StorageError {
    let text = chain(&error).to_string();
    match &error {
        IntentError::Conflict { .. } => StorageError::Conflict,
        IntentError::Write { trouble: Trouble::TooLarge, .. } => StorageError::TooLarge(text),
        IntentError::Write { trouble: Trouble::Full, .. } => StorageError::Full(text),
        IntentError::Write {
            trouble: Trouble::ReadOnly | Trouble::Unavailable | Trouble::Unanswered | Trouble::Forbidden,
            ..
        }
        | IntentError::Interrupted => StorageError::Unavailable(text),
        _ => StorageError::Fault { operation: "the intent store failed".to_owned(), source: Box::new(error) },
    }
}
