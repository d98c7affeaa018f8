//! A plain HTTP/2 client: what is measured is the server, not a library's decoding.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// A server, and who asks it.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) authority: PathBuf,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

#[derive(Clone)]
pub(crate) struct Connection(SendRequest<Full<Bytes>>);

impl Target {
    pub(crate) async fn connect(&self) -> Connection {
        let mut roots = RootCertStore::empty();
        for authority in CertificateDer::pem_file_iter(&self.authority).unwrap() {
            roots.add(authority.unwrap()).unwrap();
        }
        let chain = CertificateDer::pem_file_iter(&self.certificate).unwrap();
        let key = PrivateKeyDer::from_pem_file(&self.key).unwrap();
        let mut config = ClientConfig::builder()
            .with_root_certificates(roots)
            .with_client_auth_cert(chain.collect::<Result<_, _>>().unwrap(), key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let stream = TcpStream::connect(self.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let name = ServerName::from(self.address.ip());
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
        // Windows like those of Go's client.
        let (sender, connection) = Builder::new(TokioExecutor::new())
            .initial_stream_window_size(4 << 20)
            .initial_connection_window_size(1 << 30)
            .handshake(TokioIo::new(stream))
            .await
            .unwrap();
        tokio::spawn(connection);
        Connection(sender)
    }
}

impl Connection {
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Response<Incoming> {
        let uri = format!("https://server{path}");
        let mut request = Request::builder().method(method).uri(uri).header("accept", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.0.clone().send_request(request.body(Full::new(body.into())).unwrap()).await.unwrap()
    }

    /// The body of a good answer.
    pub(crate) async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Bytes {
        let answer = self.send(Method::GET, path, headers, Bytes::new()).await;
        let good = answer.status().is_success();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert!(good, "{path}: {body:?}");
        body
    }
}
