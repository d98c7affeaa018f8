//! Where a simulated daemon listens, and whom it lets in: TCP or a unix socket, TLS over either, a name and a password.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio_rustls::rustls::ServerConfig;

use super::daemon::Daemon;
use super::sasl::Accounts;
use crate::model::Host;

/// A bound socket with what stands before it.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    pub(super) tls: Option<Tls>,
    pub(super) accounts: Option<Accounts>,
    pub(super) destinations: BTreeMap<String, Arc<Host>>,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// TLS of a daemon. Whether a client's certificate is needed is in the configuration.
#[derive(Debug, Clone)]
pub struct Tls {
    /// What it shows.
    pub config: Arc<ServerConfig>,
    /// What it shows under [`Fault::WrongCertificate`](crate::model::Fault::WrongCertificate).
    pub wrong: Arc<ServerConfig>,
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self::new(Socket::Tcp(listener))
    }
}

impl From<UnixListener> for Listener {
    fn from(listener: UnixListener) -> Self {
        Self::new(Socket::Unix(listener))
    }
}

/// A byte stream to a client.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Listener {
    fn new(socket: Socket) -> Self {
        Self { socket, tls: None, accounts: None, destinations: BTreeMap::new() }
    }

    /// By TLS only.
    #[must_use]
    pub fn with_tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Only for who knows a name and a password.
    #[must_use]
    pub fn with_accounts(mut self, accounts: Accounts) -> Self {
        self.accounts = Some(accounts);
        self
    }

    /// A host that domains can be migrated to, under the URI by which the source's daemon knows it.
    #[must_use]
    pub fn with_destination(mut self, uri: impl Into<String>, host: Arc<Host>) -> Self {
        self.destinations.insert(uri.into(), host);
        self
    }

    pub(super) fn daemon(&self, host: Arc<Host>) -> Daemon {
        Daemon {
            host,
            tls: self.tls.clone(),
            accounts: self.accounts.clone(),
            destinations: self.destinations.clone(),
            limits: std::sync::Mutex::default(),
        }
    }

    pub(super) async fn accept(&self) -> io::Result<Box<dyn Stream>> {
        match &self.socket {
            Socket::Tcp(listener) => {
                let (stream, _address) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Box::new(stream))
            }
            Socket::Unix(listener) => {
                let (stream, _address) = listener.accept().await?;
                Ok(Box::new(stream))
            }
        }
    }
}
