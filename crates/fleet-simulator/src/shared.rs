//! Many hosts on one listener: the address that a client connects to says which host it means.
//!
//! All of 127.0.0.0/8 is this machine, so thousands of hosts with an address each need one socket per protocol, and a
//! process that may open 20,000 files can be 5,000 hosts with two connections each.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::model::{Fleet, Host};
use crate::{libvirt, ovs};

/// First of the hosts' addresses.
const BASE: u32 = u32::from_be_bytes([127, 64, 0, 0]);
/// Pause after an accept that failed, e.g. because the process has no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Which daemon of the hosts a listener is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Daemon {
    /// libvirtd.
    Libvirt,
    /// ovsdb-server.
    Ovsdb,
}

/// A listener for all hosts of a fleet, on every address of the machine.
#[derive(Debug)]
pub struct SharedListener {
    listener: TcpListener,
    hosts: HashMap<IpAddr, Arc<Host>>,
    daemon: Daemon,
}

/// The address of the host at that place, from 0.
pub fn address(index: usize) -> Ipv4Addr {
    let index = u32::try_from(index).unwrap_or(u32::MAX);
    // Not the address of a network, and not far away from it either: 2^22 hosts have room.
    Ipv4Addr::from(BASE.saturating_add(index).saturating_add(1))
}

impl SharedListener {
    /// Listens on a free port.
    ///
    /// # Errors
    /// When there is none.
    pub async fn bind(fleet: &Fleet, daemon: Daemon) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))).await?;
        let hosts = fleet.hosts.iter().enumerate();
        let hosts = hosts.map(|(index, host)| (address(index).into(), Arc::clone(host))).collect();
        Ok(Self { listener, hosts, daemon })
    }

    /// The port, the same for all hosts.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn port(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }

    /// Serves all hosts for as long as the returned future is polled; dropping it drops all connections.
    pub async fn serve(self) {
        let mut sessions = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        // A client that meant none of the hosts is hung up on.
                        if let Some(host) = self.meant(&stream) {
                            sessions.spawn(serve_connection(self.daemon, host, stream));
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection to a simulated host");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
                Some(_ended) = sessions.join_next() => {}
            }
        }
    }

    fn meant(&self, stream: &TcpStream) -> Option<Arc<Host>> {
        stream.set_nodelay(true).ok()?;
        self.hosts.get(&stream.local_addr().ok()?.ip()).cloned()
    }
}

async fn serve_connection(daemon: Daemon, host: Arc<Host>, stream: TcpStream) {
    match daemon {
        Daemon::Libvirt => libvirt::serve_connection(host, stream).await,
        Daemon::Ovsdb => ovs::serve_ovsdb_connection(host, stream).await,
    }
}

#[cfg(test)]
mod tests {
    use libvirt_rpc::{Connection, Endpoint, OpenOptions};

    use super::*;
    use crate::model::FleetOptions;

    #[tokio::test]
    async fn the_address_says_which_host_is_meant() {
        let fleet = Fleet::new(&FleetOptions::default());
        let listener = SharedListener::bind(&fleet, Daemon::Libvirt).await.unwrap();
        let port = listener.port().unwrap();
        let serving = tokio::spawn(listener.serve());
        for (index, host) in fleet.hosts.iter().enumerate() {
            let endpoint: Endpoint = format!("tcp://{}:{port}", address(index)).parse().unwrap();
            let (connection, _events) =
                Connection::open(&endpoint, OpenOptions::new("qemu:///system")).await.unwrap();
            assert_eq!(connection.hostname().await.unwrap(), host.name);
        }
        serving.abort();
    }
}
