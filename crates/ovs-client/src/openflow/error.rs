//! What can go wrong with a management socket, one variant per operation that failed.

use std::io;
use std::time::Duration;

use crate::connect::ConnectError;

use super::{Version, Versions};

/// Why an OpenFlow operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no stream.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// No version in common.
    #[error("no OpenFlow version in common: we speak {ours}, the switch {theirs} ({refusal:?})")]
    Version {
        /// What this crate knows.
        ours: Versions,
        /// What the switch allows.
        theirs: Versions,
        /// What the switch said about it, empty if nothing.
        refusal: String,
    },
    /// Reading or writing failed, or the switch closed the connection.
    #[error("the OpenFlow connection to {peer} failed while {doing}")]
    Stream {
        /// The peer.
        peer: String,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Not done in time. The connection is of no more use, because the answer may still come.
    #[error("{doing} took longer than {after:?}")]
    Deadline {
        /// What was being done.
        doing: &'static str,
        /// The deadline.
        after: Duration,
    },
    /// The switch answered with an error.
    #[error("the switch refused while {doing}: OpenFlow error type {kind} code {code}")]
    Refused {
        /// What was being done.
        doing: &'static str,
        /// `ofp_error_type`.
        kind: u16,
        /// Code within it.
        code: u16,
    },
    /// Bytes that are no OpenFlow message, or not the one that belongs here.
    #[error("a message that cannot be read while {doing}: {what}")]
    Malformed {
        /// What was being done.
        doing: &'static str,
        /// What is wrong.
        what: &'static str,
    },
    /// A message in another version than the agreed one.
    #[error("a message in version {got} although {agreed} was agreed")]
    WrongVersion {
        /// What was agreed.
        agreed: Version,
        /// The number in the message.
        got: u8,
    },
    /// More bytes of statistics than allowed.
    #[error("statistics are longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// An earlier operation failed half-way.
    #[error("the connection failed before")]
    Broken,
}
