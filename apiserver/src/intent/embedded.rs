//! The intent store in one redb file: a single writer transaction is the compare-and-swap, and a commit is durable.

use std::path::Path;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};
use tokio::sync::broadcast;
use uuid::Uuid;

use super::{IntentChanges, IntentError, IntentKey, IntentRecord, IntentStore, Version, Wish};

const RECORDS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("intent");
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");

/// Layout of the records; raised, with a migration, when it changes.
const FORMAT: u64 = 1;

/// Changes that a slow follower may be behind.
const CHANGES_KEPT: usize = 256;

/// Intent in an embedded database.
#[derive(Debug)]
pub struct EmbeddedStore {
    database: Arc<Database>,
    changes: broadcast::Sender<IntentKey>,
}

impl EmbeddedStore {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// When the file cannot be opened, is in use, or was written by a later version.
    pub fn open(file: &Path) -> Result<Self, IntentError> {
        let name = file.display().to_string();
        let database = Database::create(file).map_err(|error| open_error(&name, error))?;
        Self::prepare(database, &name)
    }

    /// A store that is gone with the process.
    ///
    /// # Errors
    /// When the database cannot be made.
    pub fn in_memory() -> Result<Self, IntentError> {
        let database = Database::builder()
            .create_with_backend(redb::backends::InMemoryBackend::new())
            .map_err(|error| open_error("memory", error))?;
        Self::prepare(database, "memory")
    }

    fn prepare(database: Database, name: &str) -> Result<Self, IntentError> {
        let transaction = database.begin_write().map_err(|error| open_error(name, error))?;
        {
            let mut numbers = transaction.open_table(NUMBERS).map_err(|error| open_error(name, error))?;
            let found =
                numbers.get("format").map_err(|error| open_error(name, error))?.map(|guard| guard.value());
            match found {
                Some(found) if found > FORMAT => {
                    return Err(IntentError::Format { found, supported: FORMAT });
                }
                Some(_) => {}
                None => {
                    numbers.insert("format", FORMAT).map_err(|error| open_error(name, error))?;
                }
            }
            transaction.open_table(RECORDS).map_err(|error| open_error(name, error))?;
        }
        transaction.commit().map_err(|error| open_error(name, error))?;
        Ok(Self { database: Arc::new(database), changes: broadcast::Sender::new(CHANGES_KEPT) })
    }

    /// Runs a blocking operation where it does not hold up the server.
    fn run<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&Database) -> Result<T, IntentError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, IntentError>> {
        let database = Arc::clone(&self.database);
        async move {
            tokio::task::spawn_blocking(move || operation(&database))
                .await
                .map_err(|_| IntentError::Interrupted)?
        }
        .boxed()
    }
}

impl IntentStore for EmbeddedStore {
    fn get<'a>(&'a self, key: &'a IntentKey) -> BoxFuture<'a, Result<Option<IntentRecord>, IntentError>> {
        let key = key.clone();
        self.run(move |database| {
            let failed = |source| read_error(key.to_string(), source);
            let records = database.begin_read().map_err(|error| failed(error.into()))?;
            let records = records.open_table(RECORDS).map_err(|error| failed(error.into()))?;
            let found = records.get(key.encoded().as_str()).map_err(|error| failed(error.into()))?;
            found.map(|bytes| decode(&key.encoded(), bytes.value())).transpose()
        })
    }

