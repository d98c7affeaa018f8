//! The intent store in one redb file: a single writer transaction is the compare-and-swap, and a commit is durable.
//!
//! Intent is small, so all of it is in memory as well, as far as it is durable: readers never wait for the disk, and
//! what was stored can be read while the disk is full, read-only or gone. Every failed write closes the file; the next one
//! opens it again and looks what really is in it.

mod failure;
mod file;
mod format_1;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::broadcast;

pub use self::file::read_only;

use self::failure::Failure;
use self::file::{Contents, OpenFile, Place};
use super::error::Found;
use super::{
    IntentChange, IntentChanges, IntentError, IntentKey, IntentRecord, IntentSnapshot, IntentStore,
    StoreVersion, Trouble,
};

/// Changes that a slow follower may be behind.
const CHANGES_KEPT: usize = 1024;

/// Largest object, as JSON: what a custom resource could hold as well.
const LARGEST: usize = 1 << 20;

/// Intent in an embedded database.
#[derive(Debug, Clone)]
pub struct EmbeddedStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    place: Place,
    /// The open file; none after a failure. Whoever writes holds this until everybody has been told.
    writer: Mutex<Option<OpenFile>>,
    durable: RwLock<Contents>,
    changes: broadcast::Sender<IntentChange>,
}

impl EmbeddedStore {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// When the file cannot be opened, is in use, or was written by a later version.
    pub fn open(file: &Path) -> Result<Self, IntentError> {
        Self::at(Place::file(file))
    }

    /// A store that is gone with the process.
    ///
    /// # Errors
    /// When the database cannot be made.
    pub fn in_memory() -> Result<Self, IntentError> {
        Self::at(Place::memory())
    }

    fn at(place: Place) -> Result<Self, IntentError> {
        let (file, contents) = place.open()?;
        let inner = Inner {
            place,
            writer: Mutex::new(Some(file)),
            durable: RwLock::new(contents),
            changes: broadcast::Sender::new(CHANGES_KEPT),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Runs a blocking operation where it does not hold up the server.
    fn run<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&Inner) -> Result<T, IntentError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, IntentError>> {
        let inner = Arc::clone(&self.inner);
        async move {
            tokio::task::spawn_blocking(move || operation(&inner))
                .await
                .map_err(|_| IntentError::Interrupted)?
        }
        .boxed()
    }
}

impl IntentStore for EmbeddedStore {
    fn get<'a>(&'a self, key: &'a IntentKey) -> BoxFuture<'a, Result<Option<IntentRecord>, IntentError>> {
        let found = self.inner.read(|contents| contents.records.get(key).cloned());
        async move { Ok(found) }.boxed()
    }

    fn snapshot(&self) -> BoxFuture<'_, Result<IntentSnapshot, IntentError>> {
        let snapshot = self.inner.read(|contents| IntentSnapshot {
            records: contents.records.values().cloned().collect(),
            through: contents.revision,
        });
        async move { Ok(snapshot) }.boxed()
    }

    fn put<'a>(
        &'a self,
        key: &'a IntentKey,
        expected: Option<&'a StoreVersion>,
        object: Value,
    ) -> BoxFuture<'a, Result<IntentRecord, IntentError>> {
        let (key, expected) = (key.clone(), expected.cloned());
        self.run(move |inner| {
            let written = inner.write(&key, expected.as_ref(), Some(object))?;
            written.ok_or(IntentError::Interrupted)
        })
    }

    fn remove<'a>(
        &'a self,
        key: &'a IntentKey,
        expected: &'a StoreVersion,
    ) -> BoxFuture<'a, Result<IntentRecord, IntentError>> {
        let (key, expected) = (key.clone(), expected.clone());
        self.run(move |inner| {
            let removed = inner.write(&key, Some(&expected), None)?;
            removed.ok_or(IntentError::Interrupted)
        })
    }

    fn changes(&self) -> IntentChanges {
        self.inner.changes.subscribe()
    }
}

