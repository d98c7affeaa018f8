//! A server that says exactly what a test wants, well-formed or not.

use std::future::Future;
use std::net::SocketAddr;

use ovs_client::Endpoint;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One connection at the server's end.
pub(crate) struct Client {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Client {
    /// The client's next message; `None` when it has gone.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            let mut values = serde_json::Deserializer::from_slice(&self.read).into_iter::<Value>();
            if let Some(Ok(value)) = values.next() {
                let used = values.byte_offset();
                self.read.drain(..used);
                return Some(value);
            }
            if self.stream.read_buf(&mut self.read).await.ok()? == 0 {
                return None;
            }
        }
    }

    /// The client's next `count` bytes; `None` when it has gone.
    pub(crate) async fn bytes(&mut self, count: usize) -> Option<Vec<u8>> {
        while self.read.len() < count {
            if self.stream.read_buf(&mut self.read).await.ok()? == 0 {
                return None;
            }
        }
        Some(self.read.drain(..count).collect())
    }

    /// Sends bytes; a client that has gone does not hear them.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok()
    }

    /// Sends a message.
    pub(crate) async fn say(&mut self, message: Value) {
        self.send(message.to_string().as_bytes()).await;
    }

    /// Answers a request.
    pub(crate) async fn reply(&mut self, request: &Value, result: Value) {
        self.say(json!({ "id": request["id"], "result": result, "error": null })).await;
    }
}

/// Runs `script` for the first connection; gives the address to connect to.
pub(crate) async fn server<F>(script: impl FnOnce(Client) -> F + Send + 'static) -> Endpoint
where
    F: Future<Output = ()> + Send,
{
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        script(Client { stream, read: Vec::new() }).await;
    });
    Endpoint::Tcp { host: address.ip().to_string(), port: address.port() }
}