    fn list<'a>(&'a self, kind: &'a str) -> BoxFuture<'a, Result<Vec<IntentRecord>, IntentError>> {
        let kind = kind.to_owned();
        self.run(move |database| {
            let failed = |source| read_error(format!("all of kind {kind}"), source);
            let records = database.begin_read().map_err(|error| failed(error.into()))?;
            let records = records.open_table(RECORDS).map_err(|error| failed(error.into()))?;
            // `0` follows `/` in ASCII, so this is every key that starts with the kind and a slash.
            let (first, end) = (format!("{kind}/"), format!("{kind}0"));
            let range = records.range(first.as_str()..end.as_str()).map_err(|error| failed(error.into()))?;
            range
                .map(|entry| {
                    let (key, bytes) = entry.map_err(|error| failed(error.into()))?;
                    decode(key.value(), bytes.value())
                })
                .collect()
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a IntentKey,
        expected: Option<u64>,
        wish: Wish,
    ) -> BoxFuture<'a, Result<IntentRecord, IntentError>> {
        let key = key.clone();
        let changes = self.changes.clone();
        self.run(move |database| {
            let record = write(database, &key, |earlier, version| {
                compare(&key, expected, earlier)?;
                Ok(Some(renewed(&key, earlier, version, wish)))
            })?;
            // Nobody following is no error.
            let _ = changes.send(key.clone());
            record.ok_or(IntentError::Interrupted)
        })
    }

    fn remove<'a>(
        &'a self,
        key: &'a IntentKey,
        expected: u64,
    ) -> BoxFuture<'a, Result<IntentRecord, IntentError>> {
        let key = key.clone();
        let changes = self.changes.clone();
        self.run(move |database| {
            let mut removed = None;
            write(database, &key, |earlier, _| {
                compare(&key, Some(expected), earlier)?;
                removed = earlier.cloned();
                Ok(None)
            })?;
            let _ = changes.send(key.clone());
            removed.ok_or(IntentError::Interrupted)
        })
    }

    fn changes(&self) -> IntentChanges {
        self.changes.subscribe()
    }
}

/// Lets `decide` turn the stored record (and the version of this write) into the next one, in one transaction.
/// A transaction that is not committed leaves no trace.
fn write(
    database: &Database,
    key: &IntentKey,
    decide: impl FnOnce(Option<&IntentRecord>, u64) -> Result<Option<IntentRecord>, IntentError>,
) -> Result<Option<IntentRecord>, IntentError> {
    let failed = |source: redb::Error| IntentError::Write { key: key.clone(), source: Box::new(source) };
    let transaction = database.begin_write().map_err(|error| failed(error.into()))?;
    let next = {
        let mut records = transaction.open_table(RECORDS).map_err(|error| failed(error.into()))?;
        let mut numbers = transaction.open_table(NUMBERS).map_err(|error| failed(error.into()))?;
        let last =
            numbers.get("version").map_err(|error| failed(error.into()))?.map_or(0, |guard| guard.value());
        let encoded = key.encoded();
        let earlier = records.get(encoded.as_str()).map_err(|error| failed(error.into()))?;
        let earlier = earlier.map(|bytes| decode(&encoded, bytes.value())).transpose()?;
        let next = decide(earlier.as_ref(), last + 1)?;
        match &next {
            Some(record) => {
                let bytes = serde_json::to_vec(record)
                    .map_err(|source| IntentError::Record { key: encoded.clone(), source })?;
                records.insert(encoded.as_str(), bytes.as_slice()).map_err(|error| failed(error.into()))?;
            }
            None => {
                records.remove(encoded.as_str()).map_err(|error| failed(error.into()))?;
            }
        }
        numbers.insert("version", last + 1).map_err(|error| failed(error.into()))?;
        next
    };
    transaction.commit().map_err(|error| failed(error.into()))?;
    Ok(next)
}

fn compare(
    key: &IntentKey,
    expected: Option<u64>,
    earlier: Option<&IntentRecord>,
) -> Result<(), IntentError> {
    let found = earlier.map(|record| record.version);
    if found == expected {
        return Ok(());
    }
    Err(IntentError::Conflict { key: key.clone(), expected: Version(expected), found: Version(found) })
}

