//! TLS as libvirt does it: mutual certificates, and one byte of the server's before the first frame.
//!
//! The server checks the client's certificate after the handshake and then says so with a single byte 1; it closes instead
//! when it refuses. Whoever does not read that byte reads every later frame shifted by one.

mod connect;
mod files;

use thiserror::Error;

pub use connect::TlsEndpoint;
pub use files::{TlsClient, TlsFiles, TlsFilesError};

/// What any error of the layers below is kept as: their types are not part of this crate's promises.
pub(crate) type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why TLS came to nothing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TlsError {
    /// Certificates or key of this side cannot be used.
    #[error(transparent)]
    Files(#[from] TlsFilesError),
    /// No certificate can be for what the endpoint names.
    #[error("`{0}` is no name or address that a certificate could be for")]
    NoName(String),
    /// The server's certificate is for others.
    #[error("the server's certificate is not for `{expected}`")]
    WrongName {
        /// Name or address that it should be for.
        expected: String,
        /// Names it is for, where known.
        #[source]
        source: Source,
    },
    /// The server's certificate is not accepted: unknown authority, expired, …
    #[error("the server's certificate is not trusted")]
    Untrusted(#[source] Source),
    /// The server did not accept this side: no certificate, a wrong one, or not from this address.
    #[error("the server rejected our certificate or address")]
    Rejected(#[source] Option<Source>),
    /// The handshake failed otherwise: no TLS at the other end, no common version.
    #[error("the TLS handshake failed")]
    Handshake(#[source] Source),
}

impl TlsError {
    /// Whether a certificate, of either side, was not accepted.
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::WrongName { .. } | Self::Untrusted(_) | Self::Rejected(_) | Self::Files(_))
    }
}
