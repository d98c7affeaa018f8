//! A host as libvirtd: the RPC protocol over TCP, TLS or a unix socket, computed from the model.
//!
//! ```text
//!  client ─frame─► session ─call─► host_calls, domain_calls ─► model
//!         ◄─frame─    ▲  └──────── reply or failure
//!                     └── events ◄── Host::subscribe
//! ```
//!
//! It answers as libvirtd with the QEMU driver does, errors and their codes included, because a client is judged by how it
//! copes with those. The wire's shapes come from `libvirt-rpc`, so each is written once.

mod daemon;
mod devices;
mod documents;
mod domain_calls;
mod events;
mod failure;
mod host_calls;
mod jobs;
mod listener;
mod migration_calls;
mod node;
mod sasl;
mod session;
mod stats;

use std::sync::Arc;
use std::time::Duration;

use daemon::Daemon;
pub use listener::{Listener, Tls};
pub use sasl::Accounts;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::model::{Fault, Host};

/// Pause after an accept that failed, e.g. because the process has no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves `host` on `listener` for as long as the returned future is polled; dropping it drops all connections.
pub async fn serve(host: Arc<Host>, listener: impl Into<Listener>) {
    let listener = listener.into();
    let daemon = Arc::new(listener.daemon(Arc::clone(&host)));
    let mut sessions = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(stream) if !is_refusing(&host) => {
                    sessions.spawn(session::run(Arc::clone(&daemon), stream));
                }
                // Closed at once, as scripted.
                Ok(stream) => drop(stream),
                Err(error) => {
                    tracing::warn!(host = %host.name, %error, "cannot accept a libvirt connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_ended) = sessions.join_next() => {}
        }
    }
}

/// Serves one connection to `host`, for as long as the returned future is polled.
pub async fn serve_connection(host: Arc<Host>, stream: TcpStream) {
    if !is_refusing(&host) {
        session::run(Arc::new(Daemon::open_to_all(host)), Box::new(stream)).await;
    }
}

fn is_refusing(host: &Host) -> bool {
    host.read(|state| matches!(state.faults.libvirt, Fault::Refuse | Fault::Unavailable))
}
