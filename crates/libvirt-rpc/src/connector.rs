//! The seam through which bytes come in.
//!
//! The protocol needs a byte stream and nothing more. A socket of this machine, TCP, TLS, a relay or a pipe in a test implements
//! [`Connector`] and is then the same to callers.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};

#[cfg(feature = "tls")]
use crate::tls::TlsError;

/// A byte stream in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// What [`Connector::connect`] gives: a stream, later.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Stream>, ConnectError>> + Send + 'a>>;

/// Makes byte streams to one daemon.
pub trait Connector: Send + Sync {
    /// A new stream, ready for the first frame: encryption and its verdict are done.
    fn connect(&self) -> Connecting<'_>;

    /// What it connects to, for messages.
    fn peer(&self) -> String;

    /// Whether nobody on the way can read along: TLS, or a socket of this machine. Decides whether a password may be sent as it
    /// is.
    fn is_private(&self) -> bool {
        false
    }
}

impl<C: Connector + ?Sized> Connector for Arc<C> {
    fn connect(&self) -> Connecting<'_> {
        (**self).connect()
    }

    fn peer(&self) -> String {
        (**self).peer()
    }

    fn is_private(&self) -> bool {
        (**self).is_private()
    }
}

/// Why there is no byte stream.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The peer cannot be reached, or not in this way.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The peer was reached, and TLS came to nothing.
    #[cfg(feature = "tls")]
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl ConnectError {
    /// Whether trust is what is missing: a certificate, of either side, was not accepted.
    pub fn is_denied(&self) -> bool {
        match self {
            Self::Io(_) => false,
            #[cfg(feature = "tls")]
            Self::Tls(error) => error.is_denied(),
        }
    }
}
