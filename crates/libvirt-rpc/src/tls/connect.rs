//! TCP, the handshake, the verdict: then a stream like any other.

use std::io;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{CertificateError, Error as Rustls};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{TlsClient, TlsError};
use crate::connector::{ConnectError, Connecting, Connector, Stream};
use crate::endpoint::display_authority;

/// The byte by which a server accepts the client.
const ACCEPTED: u8 = 1;

/// A daemon's TLS socket, with this side's certificates.
#[derive(Debug, Clone)]
pub struct TlsEndpoint {
    host: String,
    port: u16,
    server_name: Option<String>,
    client: TlsClient,
}

impl TlsEndpoint {
    /// The socket at that host, whose certificate must be for `host`: a name, or an address without brackets.
    pub fn new(host: impl Into<String>, port: u16, client: TlsClient) -> Self {
        Self { host: host.into(), port, server_name: None, client }
    }

    /// The server's certificate must be for this name instead, where hosts are reached by addresses that are in no certificate.
    #[must_use]
    pub fn with_server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    async fn open(&self) -> Result<Box<dyn Stream>, ConnectError> {
        let config = self.client.config().map_err(TlsError::from)?;
        let expected = self.server_name.as_ref().unwrap_or(&self.host);
        let name = ServerName::try_from(expected.clone()).map_err(|_| TlsError::NoName(expected.clone()))?;
        let tcp = TcpStream::connect((self.host.as_str(), self.port)).await?;
        // Frames are small and wait for answers.
        tcp.set_nodelay(true)?;
        let stream = TlsConnector::from(Arc::clone(&config)).connect(name, tcp).await;
        let mut stream = stream.map_err(|error| handshake_error(error, expected))?;
        await_verdict(&mut stream).await?;
        Ok(Box::new(stream))
    }
}

impl Connector for TlsEndpoint {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(self.open())
    }

    fn peer(&self) -> String {
        format!("tls://{}", display_authority(&self.host, self.port))
    }

    fn is_private(&self) -> bool {
        true
    }
}

/// With TLS 1.3 this is also where a server's refusal of the certificate arrives: it comes after the client's handshake is over.
async fn await_verdict<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut TlsStream<S>) -> Result<(), TlsError> {
    match stream.read_u8().await {
        Ok(ACCEPTED) => Ok(()),
        Ok(other) => Err(TlsError::Rejected(Some(format!("the verdict is {other}, not {ACCEPTED}").into()))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(TlsError::Rejected(None)),
        Err(error) => Err(TlsError::Rejected(Some(error.into()))),
    }
}

fn handshake_error(error: io::Error, expected: &str) -> TlsError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Rustls>()) {
        Some(Rustls::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => TlsError::WrongName { expected: expected.to_owned(), source: error.into() },
        Some(Rustls::InvalidCertificate(_)) => TlsError::Untrusted(error.into()),
        // The server's word about our certificate, where it comes within the handshake (TLS 1.2).
        Some(Rustls::AlertReceived(_)) => TlsError::Rejected(Some(error.into())),
        _ => TlsError::Handshake(error.into()),
    }
}
