//! The accept loop: TLS, HTTP/1.1 and HTTP/2, and the order in which a server ends.
//!
//! To end: `/readyz` fails first, and requests are still served until nobody sends new ones; then watches end cleanly, HTTP/2
//! connections are told to go away, and what is under way may finish.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use rustls_pki_types::CertificateDer;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{debug, info, warn};

use super::builder::{ApiServer, Site};
use super::certificate::{TlsConfig, TlsError};
use super::stall::{Impatient, Streams};
use crate::identity::PeerCertificates;

/// Why serving ended other than by being told to.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The TLS configuration cannot be used.
    #[error("configuring TLS")]
    Tls {
        /// What is wrong.
        #[source]
        source: TlsError,
    },
}

impl ApiServer {
    /// Serves until `shutdown` is cancelled and everything under way has ended.
    pub async fn serve(
        &self,
        listener: TcpListener,
        tls: TlsConfig,
        shutdown: CancellationToken,
    ) -> Result<(), ServeError> {
        let config = tls.server_config().map_err(|source| ServeError::Tls { source })?;
        let acceptor = TlsAcceptor::from(config);
        let connections = GracefulShutdown::new();
        let tasks = TaskTracker::new();
        let abort = CancellationToken::new();
        let slots = Arc::new(Semaphore::new(self.site.limits.connections));
        let accepting = async {
            loop {
                let Ok(slot) = slots.clone().acquire_owned().await else { return };
                let (stream, address) = accept(&listener).await;
                let connection = Connection {
                    site: self.site.clone(),
                    acceptor: acceptor.clone(),
                    watcher: connections.watcher(),
                    address,
                };
                let abort = abort.clone();
                tasks.spawn(async move {
                    tokio::select! {
                        () = connection.run(stream) => {}
                        () = abort.cancelled() => {}
                    }
                    drop(slot);
                });
            }
        };
        tokio::select! {
            () = accepting => {}
            () = tls.follow() => {}
            () = self.until_drained(&shutdown) => {}
        }
        drop(listener);
        self.site.end_of_watches.cancel();
        tasks.close();
        let finish = self.site.drain.finish;
        if tokio::time::timeout(finish, connections.shutdown()).await.is_err() {
            warn!(seconds = finish.as_secs(), "connections still open at the end were closed");
        }
        abort.cancel();
        tasks.wait().await;
        info!("server ended");
        Ok(())
    }

    async fn until_drained(&self, shutdown: &CancellationToken) {
        shutdown.cancelled().await;
        info!(seconds = self.site.drain.announce.as_secs(), "shutting down, still serving");
        self.site.health.announce_shutdown();
        tokio::time::sleep(self.site.drain.announce).await;
    }
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                // A connection that is gone already, or no file descriptor left: both pass.
                warn!(error = &error as &dyn std::error::Error, "connection could not be accepted");
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        }
    }
}

struct Connection {
    site: Arc<Site>,
    acceptor: TlsAcceptor,
    watcher: Watcher,
    address: SocketAddr,
}

impl Connection {
    async fn run(self, stream: TcpStream) {
        if let Err(error) = stream.set_nodelay(true) {
            debug!(error = &error as &dyn std::error::Error, "TCP_NODELAY could not be set");
        }
        let limits = &self.site.limits;
        let handshake = tokio::time::timeout(limits.handshake, self.acceptor.accept(stream));
        let stream = match handshake.await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                debug!(error = &error as &dyn std::error::Error, "TLS handshake failed");
                return;
            }
            Err(_) => return debug!("TLS handshake took too long"),
        };
        let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
        let peer = Arc::new(PeerCertificates::new(chain.iter().map(CertificateDer::clone).collect()));
        let stream = Impatient::new(stream, limits.stalled);
        let (site, address) = (self.site.clone(), self.address);
        let service = service_fn(move |request| {
            let (site, peer) = (site.clone(), peer.clone());
            async move { Ok::<_, Infallible>(site.handle(request, &peer, address).await) }
        });
        let builder = http_builder(&self.site);
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        if let Err(error) = self.watcher.watch(connection.into_owned()).await {
            debug!(error = &*error as &dyn std::error::Error, "connection ended with an error");
        }
    }
}

fn http_builder(site: &Site) -> Builder<Streams> {
    let limits = &site.limits;
    let header_bytes = usize::try_from(limits.header_bytes).unwrap_or(usize::MAX);
    let mut builder = Builder::new(Streams::new(limits.stalled, site.metrics.cut_off()));
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.headers)
        .max_buf_size(header_bytes.saturating_add(limits.uri_bytes).max(16 << 10));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.concurrent_streams)
        // Many clients share a connection through the front proxy, and may all go away at once.
        .max_pending_accept_reset_streams(1000)
        .max_header_list_size(limits.header_bytes)
        .max_send_buf_size(128 << 10)
        .keep_alive_interval(std::time::Duration::from_secs(30))
        .keep_alive_timeout(std::time::Duration::from_secs(20));
    builder
}
