//! One address in front of several replicas, as a Service is.
//!
//! kube-apiserver without aggregator routing resolves a Service of type ExternalName, which has one host and one port; with routing it would want
//! Endpoints, and refuses loopback addresses there. So what kube-proxy does in a cluster is done here: each new connection goes to the next
//! endpoint in rotation, and a connection that is open stays where it is.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// A balancer that runs until its runtime ends.
#[derive(Debug, Clone)]
pub struct Balancer {
    port: u16,
    shared: Arc<Mutex<Rotation>>,
}

#[derive(Debug, Default)]
struct Rotation {
    endpoints: Vec<Endpoint>,
    turn: usize,
}

#[derive(Debug)]
struct Endpoint {
    port: u16,
    in_rotation: bool,
    /// Connections that are open.
    connections: usize,
}

impl Balancer {
    /// Listens on a free port.
    ///
    /// # Errors
    /// When there is none.
    pub fn start(runtime: &Handle) -> Result<Self> {
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).context("the balancer's port")?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Mutex::new(Rotation::default()));
        runtime.spawn(serve(listener, Arc::clone(&shared)));
        Ok(Self { port, shared })
    }

    /// Where clients connect to.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Puts an endpoint into rotation, or takes it out for new connections.
    pub fn rotate(&self, port: u16, in_rotation: bool) {
        let mut rotation = lock(&self.shared);
        match rotation.endpoints.iter_mut().find(|endpoint| endpoint.port == port) {
            Some(endpoint) => endpoint.in_rotation = in_rotation,
            None => rotation.endpoints.push(Endpoint { port, in_rotation, connections: 0 }),
        }
    }

    /// Open connections of an endpoint.
    #[must_use]
    pub fn connections(&self, port: u16) -> usize {
        let rotation = lock(&self.shared);
        rotation.endpoints.iter().find(|endpoint| endpoint.port == port).map_or(0, |found| found.connections)
    }
}

async fn serve(listener: TcpListener, shared: Arc<Mutex<Rotation>>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A client that went away before it was accepted is no fault of ours.
                let Ok((client, _)) = accepted else { continue };
                connections.spawn(connection(client, Arc::clone(&shared)));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Connects to the next endpoint in rotation that accepts; without one the client is hung up on, as by a Service without endpoints.
async fn connection(mut client: TcpStream, shared: Arc<Mutex<Rotation>>) {
    for port in turn(&shared) {
        let Ok(mut server) = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port))).await else {
            continue;
        };
        count(&shared, port, 1);
        // Either end may break off: that is what these tests are about.
        let _ = copy_bidirectional(&mut client, &mut server).await;
        count(&shared, port, -1);
        return;
    }
}

/// The endpoints in rotation, beginning with the next one.
fn turn(shared: &Mutex<Rotation>) -> Vec<u16> {
    let mut rotation = lock(shared);
    rotation.turn = rotation.turn.wrapping_add(1);
    let mut ports: Vec<u16> = rotation
        .endpoints
        .iter()
        .filter(|endpoint| endpoint.in_rotation)
        .map(|endpoint| endpoint.port)
        .collect();
    let places = ports.len().max(1);
    ports.rotate_left(rotation.turn % places);
    ports
}

fn count(shared: &Mutex<Rotation>, port: u16, by: isize) {
    if let Some(endpoint) = lock(shared).endpoints.iter_mut().find(|endpoint| endpoint.port == port) {
        endpoint.connections = endpoint.connections.saturating_add_signed(by);
    }
}

fn lock(shared: &Mutex<Rotation>) -> std::sync::MutexGuard<'_, Rotation> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener as Listener, TcpStream as Stream};
    use std::thread;

    use super::*;

    /// Answers every connection with one letter.
    fn endpoint(letter: u8) -> u16 {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let _ = stream.write_all(&[letter]);
            }
        });
        port
    }

    fn ask(balancer: &Balancer) -> String {
        let mut answer = String::new();
        Stream::connect(("127.0.0.1", balancer.port())).unwrap().read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn new_connections_go_to_the_endpoints_in_rotation_in_turns() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let balancer = Balancer::start(runtime.handle()).unwrap();
        assert_eq!(ask(&balancer), "", "a Service without endpoints");
        let (a, b) = (endpoint(b'a'), endpoint(b'b'));
        balancer.rotate(a, true);
        balancer.rotate(b, true);
        let mut answers: Vec<String> = (0..4).map(|_| ask(&balancer)).collect();
        answers.sort();
        assert_eq!(answers, ["a", "a", "b", "b"]);
        balancer.rotate(a, false);
        assert_eq!((ask(&balancer), ask(&balancer)), ("b".to_owned(), "b".to_owned()));
    }
}
