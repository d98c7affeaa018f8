//! Where a daemon listens, in Open vSwitch's own spelling: `unix:/path` or `tcp:HOST:PORT`.
//!
//! Operators copy these words from `ovs-vsctl` and from `external_ids:ovn-remote`, so we read and print exactly them.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use tokio::net::{TcpStream, UnixStream};

use crate::connect::{BoxedStream, Connecting, Connector};

/// An address that this crate can connect to by itself.
///
/// ```
/// use ovs_client::Endpoint;
///
/// let endpoint: Endpoint = "tcp:[::1]:6640".parse()?;
/// assert_eq!(endpoint, Endpoint::Tcp { host: "::1".to_owned(), port: 6640 });
/// assert_eq!(endpoint.to_string(), "tcp:[::1]:6640");
/// # Ok::<(), ovs_client::EndpointError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// A unix stream socket.
    Unix(PathBuf),
    /// A TCP port; `host` is a name or an address without brackets.
    Tcp {
        /// Name or address.
        host: String,
        /// Port.
        port: u16,
    },
}

/// Why a text is not an [`Endpoint`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Neither `unix:` nor `tcp:`. TLS endpoints (`ssl:`) need a [`Connector`] that speaks TLS.
    #[error("endpoint {0:?} starts with neither unix: nor tcp:")]
    Scheme(String),
    /// `unix:` without a path.
    #[error("endpoint {0:?} names no socket")]
    Path(String),
    /// `tcp:` without a host, or an IPv6 address without brackets.
    #[error("endpoint {0:?} names no host; write tcp:HOST:PORT, an IPv6 address in brackets")]
    Host(String),
    /// The port is missing or not a number from 1 to 65535.
    #[error("endpoint {0:?} has no port from 1 to 65535 at its end")]
    Port(String),
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err(EndpointError::Path(text.to_owned())),
                path => Ok(Self::Unix(PathBuf::from(path))),
            };
        }
        let rest = text.strip_prefix("tcp:").ok_or_else(|| EndpointError::Scheme(text.to_owned()))?;
        let (host, port) = rest.rsplit_once(':').ok_or_else(|| EndpointError::Port(text.to_owned()))?;
        let port = match port.parse() {
            Ok(port) if port > 0 => port,
            _ => return Err(EndpointError::Port(text.to_owned())),
        };
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = bracketed.unwrap_or(host);
        let plain = bracketed.is_some() || !host.contains(':');
        if host.is_empty() || !plain || host.contains(['[', ']', '/', ' ']) {
            return Err(EndpointError::Host(text.to_owned()));
        }
        Ok(Self::Tcp { host: host.to_owned(), port })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
            Self::Tcp { host, port } if host.contains(':') => write!(out, "tcp:[{host}]:{port}"),
            Self::Tcp { host, port } => write!(out, "tcp:{host}:{port}"),
        }
    }
}

impl Connector for Endpoint {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move {
            let stream: BoxedStream = match self {
                Self::Unix(path) => Box::new(UnixStream::connect(path).await?),
                Self::Tcp { host, port } => {
                    let stream = TcpStream::connect((host.as_str(), *port)).await?;
                    stream.set_nodelay(true)?;
                    Box::new(stream)
                }
            };
            Ok(stream)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        for text in
            ["unix:/run/openvswitch/db.sock", "tcp:10.99.0.11:6640", "tcp:[fd00::1]:6640", "tcp:node-1:1"]
        {
            assert_eq!(text.parse::<Endpoint>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_text_that_is_no_endpoint_is_refused_with_the_reason() {
        let scheme = |text: &str| EndpointError::Scheme(text.to_owned());
        assert_eq!("ssl:10.0.0.1:6642".parse::<Endpoint>(), Err(scheme("ssl:10.0.0.1:6642")));
        assert_eq!("unix:".parse::<Endpoint>(), Err(EndpointError::Path("unix:".to_owned())));
        for text in ["tcp:10.0.0.1", "tcp:10.0.0.1:0", "tcp:10.0.0.1:70000", "tcp:10.0.0.1:x"] {
            assert_eq!(text.parse::<Endpoint>(), Err(EndpointError::Port(text.to_owned())));
        }
        for text in ["tcp::6640", "tcp:fd00::1:6640", "tcp:[]:1", "tcp:a b:1"] {
            assert_eq!(text.parse::<Endpoint>(), Err(EndpointError::Host(text.to_owned())));
        }
    }
}
