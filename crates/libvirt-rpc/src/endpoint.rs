//! Where a daemon listens, as text that people write into configurations.

use std::fmt;
#[cfg(not(feature = "tls"))]
use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use thiserror::Error;
use tokio::net::{TcpStream, UnixStream};

use crate::connector::{Connecting, Connector, Stream};

/// Port of a daemon's plain TCP socket.
pub const DEFAULT_TCP_PORT: u16 = 16_509;

/// Port of a daemon's TLS socket.
pub const DEFAULT_TLS_PORT: u16 = 16_514;

/// A socket of a daemon.
///
/// ```
/// use libvirt_rpc::Endpoint;
/// let endpoint: Endpoint = "tcp://[::1]:16509".parse().unwrap();
/// assert_eq!(endpoint, Endpoint::Tcp { host: "::1".into(), port: 16509 });
/// assert_eq!(endpoint.to_string(), "tcp://[::1]:16509");
/// assert_eq!("unix:/run/libvirt/libvirt-sock".parse(), Ok(Endpoint::Unix("/run/libvirt/libvirt-sock".into())));
/// assert_eq!("tls://node-1".parse(), Ok(Endpoint::Tls { host: "node-1".into(), port: 16514 }));
/// ```
///
/// An endpoint is a [`Connector`]. For TLS it uses the certificates of libvirt's own clients
/// ([`TlsFiles::of_libvirt`](crate::TlsFiles::of_libvirt)); [`TlsEndpoint`](crate::TlsEndpoint) takes others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// A unix socket of this machine.
    Unix(PathBuf),
    /// Plain TCP.
    Tcp {
        /// Name or address; an IPv6 address without brackets.
        host: String,
        /// Port.
        port: u16,
    },
    /// TLS over TCP.
    Tls {
        /// Name or address, for which the server's certificate must be; an IPv6 address without brackets.
        host: String,
        /// Port.
        port: u16,
    },
}

/// Text that is no endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{text}` is no libvirt endpoint: {problem} (expected `unix:/PATH`, `tcp://HOST[:PORT]` or `tls://HOST[:PORT]`)"
)]
pub struct EndpointError {
    text: String,
    problem: &'static str,
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let error = |problem| EndpointError { text: text.to_owned(), problem };
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.starts_with('/') {
                Ok(Self::Unix(path.into()))
            } else {
                Err(error("the path is not absolute"))
            };
        }
        if let Some(authority) = text.strip_prefix("tcp://") {
            let (host, port) = parse_authority(authority, DEFAULT_TCP_PORT).map_err(error)?;
            return Ok(Self::Tcp { host, port });
        }
        if let Some(authority) = text.strip_prefix("tls://") {
            let (host, port) = parse_authority(authority, DEFAULT_TLS_PORT).map_err(error)?;
            return Ok(Self::Tls { host, port });
        }
        Err(error("unknown scheme"))
    }
}

fn parse_authority(authority: &str, default_port: u16) -> Result<(String, u16), &'static str> {
    const NO_PORT: &str = "the port is no number from 1 to 65535";
    let (host, port) = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']').ok_or("the bracket is not closed")?,
        None => match authority.rfind(':') {
            Some(colon) => authority.split_at(colon),
            None => (authority, ""),
        },
    };
    let bracketed = authority.starts_with('[');
    if host.is_empty() || host.contains(['/', '@', '[', ']', ' ']) {
        return Err("no host name");
    }
    if host.contains(':') && !bracketed {
        return Err("an IPv6 address needs brackets");
    }
    let port = match port.strip_prefix(':') {
        Some(digits) => digits.parse().ok().filter(|port| *port > 0).ok_or(NO_PORT)?,
        None if port.is_empty() => default_port,
        None => return Err(NO_PORT),
    };
    Ok((host.to_owned(), port))
}

/// Host and port as they are written, an IPv6 address in brackets.
pub(crate) fn display_authority(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
            Self::Tcp { host, port } => write!(out, "tcp://{}", display_authority(host, *port)),
            Self::Tls { host, port } => write!(out, "tls://{}", display_authority(host, *port)),
        }
    }
}

impl Connector for Endpoint {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move {
            match self {
                Self::Unix(path) => Ok(Box::new(UnixStream::connect(path).await?) as Box<dyn Stream>),
                Self::Tcp { host, port } => {
                    let stream = TcpStream::connect((host.as_str(), *port)).await?;
                    // Frames are small and wait for answers.
                    stream.set_nodelay(true)?;
                    Ok(Box::new(stream) as Box<dyn Stream>)
                }
                #[cfg(feature = "tls")]
                Self::Tls { host, port } => {
                    let client = crate::TlsClient::of_files(crate::TlsFiles::of_libvirt());
                    crate::TlsEndpoint::new(host, *port, client).connect().await
                }
                #[cfg(not(feature = "tls"))]
                Self::Tls { .. } => {
                    let message = "built without the feature `tls`";
                    Err(io::Error::new(io::ErrorKind::Unsupported, message).into())
                }
            }
        })
    }

    fn peer(&self) -> String {
        self.to_string()
    }

    fn is_private(&self) -> bool {
        !matches!(self, Self::Tcp { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_what_is_read() {
        for text in [
            "unix:/run/libvirt/libvirt-sock",
            "tcp://node-1:16509",
            "tcp://10.0.0.1:1",
            "tcp://[fe80::1]:16509",
            "tls://node-1:16514",
            "tls://[fe80::1]:1",
        ] {
            assert_eq!(text.parse::<Endpoint>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn the_port_has_a_default() {
        assert_eq!("tcp://node-1".parse::<Endpoint>().unwrap().to_string(), "tcp://node-1:16509");
        assert_eq!("tcp://[::1]".parse::<Endpoint>().unwrap().to_string(), "tcp://[::1]:16509");
        assert_eq!("tls://node-1".parse::<Endpoint>().unwrap().to_string(), "tls://node-1:16514");
    }

    #[test]
    fn what_is_no_endpoint_says_why() {
        for (text, problem) in [
            ("", "unknown scheme"),
            ("qemu:///system", "unknown scheme"),
            ("unix:run", "not absolute"),
            ("tcp://", "no host name"),
            ("tcp://:1", "no host name"),
            ("tcp://user@host:1", "no host name"),
            ("tcp://host:port", "no number"),
            ("tcp://host:65536", "no number"),
            ("tcp://[::1", "not closed"),
            ("tcp://[::1]16509", "no number"),
            ("tls://host:0", "no number"),
            ("tcp://fe80::1", "needs brackets"),
        ] {
            let error = text.parse::<Endpoint>().unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
