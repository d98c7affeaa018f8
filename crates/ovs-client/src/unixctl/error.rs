//! What can go wrong with a unixctl call, one variant per operation that failed.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::connect::ConnectError;
use crate::json::JsonError;
use crate::rpc::{MessageError, RemoteError};

/// Why a unixctl operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no stream.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// Reading or writing failed.
    #[error("the unixctl connection to {peer} failed while calling {method}")]
    Stream {
        /// The peer.
        peer: String,
        /// The command.
        method: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The daemon closed the connection without an answer.
    #[error("{peer} closed the connection without answering {method}")]
    NoAnswer {
        /// The peer.
        peer: String,
        /// The command.
        method: String,
    },
    /// No answer in time.
    #[error("{peer} did not answer {method} within {after:?}")]
    Deadline {
        /// The peer.
        peer: String,
        /// The command.
        method: String,
        /// The deadline.
        after: Duration,
    },
    /// The daemon said no, e.g. `no such bond`.
    #[error("{method} was refused")]
    Refused {
        /// The command.
        method: String,
        /// In its own words.
        #[source]
        error: RemoteError,
    },
    /// The stream cannot be cut into messages.
    #[error("the answer of {peer} is no JSON object")]
    Json {
        /// The peer.
        peer: String,
        /// Why.
        #[source]
        source: JsonError,
    },
    /// The answer is no reply with a text.
    #[error("the answer of {peer} to {method} is no reply")]
    Message {
        /// The peer.
        peer: String,
        /// The command.
        method: String,
        /// Why, if it is no message at all.
        #[source]
        source: Option<MessageError>,
    },
    /// The run directory cannot be read.
    #[error("cannot look for sockets of {program} in {directory}")]
    Directory {
        /// The program.
        program: String,
        /// The directory.
        directory: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The run directory holds no socket of the program: it does not run, or runs elsewhere.
    #[error("no socket of {program} in {directory}")]
    NoSocket {
        /// The program.
        program: String,
        /// The directory.
        directory: PathBuf,
    },
    /// There are sockets, but nobody answers on any of them.
    #[error("{program} answers on none of its sockets in {directory}: {}", tried.join("; "))]
    NobodyAnswers {
        /// The program.
        program: String,
        /// The directory.
        directory: PathBuf,
        /// Each socket and what went wrong there.
        tried: Vec<String>,
    },
}

impl Error {
    /// The error and all that caused it, in one line.
    pub(super) fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}
