//! Accepting connections and misbehaving on purpose: what all three protocols share.

use std::future::Future;
use std::io;
use std::sync::Arc;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;

use crate::model::{Fault, Faults, Host};

/// Where connections come from.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// Whose faults apply.
#[derive(Debug, Clone, Copy)]
pub(super) enum Protocol {
    Ovsdb,
    Openflow,
    Unixctl,
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection that misbehaves as its host's faults say.
pub(super) struct Wire {
    stream: Box<dyn Stream>,
    host: Arc<Host>,
    protocol: Protocol,
    /// Whether it came over TCP, where real servers probe.
    pub(super) is_tcp: bool,
}

impl Protocol {
    fn fault(self, faults: &mut Faults) -> &mut Fault {
        match self {
            Self::Ovsdb => &mut faults.ovsdb,
            Self::Openflow => &mut faults.openflow,
            Self::Unixctl => &mut faults.unixctl,
        }
    }
}

impl Listener {
    async fn accept(&self) -> io::Result<(Box<dyn Stream>, bool)> {
        Ok(match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                (Box::new(stream), true)
            }
            Self::Unix(listener) => (Box::new(listener.accept().await?.0), false),
        })
    }
}

/// Serves every connection in a task that ends with this future.
pub(super) async fn serve<F>(
    host: Arc<Host>,
    listener: Listener,
    protocol: Protocol,
    session: impl Fn(Arc<Host>, Wire) -> F,
) where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let mut sessions = JoinSet::new();
    loop {
        let (stream, is_tcp) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(host = %host.name, %error, "cannot accept for a simulated switch");
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                    continue;
                }
            },
            Some(_) = sessions.join_next() => continue,
        };
        let wire = Wire { stream, host: Arc::clone(&host), protocol, is_tcp };
        let work = session(Arc::clone(&host), wire);
        sessions.spawn(serve_one(Arc::clone(&host), protocol, work));
    }
}

/// Serves a TCP connection to the database of a host, until either side has had enough.
pub(super) async fn serve_database<F>(
    host: Arc<Host>,
    stream: TcpStream,
    session: impl FnOnce(Arc<Host>, Wire) -> F,
) where
    F: Future<Output = io::Result<()>>,
{
    let wire =
        Wire { stream: Box::new(stream), host: Arc::clone(&host), protocol: Protocol::Ovsdb, is_tcp: true };
    let work = session(Arc::clone(&host), wire);
    serve_one(host, Protocol::Ovsdb, work).await;
}

async fn serve_one(host: Arc<Host>, protocol: Protocol, work: impl Future<Output = io::Result<()>>) {
    tokio::select! {
        () = refused(&host, protocol) => {}
        ended = work => {
            if let Err(error) = ended {
                tracing::debug!(host = %host.name, %error, "connection to a simulated switch ended");
            }
        }
    }
}

/// Returns once the fault says that connections are dropped.
async fn refused(host: &Host, protocol: Protocol) {
    let mut changes = host.subscribe();
    loop {
        let mut faults = host.read(|state| state.faults);
        if matches!(*protocol.fault(&mut faults), Fault::Refuse | Fault::Unavailable) {
            return;
        }
        if let Err(RecvError::Closed) = changes.recv().await {
            return;
        }
    }
}

impl Wire {
    /// Sends a frame, or what the fault makes of it.
    pub(super) async fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let fault = self.host.change(|state, _| {
            let fault = self.protocol.fault(&mut state.faults);
            let now = *fault;
            if now == Fault::HalfFrame {
                *fault = Fault::None;
            }
            now
        });
        match fault {
            Fault::None
            | Fault::JobLock
            | Fault::LostEvents
            | Fault::WrongCertificate
            | Fault::CertificateRejected => {
                self.stream.write_all(frame).await?;
                self.stream.flush().await
            }
            Fault::Stall => Ok(()),
            Fault::HalfFrame => {
                let (half, _) = frame.split_at(frame.len() / 2);
                self.stream.write_all(half).await?;
                self.stream.flush().await?;
                Err(io::Error::other("half a frame was sent, as scripted"))
            }
            Fault::Refuse | Fault::Unavailable => Err(io::ErrorKind::ConnectionReset.into()),
        }
    }

    /// Reads what there is; 0 at the end. Safe to cancel.
    pub(super) async fn read(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        self.stream.read_buf(buffer).await
    }
}

/// Takes the next JSON value off the front of `buffer`; `None` while it is not whole.
pub(super) fn next_json(buffer: &mut BytesMut) -> io::Result<Option<serde_json::Value>> {
    const LIMIT: usize = 16 << 20;
    let mut values = serde_json::Deserializer::from_slice(buffer).into_iter::<serde_json::Value>();
    let next = values.next();
    let used = values.byte_offset();
    match next {
        None => Ok(None),
        Some(Ok(value)) => {
            drop(buffer.split_to(used));
            Ok(Some(value))
        }
        Some(Err(error)) if error.is_eof() && buffer.len() < LIMIT => Ok(None),
        Some(Err(error)) => Err(io::Error::other(error)),
    }
}
