//! A store that is written to only while this replica holds its slot.
//!
//! Without the slot, other replicas cannot know what this one has read. What it shows stays readable.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::watch;

use super::Standing;
use crate::intent::{
    IntentChanges, IntentError, IntentKey, IntentRecord, IntentSnapshot, IntentStore, StoreVersion, Trouble,
};

/// A store, and whether it may be written to.
#[derive(Debug)]
pub struct Guarded {
    store: Arc<dyn IntentStore>,
    standing: watch::Receiver<Standing>,
}

impl Guarded {
    /// That store, while the replica stands.
    pub fn new(store: Arc<dyn IntentStore>, standing: watch::Receiver<Standing>) -> Self {
        Self { store, standing }
    }

    fn may_write(&self, key: &IntentKey) -> Result<(), IntentError> {
        match &*self.standing.borrow() {
            Standing::Held => Ok(()),
            Standing::Adrift(why) => {
                let source = format!("this replica could not renew its slot: {why}").into();
                Err(IntentError::Write { key: key.clone(), trouble: Trouble::Unavailable, source })
            }
        }
    }
}

impl IntentStore for Guarded {
    fn get<'a>(&'a self, key: &'a IntentKey) -> BoxFuture<'a, Result<Option<IntentRecord>, IntentError>> {
        self.store.get(key)
    }

    fn snapshot(&self) -> BoxFuture<'_, Result<IntentSnapshot, IntentError>> {
        self.store.snapshot()
    }

    fn put<'a>(
        &'a self,
        key: &'a IntentKey,
        expected: Option<&'a StoreVersion>,
        object: Value,
    ) -> BoxFuture<'a, Result<IntentRecord, IntentError>> {
        async move {
            self.may_write(key)?;
            self.store.put(key, expected, object).await
        }
        .boxed()
    }

    fn remove<'a>(
        &'a self,
        key: &'a IntentKey,
        expected: &'a StoreVersion,
    ) -> BoxFuture<'a, Result<(), IntentError>> {
        async move {
            self.may_write(key)?;
            self.store.remove(key, expected).await
        }
        .boxed()
    }

    fn changes(&self) -> IntentChanges {
        self.store.changes()
    }

    fn silence(&self) -> Option<String> {
        self.store.silence()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::intent::{EmbeddedStore, declaration};

    #[tokio::test]
    async fn a_replica_without_its_slot_answers_503_to_writes_and_reads_on() {
        let (stand, standing) = watch::channel(Standing::Held);
        let store = Guarded::new(Arc::new(EmbeddedStore::in_memory().unwrap()), standing);
        let key = IntentKey::cluster("Eviction", "e");
        let stored = store.put(&key, None, declaration(&key, &json!({}))).await.unwrap();
        stand.send(Standing::Adrift("no answer in time".to_owned())).unwrap();
        let refused = store.remove(&key, &stored.version).await.unwrap_err();
        assert_eq!(refused.status(), 503);
        assert!(store.put(&key, None, json!({})).await.is_err_and(|error| error.status() == 503));
        assert_eq!(store.get(&key).await.unwrap(), Some(stored.clone()));
        stand.send(Standing::Held).unwrap();
        store.remove(&key, &stored.version).await.unwrap();
    }
}