fn renewed(key: &IntentKey, earlier: Option<&IntentRecord>, version: u64, wish: Wish) -> IntentRecord {
    let (uid, created, generation) = match earlier {
        Some(record) if record.wish.spec == wish.spec => (record.uid, record.created, record.generation),
        Some(record) => (record.uid, record.created, record.generation + 1),
        None => (Uuid::new_v4(), Timestamp::now(), 1),
    };
    IntentRecord { key: key.clone(), uid, created, generation, version, wish }
}

fn decode(key: &str, bytes: &[u8]) -> Result<IntentRecord, IntentError> {
    serde_json::from_slice(bytes).map_err(|source| IntentError::Record { key: key.to_owned(), source })
}

fn open_error(file: &str, error: impl Into<redb::Error>) -> IntentError {
    IntentError::Open { file: file.to_owned(), source: Box::new(error.into()) }
}

fn read_error(what: String, source: redb::Error) -> IntentError {
    IntentError::Read { what, source: Box::new(source) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wish(reason: &str) -> Wish {
        Wish { spec: json!({ "reason": reason }), ..Wish::default() }
    }

    #[tokio::test]
    async fn a_write_that_expects_another_version_changes_nothing() {
        let store = EmbeddedStore::in_memory().unwrap();
        let key = IntentKey::cluster("Eviction", "host-1");
        let first = store.put(&key, None, wish("a")).await.unwrap();
        let refused = store.put(&key, None, wish("b")).await.unwrap_err();
        assert!(matches!(refused, IntentError::Conflict { .. }), "{refused}");
        let second = store.put(&key, Some(first.version), wish("b")).await.unwrap();
        assert!(store.put(&key, Some(first.version), wish("c")).await.is_err());
        assert!(store.remove(&key, first.version).await.is_err());
        assert_eq!(store.get(&key).await.unwrap().unwrap(), second);
    }

    #[tokio::test]
    async fn the_generation_grows_with_the_spec_only() {
        let store = EmbeddedStore::in_memory().unwrap();
        let key = IntentKey::cluster("Hypervisor", "host-1");
        let first = store.put(&key, None, wish("a")).await.unwrap();
        let labelled = Wish { labels: [("a".to_owned(), "b".to_owned())].into(), ..wish("a") };
        let second = store.put(&key, Some(first.version), labelled).await.unwrap();
        let third = store.put(&key, Some(second.version), wish("b")).await.unwrap();
        assert_eq!((first.generation, second.generation, third.generation), (1, 1, 2));
        assert_eq!(first.uid, third.uid);
        assert!(first.version < second.version && second.version < third.version);
    }

    #[tokio::test]
    async fn a_wish_made_again_is_another_one() {
        let store = EmbeddedStore::in_memory().unwrap();
        let key = IntentKey::cluster("Eviction", "host-1");
        let first = store.put(&key, None, wish("a")).await.unwrap();
        store.remove(&key, first.version).await.unwrap();
        let again = store.put(&key, None, wish("a")).await.unwrap();
        assert_ne!(first.uid, again.uid);
        assert!(again.version > first.version);
    }

    #[tokio::test]
    async fn what_was_acknowledged_is_there_after_reopening() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("intent.redb");
        let key = IntentKey::cluster("Eviction", "host-1");
        let stored = {
            let store = EmbeddedStore::open(&file).unwrap();
            store.put(&key, None, wish("a")).await.unwrap()
        };
        let store = EmbeddedStore::open(&file).unwrap();
        assert_eq!(store.list("Eviction").await.unwrap(), vec![stored]);
        assert_eq!(store.list("Evictio").await.unwrap(), vec![]);
    }

    #[tokio::test]
    async fn followers_hear_of_every_write() {
        let store = EmbeddedStore::in_memory().unwrap();
        let mut changes = store.changes();
        let key = IntentKey::cluster("Eviction", "host-1");
        let stored = store.put(&key, None, wish("a")).await.unwrap();
        store.remove(&key, stored.version).await.unwrap();
        assert_eq!(changes.recv().await.unwrap(), key);
        assert_eq!(changes.recv().await.unwrap(), key);
    }
}
