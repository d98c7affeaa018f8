//! What the handles of a connection and its task share: calls in flight, the event queue, how it ended.
//!
//! A call that is given up keeps its place until the daemon answers it: the daemon still works on it, and a place given
//! away early would put more calls before the daemon than it takes.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::{Counters, OpenOptions};
use crate::event_queue::{EventQueue, Events};
use crate::wire::{
    self, Header, KEEPALIVE_PROGRAM, KeepaliveProcedure, MessageKind, MessageStatus, Procedure,
    REMOTE_PROGRAM, WireError, encode_frame,
};
use crate::{CallError, CloseReason, Event, RemoteError};

/// Frames that may wait to be written: calls in flight and a few keepalive answers.
const OUTGOING_FRAMES: usize = 16;

/// Shared state of a connection.
#[derive(Debug)]
pub(super) struct Session {
    calls: Mutex<Calls>,
    places: Arc<Semaphore>,
    outgoing: mpsc::Sender<Vec<u8>>,
    events: Arc<EventQueue>,
    closed: watch::Sender<Option<CloseReason>>,
    pub(super) ended: CancellationToken,
    keepalive: AtomicBool,
    /// This side has told the daemon that it goes; the daemon's end is then ours.
    closing: AtomicBool,
    /// Calls that the daemon or the driver does not have, with what it said.
    lacking: Mutex<BTreeMap<i32, RemoteError>>,
    seen: Seen,
}

/// How a reply's payload is to be read, and the payload.
type Answer = (MessageStatus, Bytes);

#[derive(Debug, Default)]
struct Calls {
    last_serial: u32,
    waiting: HashMap<u32, Waiting>,
    closed: bool,
}

#[derive(Debug)]
struct Waiting {
    answer: oneshot::Sender<Answer>,
    _place: OwnedSemaphorePermit,
}

#[derive(Debug, Default)]
struct Seen {
    frames: AtomicU64,
    events: AtomicU64,
    events_unknown: AtomicU64,
    events_malformed: AtomicU64,
    strays: AtomicU64,
}

impl Session {
    pub(super) fn new(options: &OpenOptions) -> (Arc<Self>, mpsc::Receiver<Vec<u8>>, Events) {
        let (outgoing, frames) = mpsc::channel(OUTGOING_FRAMES);
        let (queue, events) = EventQueue::new(options.event_capacity);
        let session = Self {
            calls: Mutex::default(),
            places: Arc::new(Semaphore::new(options.calls_in_flight.clamp(1, OUTGOING_FRAMES / 2))),
            outgoing,
            events: queue,
            closed: watch::Sender::new(None),
            ended: CancellationToken::new(),
            keepalive: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            lacking: Mutex::default(),
            seen: Seen::default(),
        };
        (Arc::new(session), frames, events)
    }

