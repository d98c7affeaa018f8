//! One client: reads calls, writes replies and events, pings, misbehaves when scripted to.
//!
//! The fault is looked up before each frame that is sent, so that a test that sets it sees it from the very next frame.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use libvirt_rpc::wire::{
    HEADER_BYTES, Header, KEEPALIVE_PROGRAM, KeepaliveProcedure, LENGTH_BYTES, List, MessageKind,
    MessageStatus, Procedure, REMOTE_PROGRAM, encode, encode_frame, parse_frame,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::broadcast;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::daemon::Daemon;
use super::events::Registrations;
use super::failure::Failure;
use super::listener::Stream;
use super::sasl::Progress;
use super::{domain_calls, events, host_calls, migration_calls};
use crate::model::{Fault, HostChange};

/// `keepalive_interval` of libvirtd.conf.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
/// `keepalive_count` of libvirtd.conf.
const KEEPALIVE_COUNT: u32 = 5;
/// `REMOTE_AUTH_SASL`.
const AUTH_SASL: i32 = 1;
/// How long a client may leave its answers unread.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// What a session knows about its client.
#[derive(Debug, Default)]
pub(super) struct Client {
    /// The driver is open.
    pub(super) open: bool,
    /// … without the right to change anything.
    pub(super) read_only: bool,
    /// The client answers pings.
    pub(super) keepalive: bool,
    /// It said that it is done.
    pub(super) closing: bool,
    /// How far it is in saying who it is, where that is wanted.
    pub(super) authentication: Progress,
    /// What it wants to hear about.
    pub(super) registrations: Registrations,
}

struct Session {
    daemon: Arc<Daemon>,
    stream: Box<dyn Stream>,
    client: Client,
    pings_unanswered: u32,
    /// Calls whose answer takes its time.
    pending: FuturesUnordered<Pending>,
}

/// A call and, later, its answer.
type Pending = Pin<Box<dyn Future<Output = (Header, Result<Vec<u8>, Failure>)> + Send>>;

/// Serves one client until either side has had enough.
pub(super) async fn run(daemon: Arc<Daemon>, stream: Box<dyn Stream>) {
    let name = daemon.host.name.clone();
    if let Err(error) = serve(daemon, stream).await {
        tracing::debug!(host = %name, %error, "a libvirt client is gone");
    }
}

async fn serve(daemon: Arc<Daemon>, stream: Box<dyn Stream>) -> io::Result<()> {
    let stream = daemon.secure(stream).await?;
    let changes = daemon.host.subscribe();
    let pending = FuturesUnordered::new();
    Session { daemon, stream, client: Client::default(), pings_unanswered: 0, pending }.serve(changes).await
}

impl Session {
    async fn serve(mut self, mut changes: broadcast::Receiver<HostChange>) -> io::Result<()> {
        let mut buffer = BytesMut::with_capacity(4096);
        let mut ticks = ticks();
        while !self.client.closing {
            tokio::select! {
                // In this order: what happened before a call is told before its reply.
                biased;
                _ = ticks.tick() => self.ping().await?,
                change = changes.recv() => match change {
                    Ok(HostChange::Faults) if self.fault().drops() => return Ok(()),
                    Ok(change) => self.tell(&change).await?,
                    Err(broadcast::error::RecvError::Lagged(count)) => {
                        tracing::warn!(host = %self.daemon.host.name, count, "a libvirt session lost changes");
                    }
                    Err(broadcast::error::RecvError::Closed) => return Ok(()),
                },
                Some((call, outcome)) = self.pending.next() => self.reply(call, outcome).await?,
                read = self.stream.read_buf(&mut buffer) => {
                    if read? == 0 {
                        return Ok(());
                    }
                    self.pings_unanswered = 0;
                    self.take_frames(&mut buffer).await?;
                }
            }
        }
        self.stream.shutdown().await
    }

    async fn take_frames(&mut self, buffer: &mut BytesMut) -> io::Result<()> {
        while let Some((header, length)) = parse_frame(buffer).map_err(io::Error::other)? {
            let mut payload = buffer.split_to(length);
            payload.advance(LENGTH_BYTES + HEADER_BYTES);
            self.take_frame(header, &payload).await?;
        }
        Ok(())
    }

    async fn take_frame(&mut self, header: Header, payload: &[u8]) -> io::Result<()> {
        match (header.program, header.kind) {
            (KEEPALIVE_PROGRAM, MessageKind::Message) => {
                if header.procedure == KeepaliveProcedure::Ping.raw() {
                    return self.send(&Header::keepalive(KeepaliveProcedure::Pong), &[]).await;
                }
                Ok(())
            }
            (_, MessageKind::Call) => self.answer(header, payload).await,
            _ => Err(io::Error::other("a client sends calls and keepalive only")),
        }
    }

