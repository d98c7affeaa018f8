//! What can go wrong with an OVSDB server, one variant per operation that failed.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::connect::ConnectError;
use crate::json::JsonError;
use crate::rpc::{MessageError, RemoteError};

use super::{ReplicaError, SchemaError};

/// Why an OVSDB operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no stream.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The connection ended, before or during the operation.
    #[error("the OVSDB connection to {peer} ended")]
    Closed {
        /// The peer.
        peer: String,
        /// Why.
        #[source]
        reason: Closed,
    },
    /// No answer in time. The connection may still be good.
    #[error("{method} was not answered within {after:?}")]
    Deadline {
        /// Method.
        method: String,
        /// The deadline.
        after: Duration,
    },
    /// The server said no.
    #[error("{method} was refused")]
    Refused {
        /// Method.
        method: String,
        /// In its own words.
        #[source]
        error: RemoteError,
    },
    /// The answer does not have the form that the method promises.
    #[error("the answer to {method} is not {expected}")]
    Unexpected {
        /// Method.
        method: String,
        /// What it should be.
        expected: &'static str,
    },
    /// The server does not have this database.
    #[error("no database {database:?}, only {offered:?}")]
    NoDatabase {
        /// The one we want.
        database: String,
        /// Those it has.
        offered: Vec<String>,
    },
    /// The server has the database but is itself cut off from it.
    #[error("the server is not connected to database {database:?}")]
    DatabaseNotConnected {
        /// The database.
        database: String,
    },
    /// The schema cannot be read.
    #[error("the schema of database {database:?} cannot be read")]
    Schema {
        /// The database.
        database: String,
        /// Why.
        #[source]
        source: SchemaError,
    },
    /// An operation of a transaction failed; nothing of the transaction was done.
    #[error("operation {index} of the transaction failed")]
    Operation {
        /// Which, from 0; one past the last when the commit failed.
        index: usize,
        /// In the server's words.
        #[source]
        error: RemoteError,
    },
}

/// Why a connection ended.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Closed {
    /// The last handle was dropped.
    #[error("closed by this side")]
    ByUs,
    /// The server closed it between messages.
    #[error("closed by the server")]
    ByPeer,
    /// The server closed it in the middle of a message.
    #[error("closed by the server in the middle of a message")]
    InsideMessage,
    /// Reading failed.
    #[error("cannot read")]
    Read(#[source] Arc<io::Error>),
    /// Writing failed.
    #[error("cannot write")]
    Write(#[source] Arc<io::Error>),
    /// The server reads nothing: what we send stays unsent.
    #[error("the server takes nothing")]
    NotReading,
    /// Nothing at all came, not even the answer to a probe.
    #[error("nothing came for {0:?}, nor an answer to a probe")]
    Silent(Duration),
    /// What came is not a stream of JSON objects.
    #[error("the stream cannot be cut into messages")]
    Json(#[from] JsonError),
    /// A JSON object that is no message.
    #[error("a message cannot be read")]
    Message(#[from] MessageError),
    /// An update that does not fit the rows kept: they would be wrong from here on.
    #[error("an update cannot be applied")]
    Replica(#[from] ReplicaError),
}