impl Inner {
    fn read<T>(&self, look: impl FnOnce(&Contents) -> T) -> T {
        look(&self.durable.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// One compare-and-swap. Returns the record as it is now or, for a removal, as it was.
    fn write(
        &self,
        key: &IntentKey,
        expected: Option<&StoreVersion>,
        object: Option<Value>,
    ) -> Result<Option<IntentRecord>, IntentError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.reopened(&mut writer, key)?;
        let (earlier, revision) =
            self.read(|contents| (contents.records.get(key).cloned(), contents.revision + 1));
        let found = earlier.as_ref().map(|record| &record.version);
        if found != expected {
            return Err(IntentError::Conflict {
                key: key.clone(),
                expected: Found(expected.cloned()),
                found: Found(found.cloned()),
            });
        }
        let version = StoreVersion::of(revision);
        let record = object.map(|object| IntentRecord { key: key.clone(), version, object });
        let bytes = record.as_ref().map(|record| encoded(record)).transpose()?;
        match file.write(&key.encoded(), bytes.as_deref(), revision) {
            Ok(()) => {
                self.tell(key, record.clone(), revision);
                Ok(record.or(earlier))
            }
            Err(failure) => {
                // What is in the file now is found out by opening it.
                *writer = None;
                let known = self.reopened(&mut writer, key).is_ok();
                Err(self.outcome(key, revision, known, failure))
            }
        }
    }

    /// The open file. After a failure it is opened again, and what it holds is taken for what is stored.
    fn reopened<'a>(
        &self,
        writer: &'a mut Option<OpenFile>,
        key: &IntentKey,
    ) -> Result<&'a OpenFile, IntentError> {
        let file = match writer.take() {
            Some(file) => file,
            None => {
                let (file, contents) = self.place.open().map_err(|error| Failure::of_open(error, key))?;
                self.take(contents);
                file
            }
        };
        Ok(writer.insert(file))
    }

    /// A write that failed may have been stored all the same: the file, opened again, says so.
    fn outcome(&self, key: &IntentKey, revision: u64, known: bool, failure: Failure) -> IntentError {
        let stored = self.read(|contents| contents.revision >= revision);
        let trouble = match (known, stored) {
            (true, false) => failure.trouble,
            (true, true) => Trouble::Unanswered,
            // The file cannot be looked at; why the disk refuses tells more than that.
            (false, _) if matches!(failure.trouble, Trouble::Full | Trouble::ReadOnly) => failure.trouble,
            (false, _) => Trouble::Unanswered,
        };
        IntentError::Write { key: key.clone(), trouble, source: failure.source }
    }

    /// Takes what the file holds, and tells what that changes.
    fn take(&self, contents: Contents) {
        let before = self.read(|contents| contents.records.clone());
        let news: BTreeMap<IntentKey, Option<IntentRecord>> = before
            .keys()
            .chain(contents.records.keys())
            .filter(|key| before.get(key) != contents.records.get(key))
            .map(|key| (key.clone(), contents.records.get(key).cloned()))
            .collect();
        let revision = contents.revision;
        for (key, record) in news {
            self.tell(&key, record, revision);
        }
        self.durable.write().unwrap_or_else(PoisonError::into_inner).revision = revision;
    }

    fn tell(&self, key: &IntentKey, record: Option<IntentRecord>, revision: u64) {
        {
            let mut durable = self.durable.write().unwrap_or_else(PoisonError::into_inner);
            match record.clone() {
                Some(record) => durable.records.insert(key.clone(), record),
                None => durable.records.remove(key),
            };
            durable.revision = revision;
        }
        // Nobody following is no error.
        let _ = self.changes.send(IntentChange { key: key.clone(), record, revision });
    }
}

fn encoded(record: &IntentRecord) -> Result<Vec<u8>, IntentError> {
    let bytes = serde_json::to_vec(record)
        .map_err(|source| IntentError::Record { key: record.key.to_string(), source })?;
    if bytes.len() > LARGEST {
        let source = format!("{} bytes; the limit is {LARGEST}", bytes.len()).into();
        return Err(IntentError::Write { key: record.key.clone(), trouble: Trouble::TooLarge, source });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