    async fn answer(&mut self, call: Header, arguments: &[u8]) -> io::Result<()> {
        let procedure = Procedure::from_raw(call.procedure);
        let outcome = match call.program {
            REMOTE_PROGRAM if procedure != Procedure::DomainMigratePerform3Params => {
                self.carry_out(procedure, arguments)
            }
            // Refused for the reasons for which everything else is, or carried out below.
            REMOTE_PROGRAM => self.may_change(procedure).map(|()| Vec::new()),
            program => Err(Failure::UnknownProgram(program)),
        };
        if outcome.is_ok()
            && call.program == REMOTE_PROGRAM
            && procedure == Procedure::DomainMigratePerform3Params
        {
            let (daemon, arguments) = (Arc::clone(&self.daemon), arguments.to_vec());
            self.pending
                .push(Box::pin(async move { (call, migration_calls::perform(daemon, arguments).await) }));
            return Ok(());
        }
        self.reply(call, outcome).await
    }

    async fn reply(&mut self, call: Header, outcome: Result<Vec<u8>, Failure>) -> io::Result<()> {
        let reply = Header { kind: MessageKind::Reply, status: MessageStatus::Ok, ..call };
        let failed = Header { status: MessageStatus::Error, ..reply };
        match outcome {
            Ok(payload) if encode_frame(&reply, &payload).is_ok() => self.send(&reply, &payload).await,
            Ok(_) => self.send(&failed, &encode(&Failure::ReplyTooLarge.to_wire())).await,
            Err(failure) => self.send(&failed, &encode(&failure.to_wire())).await,
        }
    }

    fn carry_out(&mut self, procedure: Procedure, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
        if let Some(outcome) = self.authenticate(procedure, arguments) {
            return outcome;
        }
        if let Some(outcome) = host_calls::before_open(&mut self.client, procedure, arguments) {
            return outcome;
        }
        let known = host_calls::is_known(procedure) || domain_calls::is_known(procedure);
        if !known {
            return Err(Failure::UnknownProcedure(procedure.raw()));
        }
        if !self.client.open {
            return Err(Failure::NotOpen);
        }
        if host_calls::is_known(procedure) {
            host_calls::carry_out(&self.daemon.host, &mut self.client, procedure, arguments)
        } else {
            domain_calls::carry_out(&self.daemon, &self.client, procedure, arguments)
        }
    }

    /// What authentication has to say to a call; `None` when it may pass.
    fn authenticate(&mut self, procedure: Procedure, arguments: &[u8]) -> Option<Result<Vec<u8>, Failure>> {
        let accounts = self.daemon.accounts.as_ref()?;
        match procedure {
            Procedure::AuthList => Some(Ok(encode(&List::<i32, 20>(vec![AUTH_SASL])))),
            Procedure::AuthSaslInit | Procedure::AuthSaslStart | Procedure::AuthSaslStep => {
                Some(accounts.answer(&mut self.client.authentication, procedure, arguments))
            }
            _ => self.is_stranger().then_some(Err(Failure::NotAuthenticated)),
        }
    }

    fn is_stranger(&self) -> bool {
        self.daemon.accounts.is_some() && !matches!(self.client.authentication, Progress::Done)
    }

    fn may_change(&self, procedure: Procedure) -> Result<(), Failure> {
        match &self.client {
            _ if self.is_stranger() => Err(Failure::NotAuthenticated),
            client if !client.open => Err(Failure::NotOpen),
            client if client.read_only => Err(Failure::ReadOnly(procedure)),
            _ => Ok(()),
        }
    }

    async fn tell(&mut self, change: &HostChange) -> io::Result<()> {
        if self.fault() == Fault::LostEvents {
            return Ok(());
        }
        if let Some((procedure, payload)) = events::message(&self.client.registrations, change) {
            return self.send(&Header::remote(MessageKind::Message, procedure.raw(), 0), &payload).await;
        }
        Ok(())
    }

    async fn ping(&mut self) -> io::Result<()> {
        if !self.client.keepalive {
            return Ok(());
        }
        if self.pings_unanswered >= KEEPALIVE_COUNT {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the client answers no pings"));
        }
        self.pings_unanswered += 1;
        self.send(&Header::keepalive(KeepaliveProcedure::Ping), &[]).await
    }

    async fn send(&mut self, header: &Header, payload: &[u8]) -> io::Result<()> {
        let frame = encode_frame(header, payload).map_err(io::Error::other)?;
        let (bytes, then_drop) = match self.fault() {
            Fault::None
            | Fault::JobLock
            | Fault::LostEvents
            | Fault::WrongCertificate
            | Fault::CertificateRejected => (frame.as_slice(), false),
            Fault::Stall => return Ok(()),
            Fault::HalfFrame => {
                self.daemon.host.set_faults(|faults| faults.libvirt = Fault::None);
                (frame.get(..frame.len() / 2).unwrap_or_default(), true)
            }
            Fault::Refuse | Fault::Unavailable => (&[][..], true),
        };
        tokio::time::timeout(WRITE_TIMEOUT, self.stream.write_all(bytes)).await??;
        if then_drop { Err(io::Error::other("dropped as scripted")) } else { Ok(()) }
    }

    fn fault(&self) -> Fault {
        self.daemon.fault()
    }
}

impl Fault {
    fn drops(self) -> bool {
        matches!(self, Self::Refuse | Self::Unavailable)
    }
}

fn ticks() -> Interval {
    let mut ticks = tokio::time::interval_at(Instant::now() + KEEPALIVE_INTERVAL, KEEPALIVE_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
