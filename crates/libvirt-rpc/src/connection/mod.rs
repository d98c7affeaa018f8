//! One connection to one daemon: opened, shared by clones, ended with its reason.
//!
//! A single task reads and writes; it ends when the last [`Connection`] is dropped or the peer goes. Calls of any number
//! of clones are pipelined up to a limit below the daemon's own, because calls beyond the daemon's limit would sit in
//! front of its keepalive answers.

mod authentication;
mod domain_calls;
mod event_calls;
mod flags;
mod host_calls;
mod job_calls;
mod migrate;
mod open;
mod session;
mod stats_calls;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::DropGuard;

pub use event_calls::CallbackId;
pub use flags::{DomainFilter, MigrateFlags, StatsFlags, StatsGroups, XmlFlags};
pub use migrate::MigrateParams;
use session::Session;

use crate::wire::{self, Procedure, Xdr};
use crate::{CallError, CloseReason, Credentials};

/// How a connection is opened and kept.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Driver to open: `qemu:///system`, `ch:///system`, `test:///default`.
    pub uri: String,
    /// Open without the right to change anything.
    pub read_only: bool,
    /// For daemons that ask for a user name and a password (SASL).
    pub credentials: Option<Credentials>,
    /// Until the connection is open: connect, authenticate, open.
    pub connect_timeout: Duration,
    /// For each call, waiting for its turn included.
    pub call_timeout: Duration,
    /// Silence after which the daemon is pinged; `None` for no pings. Its own pings are always answered.
    pub keepalive_interval: Option<Duration>,
    /// Pings without any sign of life after which the connection is given up.
    pub keepalive_count: u32,
    /// Calls at the same time. A daemon works on five of one client by default.
    pub calls_in_flight: usize,
    /// Events that may wait to be taken before they count as lost.
    pub event_capacity: usize,
}

impl OpenOptions {
    /// The defaults, for that driver.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            read_only: false,
            credentials: None,
            connect_timeout: Duration::from_secs(10),
            call_timeout: Duration::from_secs(10),
            keepalive_interval: Some(Duration::from_secs(5)),
            keepalive_count: 3,
            calls_in_flight: 4,
            event_capacity: 1024,
        }
    }

    /// With name and password for a daemon that asks for them.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// Without the right to change anything.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new("qemu:///system")
    }
}

/// An open connection. Clones share it; when the last is dropped it ends.
#[derive(Debug, Clone)]
pub struct Connection {
    session: Arc<Session>,
    call_timeout: Duration,
    keepalive: bool,
    _last_handle: Arc<DropGuard>,
}

/// What a connection has seen so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Whole frames read.
    pub frames: u64,
    /// Messages that became events.
    pub events: u64,
    /// Messages of a kind this crate does not know.
    pub events_unknown: u64,
    /// Messages of a known kind that could not be decoded.
    pub events_malformed: u64,
    /// Frames nobody waited for: answers to calls that were never made, streams.
    pub strays: u64,
    /// Events that wait to be taken.
    pub events_waiting: usize,
}

impl Connection {
    /// Waits until the connection has ended.
    pub async fn closed(&self) -> CloseReason {
        self.session.closed().await
    }

    /// Why the connection has ended, or `None` while it is open.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.session.close_reason()
    }

    /// Whether the connection is open, as far as is known: with keepalive, a dead peer is noticed within
    /// `interval * (count + 1)`.
    pub fn is_alive(&self) -> bool {
        self.close_reason().is_none()
    }

    /// Whether both sides watch each other by keepalive.
    pub fn has_keepalive(&self) -> bool {
        self.keepalive
    }

    /// What it has seen so far.
    pub fn counters(&self) -> Counters {
        self.session.counters()
    }

    /// Tells the daemon and ends the connection for all clones.
    ///
    /// # Errors
    /// When the daemon did not confirm. The connection is closed either way.
    pub async fn close(self) -> Result<(), CallError> {
        self.session.begin_close();
        let told = self.call::<_, ()>(Procedure::ConnectClose, &()).await;
        self.session.close(CloseReason::ByCaller);
        told
    }

    /// The same connection with another deadline for the calls of this handle.
    #[must_use]
    pub fn with_call_timeout(&self, call_timeout: Duration) -> Self {
        Self { call_timeout, ..self.clone() }
    }

    /// The calls that this daemon or driver was found not to have, so far. Each was asked for once; since then the answer is
    /// remembered, and methods that know another way take it at once.
    pub fn lacking(&self) -> Vec<Procedure> {
        self.session.lacking()
    }

    /// Any call, by procedure, for what has no method here. A call that the daemon or the driver lacks is sent once only: its
    /// refusal is remembered.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call<A: Xdr, R: Xdr>(&self, procedure: Procedure, arguments: &A) -> Result<R, CallError> {
        if let Some(source) = self.session.refusal(procedure) {
            return Err(CallError::Refused { procedure, source });
        }
        let payload = wire::encode(arguments);
        let exchange = self.session.exchange(procedure, &payload);
        let reply = tokio::time::timeout(self.call_timeout, exchange)
            .await
            .map_err(|_| CallError::Timeout { procedure, after: self.call_timeout })??;
        wire::decode(&reply).map_err(|source| CallError::Malformed { procedure, source })
    }
}