    /// Sends a call and waits for its answer, without a deadline.
    pub(super) async fn exchange(&self, procedure: Procedure, payload: &[u8]) -> Result<Bytes, CallError> {
        let disconnected = || CallError::Disconnected { procedure, reason: self.reason() };
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| disconnected())?;
        let room = self.outgoing.reserve().await.map_err(|_| disconnected())?;
        // From here to the send nothing waits, so a call is either on its way or was never counted.
        let (frame, answer) = self.register(procedure, payload, place)?;
        room.send(frame);
        match answer.await.map_err(|_| disconnected())? {
            (MessageStatus::Ok, payload) => Ok(payload),
            (_, payload) => {
                let error: WireError =
                    wire::decode(&payload).map_err(|source| CallError::Malformed { procedure, source })?;
                let source = RemoteError::from(error);
                if source.is_unsupported() {
                    self.lock_lacking().insert(procedure.raw(), source.clone());
                }
                Err(CallError::Refused { procedure, source })
            }
        }
    }

    fn register(
        &self,
        procedure: Procedure,
        payload: &[u8],
        place: OwnedSemaphorePermit,
    ) -> Result<(Vec<u8>, oneshot::Receiver<Answer>), CallError> {
        let mut calls = self.calls();
        if calls.closed {
            drop(calls);
            return Err(CallError::Disconnected { procedure, reason: self.reason() });
        }
        let serial = calls.next_serial();
        let header = Header::remote(MessageKind::Call, procedure.raw(), serial);
        let frame =
            encode_frame(&header, payload).map_err(|source| CallError::TooLarge { procedure, source })?;
        let (answer, receiver) = oneshot::channel();
        calls.waiting.insert(serial, Waiting { answer, _place: place });
        Ok((frame, receiver))
    }

    /// Takes one frame that arrived.
    pub(super) fn dispatch(&self, header: Header, payload: Bytes) {
        count(&self.seen.frames);
        match (header.program, header.kind) {
            (KEEPALIVE_PROGRAM, MessageKind::Message) => {
                if header.procedure == KeepaliveProcedure::Ping.raw() {
                    self.send_keepalive(KeepaliveProcedure::Pong);
                }
            }
            // Any program: the answer to a call of an unknown program carries that program.
            (_, MessageKind::Reply) => match self.calls().waiting.remove(&header.serial) {
                // The caller may have given up; its place is free again either way.
                Some(call) => drop(call.answer.send((header.status, payload))),
                None => count(&self.seen.strays),
            },
            (REMOTE_PROGRAM, MessageKind::Message) => self.take_message(header.procedure, &payload),
            _ => count(&self.seen.strays),
        }
    }

    fn take_message(&self, procedure: i32, payload: &[u8]) {
        match Event::parse(procedure, payload) {
            Ok(Some(event)) => {
                count(&self.seen.events);
                self.events.push(event);
            }
            Ok(None) => {
                count(&self.seen.events_unknown);
                tracing::debug!(procedure, "skipped a message of unknown kind");
            }
            Err(error) => {
                count(&self.seen.events_malformed);
                self.events.push_lost();
                // Not louder: a peer decides how often. The follower is told, and the count is kept.
                tracing::debug!(procedure, %error, "a message could not be decoded");
            }
        }
    }

    /// The daemon knows keepalive: from now on its silence means something.
    pub(super) fn arm_keepalive(&self) {
        self.keepalive.store(true, Ordering::Relaxed);
    }

    pub(super) fn keepalive_armed(&self) -> bool {
        self.keepalive.load(Ordering::Relaxed)
    }

    /// Queues a keepalive frame. When the queue is full the peer does not read, and one more frame would not help.
    pub(super) fn send_keepalive(&self, procedure: KeepaliveProcedure) {
        if let Ok(frame) = encode_frame(&Header::keepalive(procedure), &[]) {
            let _ = self.outgoing.try_send(frame);
        }
    }

    /// This side is about to close: whatever ends the connection now, this side did.
    pub(super) fn begin_close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    /// Ends the connection; the first reason stays.
    pub(super) fn close(&self, reason: CloseReason) {
        let reason = if self.closing.load(Ordering::Relaxed) { CloseReason::ByCaller } else { reason };
        self.closed.send_if_modified(|closed| {
            let first = closed.is_none();
            closed.get_or_insert(reason);
            first
        });
        let waiting = {
            let mut calls = self.calls();
            calls.closed = true;
            std::mem::take(&mut calls.waiting)
        };
        drop(waiting);
        self.places.close();
        self.events.close();
        self.ended.cancel();
    }

    pub(super) async fn closed(&self) -> CloseReason {
        let mut closed = self.closed.subscribe();
        match closed.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or(CloseReason::ByCaller),
            Err(_) => CloseReason::ByCaller,
        }
    }

    pub(super) fn close_reason(&self) -> Option<CloseReason> {
        self.closed.borrow().clone()
    }

    pub(super) fn counters(&self) -> Counters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            frames: read(&self.seen.frames),
            events: read(&self.seen.events),
            events_unknown: read(&self.seen.events_unknown),
            events_malformed: read(&self.seen.events_malformed),
            strays: read(&self.seen.strays),
            events_waiting: self.events.len(),
        }
    }

    /// What the daemon said to a call that it does not have, if it was asked for.
    pub(super) fn refusal(&self, procedure: Procedure) -> Option<RemoteError> {
        self.lock_lacking().get(&procedure.raw()).cloned()
    }

    pub(super) fn lacking(&self) -> Vec<Procedure> {
        self.lock_lacking().keys().map(|raw| Procedure::from_raw(*raw)).collect()
    }

    fn lock_lacking(&self) -> MutexGuard<'_, BTreeMap<i32, RemoteError>> {
        self.lacking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reason(&self) -> CloseReason {
        self.close_reason().unwrap_or(CloseReason::ByCaller)
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calls {
    /// A serial that no call in flight has; never 0, which messages have.
    fn next_serial(&mut self) -> u32 {
        loop {
            self.last_serial = self.last_serial.wrapping_add(1);
            if self.last_serial != 0 && !self.waiting.contains_key(&self.last_serial) {
                return self.last_serial;
            }
        }
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
