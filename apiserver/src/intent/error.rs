//! Why the store did not do what it was asked, and what that means to a client.

use std::fmt;

use thiserror::Error;

use super::{IntentKey, StoreVersion};

/// What any underlying layer says.
pub(super) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why the store did not do what it was asked.
#[derive(Debug, Error)]
pub enum IntentError {
    /// Somebody else wrote, or removed, in between.
    #[error("{key} was changed by someone else: version {expected} was expected, the store has {found}")]
    Conflict {
        /// The record.
        key: IntentKey,
        /// What the writer had read.
        expected: Found,
        /// What is stored.
        found: Found,
    },
    /// The store could not be opened.
    #[error("cannot open the intent store {store}")]
    Open {
        /// The file, or what else it is.
        store: String,
        /// Why.
        #[source]
        source: Cause,
    },
    /// Another process has the store open.
    #[error("the intent store {store} is in use by another process: one server at a time may have it open")]
    InUse {
        /// The file.
        store: String,
    },
    /// Reading failed.
    #[error("cannot read {what} from the intent store")]
    Read {
        /// Key or kind.
        what: String,
        /// Why.
        #[source]
        source: Cause,
    },
    /// Writing failed and is not acknowledged. Unless the trouble says otherwise, nothing was stored.
    #[error("cannot write {key} to the intent store: {trouble}")]
    Write {
        /// The record.
        key: IntentKey,
        /// What that means.
        trouble: Trouble,
        /// Why.
        #[source]
        source: Cause,
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
        /// Format of the store.
        found: u64,
        /// Highest known format.
        supported: u64,
    },
    /// The thread that ran the operation was lost.
    #[error("the intent store operation was interrupted")]
    Interrupted,
}

/// What stands in the way of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// No space is left where the store is.
    Full,
    /// The store cannot be written to.
    ReadOnly,
    /// The store does not answer, and may not have got the write.
    Unavailable,
    /// The store did not answer in time: whether the write was stored is not known.
    Unanswered,
    /// The store refuses us.
    Forbidden,
    /// The record is larger than the store takes.
    TooLarge,
    /// The storage itself failed.
    Failed,
}

impl fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Full => "no space is left on its disk",
            Self::ReadOnly => "its disk is read-only",
            Self::Unavailable => "it does not answer",
            Self::Unanswered => {
                "it did not answer in time, and whether the write was stored is not known: read again"
            }
            Self::Forbidden => "it refuses this server",
            Self::TooLarge => "the object is too large",
            Self::Failed => "its storage failed",
        })
    }
}

impl IntentError {
    /// The HTTP status that says it: 409, 413, 503, 504, 507, else 500.
    pub fn status(&self) -> u16 {
        match self {
            Self::Conflict { .. } => 409,
            Self::Write { trouble, .. } => match trouble {
                Trouble::Full => 507,
                Trouble::TooLarge => 413,
                Trouble::Unanswered => 504,
                Trouble::ReadOnly | Trouble::Unavailable | Trouble::Forbidden | Trouble::Failed => 503,
            },
            Self::Read { .. } | Self::Interrupted => 503,
            Self::Open { .. } | Self::InUse { .. } | Self::Record { .. } | Self::Format { .. } => 500,
        }
    }
}

/// A version, or that there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found(pub Option<StoreVersion>);

impl fmt::Display for Found {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(version) => version.fmt(formatter),
            None => formatter.write_str("none"),
        }
    }
}
