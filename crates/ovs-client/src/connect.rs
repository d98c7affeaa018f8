//! The seam between this crate and the network: anything that yields a byte stream.
//!
//! A unix socket, a TCP port, TLS or a relay that forwards a remote socket are the same to every protocol here, so
//! callers hand in a [`Connector`] and the protocols never see an address.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

/// A connected byte stream.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connected byte stream of any kind.
pub type BoxedStream = Box<dyn Stream>;

/// A connection attempt in progress.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = io::Result<BoxedStream>> + Send + 'a>>;

/// Something that connects to one daemon, again and again.
///
/// `Display` names the peer in error texts.
pub trait Connector: fmt::Debug + fmt::Display + Send + Sync {
    /// Opens a new stream.
    fn connect(&self) -> Connecting<'_>;
}

impl<C: Connector + ?Sized> Connector for Arc<C> {
    fn connect(&self) -> Connecting<'_> {
        self.as_ref().connect()
    }
}

/// Why there is no stream to a peer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The attempt failed.
    #[error("cannot connect to {peer}")]
    Failed {
        /// The peer, as its connector prints it.
        peer: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The attempt took too long.
    #[error("cannot connect to {peer} within {after:?}")]
    Deadline {
        /// The peer, as its connector prints it.
        peer: String,
        /// The deadline.
        after: Duration,
    },
}

/// Connects within a deadline.
pub(crate) async fn connect(
    connector: &dyn Connector,
    within: Duration,
) -> Result<BoxedStream, ConnectError> {
    match timeout(within, connector.connect()).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(source)) => Err(ConnectError::Failed { peer: connector.to_string(), source }),
        Err(_) => Err(ConnectError::Deadline { peer: connector.to_string(), after: within }),
    }
}
