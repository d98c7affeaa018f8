//! The intent store in one redb file: a single writer transaction is the compare-and-swap, and a commit is durable.
//!
//! Intent is small, so all of it is in memory as well, as far as it is durable: readers never wait for the disk, and
//! what was stored can be read while the disk is full, read-only or gone. Every failed write closes the file; the next one
//! opens it again and looks what really is in it.

mod failure;
mod file;
mod format_1;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::Value;

pub use self::file::read_only;

use self::failure::Failure;
use self::file::{OpenFile, Place};
use super::error::Found;
use super::known::Known;
use super::record::encoded;
use super::{
    IntentChanges, IntentError, IntentKey, IntentRecord, IntentSnapshot, IntentStore, StoreVersion, Trouble,
};

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
    durable: Known,
}

impl EmbeddedStore {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// When the file cannot be opened, is in use, or was written by a later version.
    pub fn open(file: &Path) -> Result<Self, IntentError> {
        Self::at(Place::file(file))
    }

    /// The number of this process among those that used the file: another one each time, of 64.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn begin_process(&self) -> Result<u8, IntentError> {
        let writer = self.inner.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = writer.as_ref().map_or(Ok(0), OpenFile::begin_process);
        begun
            .map(|number| u8::try_from(number % 64).unwrap_or_default())
            .map_err(|failure| IntentError::Open { store: self.inner.place.name(), source: failure.source })
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
        let inner = Inner { place, writer: Mutex::new(Some(file)), durable: Known::new(contents) };
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
        let found = self.inner.durable.get(key);
        async move { Ok(found) }.boxed()
    }

    fn snapshot(&self) -> BoxFuture<'_, Result<IntentSnapshot, IntentError>> {
        let snapshot = self.inner.durable.snapshot();
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
    ) -> BoxFuture<'a, Result<(), IntentError>> {
        let (key, expected) = (key.clone(), expected.clone());
        self.run(move |inner| inner.write(&key, Some(&expected), None).map(|_| ()))
    }

    fn changes(&self) -> IntentChanges {
        self.inner.durable.follow()
    }
}

impl Inner {
    /// One compare-and-swap. Returns the record as it is now.
    fn write(
        &self,
        key: &IntentKey,
        expected: Option<&StoreVersion>,
        object: Option<Value>,
    ) -> Result<Option<IntentRecord>, IntentError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.reopened(&mut writer, key)?;
        let (earlier, revision) = (self.durable.get(key), self.durable.revision() + 1);
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
        let bytes = record.as_ref().map(encoded).transpose()?;
        match file.write(&key.encoded(), bytes.as_deref(), revision) {
            Ok(()) => {
                self.durable.tell(key, record.clone(), revision);
                Ok(record)
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
                self.durable.replace(&contents);
                file
            }
        };
        Ok(writer.insert(file))
    }

    /// A write that failed may have been stored all the same: the file, opened again, says so.
    fn outcome(&self, key: &IntentKey, revision: u64, known: bool, failure: Failure) -> IntentError {
        let stored = self.durable.revision() >= revision;
        let trouble = match (known, stored) {
            (true, false) => failure.trouble,
            (true, true) => Trouble::Unanswered,
            // The file cannot be looked at; why the disk refuses tells more than that.
            (false, _) if matches!(failure.trouble, Trouble::Full | Trouble::ReadOnly) => failure.trouble,
            (false, _) => Trouble::Unanswered,
        };
        IntentError::Write { key: key.clone(), trouble, source: failure.source }
    }
}

#[cfg(test)]
mod tests;
