//! Intent: what people want, small and stored. Everything else an object shows is computed.
//!
//! One trait; a write is acknowledged after it is durable and only if nobody wrote in between. The embedded file is
//! the store of a standalone server and of the demo; a store on a custom resource of the hosting cluster serves the
//! same trait to several replicas.

mod embedded;
mod record;

use std::fmt;

use futures::future::BoxFuture;
use thiserror::Error;
use tokio::sync::broadcast;

pub use self::embedded::EmbeddedStore;
pub use self::record::{IntentKey, IntentRecord, Wish};

/// Something in the store changed: read it again.
pub type IntentChanges = broadcast::Receiver<IntentKey>;

/// Where intent lives.
pub trait IntentStore: fmt::Debug + Send + Sync {
    /// The record of that key, if there is one.
    fn get<'a>(&'a self, key: &'a IntentKey) -> BoxFuture<'a, Result<Option<IntentRecord>, IntentError>>;

    /// All records of a kind, in the order of their names.
    fn list<'a>(&'a self, kind: &'a str) -> BoxFuture<'a, Result<Vec<IntentRecord>, IntentError>>;

    /// Stores a wish if the record still has the version `expected`; `None` expects that there is no record.
    /// The generation grows when, and only when, the spec differs.
    fn put<'a>(
        &'a self,
        key: &'a IntentKey,
        expected: Option<u64>,
        wish: Wish,
    ) -> BoxFuture<'a, Result<IntentRecord, IntentError>>;

    /// Removes the record if it still has the version `expected`, and returns it.
    fn remove<'a>(
        &'a self,
        key: &'a IntentKey,
        expected: u64,
    ) -> BoxFuture<'a, Result<IntentRecord, IntentError>>;

    /// Keys that change from now on. A receiver that lagged has to list again.
    fn changes(&self) -> IntentChanges;
}

/// Why the store did not do what it was asked.
#[derive(Debug, Error)]
pub enum IntentError {
    /// Somebody else wrote, or removed, in between.
    #[error("{key} was changed by someone else: version {expected} was expected, the store has {found}")]
    Conflict {
        /// The record.
        key: IntentKey,
        /// What the writer had read (`none` for no record).
        expected: Version,
        /// What is stored (`none` for no record).
        found: Version,
    },
    /// The store's file could not be opened.
    #[error("cannot open the intent store {file}")]
    Open {
        /// The file, or `memory`.
        file: String,
        /// Why.
        #[source]
        source: Box<redb::Error>,
    },
    /// Reading failed.
    #[error("cannot read {what} from the intent store")]
    Read {
        /// Key or kind.
        what: String,
        /// Why.
        #[source]
        source: Box<redb::Error>,
    },
    /// Writing failed; nothing was stored.
    #[error("cannot write {key} to the intent store")]
    Write {
        /// The record.
        key: IntentKey,
        /// Why.
        #[source]
        source: Box<redb::Error>,
    },
    /// A record could not be understood, or made.
    #[error("the record of {key} is damaged")]
    Record {
        /// The record.
        key: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The store was written by a later version of this program.
    #[error(
        "the intent store has format {found}; this version reads up to {supported}: run the newer version"
    )]
    Format {
        /// Format of the file.
        found: u64,
        /// Highest known format.
        supported: u64,
    },
    /// The thread that ran the operation was lost.
    #[error("the intent store operation was interrupted")]
    Interrupted,
}

/// A version, or that there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(pub Option<u64>);

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(version) => write!(formatter, "{version}"),
            None => formatter.write_str("none"),
        }
    }
}
