//! One address in front of several replicas, as a Service is.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// Passes bytes on to the replica of the moment.
#[derive(Clone)]
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    target: Arc<Mutex<(SocketAddr, CancellationToken)>>,
}

impl Relay {
    pub(crate) async fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let relay = Self {
            address: listener.local_addr().unwrap(),
            target: Arc::new(Mutex::new((target, CancellationToken::new()))),
        };
        let target = relay.target.clone();
        tokio::spawn(async move {
            loop {
                let (mut near, _) = listener.accept().await.unwrap();
                let (address, cut) = target.lock().unwrap().clone();
                tokio::spawn(async move {
                    // A replica that is not there closes the connection, as a Service does.
                    let Ok(mut far) = TcpStream::connect(address).await else { return };
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
                        () = cut.cancelled() => {}
                    }
                });
            }
        });
        relay
    }

    /// New connections go to another replica, those to the old one break.
    pub(crate) fn break_and_lead_to(&self, address: SocketAddr) {
        let old = std::mem::replace(&mut *self.target.lock().unwrap(), (address, CancellationToken::new()));
        old.1.cancel();
    }
}
