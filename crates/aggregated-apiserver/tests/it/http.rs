//! A plain HTTP client over TLS, which shows exactly what the server sends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::certificates::Pair;

pub(crate) enum Client {
    One(tokio::sync::Mutex<http1::SendRequest<Full<Bytes>>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// TLS to a server, with the certificate that it showed.
pub(crate) async fn tls(
    address: SocketAddr,
    authority: &str,
    identity: Option<&Pair>,
    protocol: &[u8],
) -> std::io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authority.as_bytes()) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(pair) => {
            let chain = CertificateDer::pem_slice_iter(pair.certificate.as_bytes());
            let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
            builder.with_client_auth_cert(chain.collect::<Result<_, _>>().unwrap(), key).unwrap()
        }
    };
    config.alpn_protocols = vec![protocol.to_vec()];
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

impl Client {
    pub(crate) async fn http2(address: SocketAddr, authority: &str, identity: Option<&Pair>) -> Self {
        let stream = tls(address, authority, identity, b"h2").await.unwrap();
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .initial_stream_window_size(64 << 10)
            .initial_connection_window_size(16 << 20)
            .handshake(TokioIo::new(stream))
            .await
            .unwrap();
        tokio::spawn(connection);
        Self::Two(sender)
    }

    pub(crate) async fn http1(address: SocketAddr, authority: &str, identity: Option<&Pair>) -> Self {
        let stream = tls(address, authority, identity, b"http/1.1").await.unwrap();
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Self::One(tokio::sync::Mutex::new(sender))
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<Response<Incoming>, hyper::Error> {
        self.send_body(method, path, headers, Bytes::new()).await
    }

    pub(crate) async fn send_body(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Response<Incoming>, hyper::Error> {
        let uri = match self {
            Self::One(_) => path.to_owned(),
            Self::Two(_) => format!("https://localhost{path}"),
        };
        let mut request = Request::builder().method(method).uri(uri).header("host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body)).unwrap();
        match self {
            Self::One(sender) => {
                let mut sender = sender.lock().await;
                sender.ready().await?;
                sender.send_request(request).await
            }
            Self::Two(sender) => sender.clone().send_request(request).await,
        }
    }

    pub(crate) async fn call(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.call_with(method, path, headers, Bytes::new()).await
    }

    pub(crate) async fn call_with(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let response = self.send_body(method, path, headers, body.into()).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer { code: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, &[]).await
    }

    pub(crate) async fn accepting(&self, path: &str, accept: &str) -> Answer {
        self.call(Method::GET, path, &[("accept", accept)]).await
    }

    pub(crate) async fn watch(&self, path: &str) -> Lines {
        self.watch_as(path, "application/json").await
    }

    pub(crate) async fn watch_as(&self, path: &str, accept: &str) -> Lines {
        let response = self.send(Method::GET, path, &[("accept", accept)]).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/json");
        Lines { body: response.into_body(), buffer: Vec::new() }
    }
}

/// The events of a watch.
pub(crate) struct Lines {
    body: Incoming,
    buffer: Vec<u8>,
}

impl Lines {
    /// The next event; `None` at a clean end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            let frame = tokio::time::timeout(Duration::from_secs(20), self.body.frame());
            match frame.await.expect("an event or the end within 20 s") {
                Some(frame) => self.buffer.extend_from_slice(&frame.unwrap().into_data().unwrap_or_default()),
                None => {
                    assert!(self.buffer.is_empty(), "the stream ended within a line");
                    return None;
                }
            }
        }
    }

    /// The next event, as its type and the name in it.
    pub(crate) async fn brief(&mut self) -> (String, String) {
        let event = self.next().await.expect("an event");
        let name = event["object"]["metadata"]["name"].as_str().unwrap_or_default();
        (event["type"].as_str().unwrap().to_owned(), name.to_owned())
    }

    /// Fails if anything comes within a short time.
    pub(crate) async fn is_silent(&mut self) {
        assert!(self.buffer.is_empty());
        let frame = tokio::time::timeout(Duration::from_millis(150), self.body.frame()).await;
        assert!(frame.is_err(), "{frame:?}");
    }
}
