//! What the reading task and the callers of one connection share, and the reading and writing loops themselves.
//!
//! The loop that reads never waits for a caller or for the network's other direction: answers go through one-shot
//! channels, updates into replicas under a short lock, echoes into a bounded queue. So the server's probe is answered
//! in time whatever the rest of the program does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::BytesMut;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;

use crate::json::JsonObjects;
use crate::rpc::{self, Message, RemoteError};

use super::monitor::Cell;
use super::{Closed, Options, ReplicaError};

/// The id of our own probes; requests use numbers.
const PROBE: &str = "ovs-client";

/// A buffer that once held a large message is given back when it is empty and larger than this.
const BUFFER_KEPT: usize = 64 << 10;

/// An answer as it came.
pub(super) type Answer = Result<Json, RemoteError>;

/// Who waits for the answer to a request.
#[derive(Debug)]
pub(super) struct Waiter {
    /// Where the answer goes.
    pub(super) answer: oneshot::Sender<Answer>,
    /// The monitor that the answer begins, if it begins one.
    pub(super) begins: Option<Arc<Cell>>,
}

/// State of one connection.
#[derive(Debug, Default)]
pub(super) struct Session {
    state: Mutex<State>,
    ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    next_id: u64,
    waiting: HashMap<u64, Waiter>,
    monitors: HashMap<String, Arc<Cell>>,
    closed: Option<Closed>,
}

impl Session {
    /// Enters a request; gives its id.
    pub(super) fn enter(&self, waiter: Waiter) -> Result<u64, Closed> {
        let mut state = self.lock();
        if let Some(reason) = &state.closed {
            return Err(reason.clone());
        }
        state.next_id += 1;
        let id = state.next_id;
        state.waiting.insert(id, waiter);
        Ok(id)
    }

    /// Forgets a request; a late answer to it is dropped.
    pub(super) fn forget(&self, id: u64) {
        self.lock().waiting.remove(&id);
    }

    /// Enters a monitor, to receive the updates with its id.
    pub(super) fn enter_monitor(&self, id: &str, cell: &Arc<Cell>) {
        self.lock().monitors.insert(id.to_owned(), Arc::clone(cell));
    }

    /// Forgets a monitor.
    pub(super) fn forget_monitor(&self, id: &str) {
        self.lock().monitors.remove(id);
    }

    /// Why the connection ended, once it has.
    pub(super) fn closed(&self) -> Option<Closed> {
        self.lock().closed.clone()
    }

    /// Waits for the end of the connection.
    pub(super) async fn ended(&self) -> Closed {
        loop {
            let ended = self.ended.notified();
            if let Some(reason) = self.closed() {
                return reason;
            }
            ended.await;
        }
    }

    /// Ends the connection for all who wait; the first reason stays.
    pub(super) fn close(&self, reason: Closed) {
        let mut state = self.lock();
        if state.closed.is_none() {
            tracing::debug!(%reason, "ovsdb connection ended");
            state.closed = Some(reason);
        }
        state.waiting.clear();
        for cell in state.monitors.values() {
            cell.wake();
        }
        state.monitors.clear();
        drop(state);
        self.ended.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one message of the server; what must be sent back at once is returned.
    fn take(&self, object: &[u8]) -> Result<Option<Vec<u8>>, Closed> {
        match rpc::parse(object)? {
            Message::Request { method, params, id } if method == "echo" => {
                return Ok(Some(rpc::reply(&id, &params)));
            }
            Message::Request { method, id, .. } => {
                let refusal = json!({ "id": id, "result": null, "error": "unknown method" });
                tracing::debug!(method, "ovsdb server asked for something we do not offer");
                return Ok(Some(refusal.to_string().into_bytes()));
            }
            Message::Notification { method, params } if method == "update" => self.update(params)?,
            Message::Notification { method, .. } => {
                tracing::debug!(method, "ovsdb notification of no interest")
            }
            Message::Reply { id, outcome } => self.answer(&id, outcome)?,
        }
        Ok(None)
    }

    fn update(&self, params: Json) -> Result<(), Closed> {
        let malformed = Closed::Replica(ReplicaError::Syntax("parameters are not a monitor and tables"));
        let Json::Array(params) = params else { return Err(malformed) };
        let Ok([Json::String(id), tables]) = <[Json; 2]>::try_from(params) else { return Err(malformed) };
        let cell = self.lock().monitors.get(&id).cloned();
        // An update of a monitor that was just dropped is of no interest to anybody.
        cell.map_or(Ok(()), |cell| cell.update(tables).map_err(Closed::from))
    }

    fn answer(&self, id: &Json, outcome: Answer) -> Result<(), Closed> {
        let waiter = id.as_u64().and_then(|id| self.lock().waiting.remove(&id));
        // Without a waiter it answers our probe, or a request whose deadline has passed.
        let Some(Waiter { answer, begins }) = waiter else { return Ok(()) };
        let outcome = match (begins, outcome) {
            (Some(cell), Ok(initial)) => {
                cell.begin(&initial)?;
                Ok(Json::Null)
            }
            (_, outcome) => outcome,
        };
        // Whoever asked may have gone meanwhile.
        let _ = answer.send(outcome);
        Ok(())
    }
}

/// Reads until the connection ends.
pub(super) async fn read(
    stream: &mut (impl AsyncRead + Unpin),
    session: &Session,
    outgoing: &mpsc::Sender<Vec<u8>>,
    options: &Options,
) -> Closed {
    let mut objects = JsonObjects::new(options.limits);
    let mut buffer = BytesMut::new();
    let mut probed = false;
    loop {
        if buffer.is_empty() && buffer.capacity() > BUFFER_KEPT {
            buffer = BytesMut::new();
        }
        match timeout(options.probe_interval, stream.read_buf(&mut buffer)).await {
            Ok(Ok(0)) if objects.is_inside() => return Closed::InsideMessage,
            Ok(Ok(0)) => return Closed::ByPeer,
            Ok(Ok(_)) => probed = false,
            Ok(Err(error)) => return Closed::Read(Arc::new(error)),
            Err(_) if probed => return Closed::Silent(options.probe_interval * 2),
            Err(_) => {
                probed = true;
                if outgoing.try_send(rpc::request(&json!(PROBE), "echo", &json!([]))).is_err() {
                    return Closed::NotReading;
                }
            }
        }
        if let Err(reason) = take_all(&mut objects, &mut buffer, session, outgoing) {
            return reason;
        }
    }
}

fn take_all(
    objects: &mut JsonObjects,
    buffer: &mut BytesMut,
    session: &Session,
    outgoing: &mpsc::Sender<Vec<u8>>,
) -> Result<(), Closed> {
    while let Some(object) = objects.next(buffer)? {
        if let Some(back) = session.take(&object)? {
            outgoing.try_send(back).map_err(|_| Closed::NotReading)?;
        }
    }
    Ok(())
}

/// Writes until the connection ends.
pub(super) async fn write(
    stream: &mut (impl AsyncWrite + Unpin),
    outgoing: &mut mpsc::Receiver<Vec<u8>>,
    within: Duration,
) -> Closed {
    while let Some(frame) = outgoing.recv().await {
        let written = timeout(within, async {
            stream.write_all(&frame).await?;
            stream.flush().await
        });
        match written.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Closed::Write(Arc::new(error)),
            Err(_) => return Closed::NotReading,
        }
    }
    Closed::ByUs
}
