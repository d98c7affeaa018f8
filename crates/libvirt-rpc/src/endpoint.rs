//! Where a daemon listens, and the seam through which anything else that carries bytes comes in.
//!
//! The protocol needs a byte stream and nothing more. A relay, a TLS endpoint or a pipe in a test implements
//! [`Connector`] and is then the same to callers as a socket of this machine.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::str::FromStr;

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

/// Port of a daemon's plain TCP socket.
pub const DEFAULT_TCP_PORT: u16 = 16_509;

/// A byte stream in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// What [`Connector::connect`] gives: a stream, later.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = io::Result<Box<dyn Stream>>> + Send + 'a>>;

/// Makes byte streams to one daemon.
pub trait Connector: Send + Sync {
    /// A new stream, ready for the first frame: encryption and its verdict are done.
    fn connect(&self) -> Connecting<'_>;

    /// What it connects to, for messages.
    fn peer(&self) -> String;
}

/// A socket of a daemon.
///
/// ```
/// use libvirt_rpc::Endpoint;
/// let endpoint: Endpoint = "tcp://[::1]:16509".parse().unwrap();
/// assert_eq!(endpoint, Endpoint::Tcp { host: "::1".into(), port: 16509 });
/// assert_eq!(endpoint.to_string(), "tcp://[::1]:16509");
/// assert_eq!("unix:/run/libvirt/libvirt-sock".parse(), Ok(Endpoint::Unix("/run/libvirt/libvirt-sock".into())));
/// ```
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
}

/// Text that is no endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{text}` is no libvirt endpoint: {problem} (expected `unix:/PATH` or `tcp://HOST[:PORT]`)")]
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
        let Some(authority) = text.strip_prefix("tcp://") else { return Err(error("unknown scheme")) };
        let (host, port) = match authority.strip_prefix('[') {
            Some(bracketed) => bracketed.split_once(']').ok_or_else(|| error("the bracket is not closed"))?,
            None => match authority.rfind(':') {
                Some(colon) => authority.split_at(colon),
                None => (authority, ""),
            },
        };
        if host.is_empty() || host.contains(['/', '@', '[', ']']) {
            return Err(error("no host name"));
        }
        let port = match port.strip_prefix(':') {
            Some(digits) => digits.parse().map_err(|_| error("the port is no number below 65536"))?,
            None if port.is_empty() => DEFAULT_TCP_PORT,
            None => return Err(error("the port is no number below 65536")),
        };
        Ok(Self::Tcp { host: host.to_owned(), port })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
            Self::Tcp { host, port } if host.contains(':') => write!(out, "tcp://[{host}]:{port}"),
            Self::Tcp { host, port } => write!(out, "tcp://{host}:{port}"),
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
            }
        })
    }

    fn peer(&self) -> String {
        self.to_string()
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
        ] {
            assert_eq!(text.parse::<Endpoint>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn the_port_has_a_default() {
        assert_eq!("tcp://node-1".parse::<Endpoint>().unwrap().to_string(), "tcp://node-1:16509");
        assert_eq!("tcp://[::1]".parse::<Endpoint>().unwrap().to_string(), "tcp://[::1]:16509");
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
        ] {
            let error = text.parse::<Endpoint>().unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
