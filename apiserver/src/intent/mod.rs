//! Intent: what people want, small and stored. Everything else an object shows is computed.
//!
//! ```text
//!  write path ── put / remove (compare and swap) ──► IntentStore ── changes ──► inventory ──► published objects
//! ```
//!
//! One trait; a write is acknowledged after it is durable and only if nobody wrote in between. The store does not know
//! what a record means. The embedded file is the store of a standalone server and of the demo; the custom resource of the
//! hosting cluster serves the same trait to several replicas.

mod embedded;
mod error;
mod key;
mod known;
mod kubernetes;
mod record;

use std::fmt;

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::broadcast;

pub use self::embedded::{EmbeddedStore, read_only};
pub use self::error::{IntentError, Trouble};
pub use self::key::IntentKey;
pub use self::kubernetes::{DefinitionError, KubernetesStore, StoreDefinition};
pub use self::record::{IntentRecord, StoreVersion, declaration, identity};

/// One write, as everybody who follows the store hears of it, in the order of the writes.
#[derive(Debug, Clone, PartialEq)]
pub struct IntentChange {
    /// Which record.
    pub key: IntentKey,
    /// What is stored now; `None`: nothing any more.
    pub record: Option<IntentRecord>,
    /// The number of this write. All writes with smaller numbers have been told before.
    pub revision: u64,
}

/// Changes from the moment of the call. A receiver that lagged has to take a [`IntentSnapshot`] again.
pub type IntentChanges = broadcast::Receiver<IntentChange>;

/// All that is stored at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IntentSnapshot {
    /// All records, by kind, namespace and name.
    pub records: Vec<IntentRecord>,
    /// The last write that is in it. Changes up to this one are old.
    pub through: u64,
}

/// Where intent lives.
pub trait IntentStore: fmt::Debug + Send + Sync {
    /// The record of that key as it is now, if there is one.
    fn get<'a>(&'a self, key: &'a IntentKey) -> BoxFuture<'a, Result<Option<IntentRecord>, IntentError>>;

    /// All records at one moment.
    fn snapshot(&self) -> BoxFuture<'_, Result<IntentSnapshot, IntentError>>;

    /// Stores an object if the record still has the version `expected`; `None` expects that there is no record. It is
    /// durable when this returns.
    fn put<'a>(
        &'a self,
        key: &'a IntentKey,
        expected: Option<&'a StoreVersion>,
        object: Value,
    ) -> BoxFuture<'a, Result<IntentRecord, IntentError>>;

    /// Removes the record if it still has the version `expected`, durably.
    fn remove<'a>(
        &'a self,
        key: &'a IntentKey,
        expected: &'a StoreVersion,
    ) -> BoxFuture<'a, Result<(), IntentError>>;

    /// Writes from now on.
    fn changes(&self) -> IntentChanges;

    /// Why what is known of the store may be old; `None` while it is followed.
    fn silence(&self) -> Option<String> {
        None
    }

    /// All records of a kind, in the order of their names.
    fn list<'a>(&'a self, kind: &'a str) -> BoxFuture<'a, Result<Vec<IntentRecord>, IntentError>> {
        Box::pin(async move {
            let mut records = self.snapshot().await?.records;
            records.retain(|record| record.key.kind == kind);
            Ok(records)
        })
    }
}
