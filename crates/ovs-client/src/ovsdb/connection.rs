//! One connection to an OVSDB server, shared by any number of callers.
//!
//! It is a handle: clone it freely; the connection ends with the last clone (monitors hold one too). It does not
//! connect again by itself, because after that every row must be read anew and only the caller knows who must hear.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tracing::Instrument;

use crate::connect::{Connector, connect};
use crate::json::JsonLimits;

use super::monitor::Cell;
use super::session::{self, Session, Waiter};
use super::{Closed, DatabaseStatus, Error, Monitor, MonitorTables, OperationResult, Schema, Transaction};

/// Frames that wait to be written; more means that the server reads nothing.
const OUTGOING: usize = 64;

/// Deadlines and limits of a connection.
#[derive(Debug, Clone)]
pub struct Options {
    /// For connecting.
    pub connect_deadline: Duration,
    /// For each request, and for each write.
    pub request_deadline: Duration,
    /// After this much silence the server is probed; after twice as much the connection is given up.
    pub probe_interval: Duration,
    /// For each message.
    pub limits: JsonLimits,
    /// Rows that a monitor keeps at most.
    pub rows: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connect_deadline: Duration::from_secs(5),
            request_deadline: Duration::from_secs(10),
            probe_interval: Duration::from_secs(5),
            limits: JsonLimits::default(),
            rows: 500_000,
        }
    }
}

/// A connection to an OVSDB server.
#[derive(Debug, Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    peer: String,
    options: Options,
    session: Arc<Session>,
    outgoing: mpsc::Sender<Vec<u8>>,
    task: AbortHandle,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.session.close(Closed::ByUs);
        self.task.abort();
    }
}

impl Connection {
    /// Connects. Nothing is asked yet: an OVSDB server does not greet.
    pub async fn connect(connector: &dyn Connector, options: &Options) -> Result<Self, Error> {
        let stream = connect(connector, options.connect_deadline).await?;
        let peer = connector.to_string();
        let session = Arc::new(Session::default());
        let (outgoing, mut queue) = mpsc::channel(OUTGOING);
        let task = {
            let (session, outgoing, options) = (Arc::clone(&session), outgoing.clone(), options.clone());
            let span = tracing::debug_span!("ovsdb", peer);
            let work = async move {
                let (mut reading, mut writing) = tokio::io::split(stream);
                let reason = tokio::select! {
                    reason = session::read(&mut reading, &session, &outgoing, &options) => reason,
                    reason = session::write(&mut writing, &mut queue, options.request_deadline) => reason,
                };
                session.close(reason);
            };
            tokio::spawn(work.instrument(span)).abort_handle()
        };
        Ok(Self { inner: Arc::new(Inner { peer, options: options.clone(), session, outgoing, task }) })
    }

    /// The peer, as its connector prints it.
    pub fn peer(&self) -> &str {
        &self.inner.peer
    }

    /// Waits until the connection ends and says why.
    pub async fn closed(&self) -> Closed {
        self.inner.session.ended().await
    }

    /// Asks anything and gives the bare result.
    pub async fn request(&self, method: &str, params: Json) -> Result<Json, Error> {
        self.ask(method, params, None).await
    }

    /// Names of the databases.
    pub async fn list_dbs(&self) -> Result<Vec<String>, Error> {
        let method = "list_dbs";
        let result = self.request(method, json!([])).await?;
        serde_json::from_value(result)
            .map_err(|_| Error::Unexpected { method: method.to_owned(), expected: "a list of names" })
    }

    /// The schema of a database.
    pub async fn get_schema(&self, database: &str) -> Result<Schema, Error> {
        let result = self.request("get_schema", json!([database])).await?;
        Schema::from_json(&result).map_err(|source| Error::Schema { database: database.to_owned(), source })
    }

    /// What `_Server` says about a database; `None` on servers that have no `_Server` (before 2.9) or no such row.
    pub async fn database_status(&self, database: &str) -> Result<Option<DatabaseStatus>, Error> {
        DatabaseStatus::read(self, database).await
    }

    /// Sends an echo and waits for it.
    pub async fn echo(&self) -> Result<(), Error> {
        self.request("echo", json!([])).await.map(drop)
    }

    /// Follows tables of a database. When this returns, the rows are there.
    ///
    /// Ask only for what the schema lists ([`MonitorTables::known_to`]): one unknown column fails it all.
    pub async fn monitor(&self, database: &str, tables: &MonitorTables) -> Result<Monitor, Error> {
        let cell = Arc::new(Cell::new(tables, self.inner.options.rows));
        let monitor = Monitor::new(self.clone(), Arc::clone(&cell));
        self.inner.session.enter_monitor(monitor.id(), &cell);
        let params = json!([database, monitor.id(), tables.to_json()]);
        self.ask("monitor", params, Some(cell)).await?;
        Ok(monitor)
    }

    /// Does a transaction, all of it or nothing.
    pub async fn transact(
        &self,
        database: &str,
        transaction: &Transaction,
    ) -> Result<Vec<OperationResult>, Error> {
        let result = self.request("transact", transaction.to_params(database)).await?;
        OperationResult::read_all(&result, transaction.len())
    }

    pub(super) fn end_monitor(&self, id: &str) {
        self.inner.session.forget_monitor(id);
        // Best effort: on a connection that is full or gone there is nobody to tell.
        let cancel = crate::rpc::request(&json!("cancel"), "monitor_cancel", &json!([id]));
        let _ = self.inner.outgoing.try_send(cancel);
    }

    pub(super) fn end(&self) -> Option<Error> {
        self.inner.session.closed().map(|reason| self.ended(reason))
    }

    async fn ask(&self, method: &str, params: Json, begins: Option<Arc<Cell>>) -> Result<Json, Error> {
        let (answer, answered) = oneshot::channel();
        let session = &self.inner.session;
        let id = session.enter(Waiter { answer, begins }).map_err(|reason| self.ended(reason))?;
        let _forget = Forget { session, id };
        let frame = crate::rpc::request(&json!(id), method, &params);
        let after = self.inner.options.request_deadline;
        let exchange = async {
            // When the connection has ended, so has the queue's other end, and `answered` says the same.
            let _ = self.inner.outgoing.send(frame).await;
            answered.await
        };
        match timeout(after, exchange).await {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(Ok(Err(error))) => Err(Error::Refused { method: method.to_owned(), error }),
            Ok(Err(_)) => Err(self.ended(session.closed().unwrap_or(Closed::ByUs))),
            Err(_) => Err(Error::Deadline { method: method.to_owned(), after }),
        }
    }

    fn ended(&self, reason: Closed) -> Error {
        Error::Closed { peer: self.inner.peer.clone(), reason }
    }
}

/// Forgets a request when its caller is done or gone.
struct Forget<'a> {
    session: &'a Session,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.session.forget(self.id);
    }
}
