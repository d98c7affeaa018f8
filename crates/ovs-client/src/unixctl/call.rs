//! One command: connect, ask, read one reply.
//!
//! unixctl has no probes and may be busy for long; every call has its own connection and deadline, so that a call that
//! hangs disturbs no other.

use std::time::Duration;

use bytes::BytesMut;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::connect::{BoxedStream, Connector, connect};
use crate::json::{JsonLimits, JsonObjects};
use crate::rpc::{self, Message};

use super::Error;

/// Deadlines and limits of calls.
#[derive(Debug, Clone)]
pub struct Options {
    /// For connecting.
    pub connect_deadline: Duration,
    /// For the whole answer.
    pub request_deadline: Duration,
    /// For the answer's size.
    pub limits: JsonLimits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connect_deadline: Duration::from_secs(2),
            request_deadline: Duration::from_secs(5),
            limits: JsonLimits { bytes: 16 << 20, values: 1_000, depth: 16 },
        }
    }
}

/// Runs a command and gives its text.
///
/// ```no_run
/// # async fn show() -> Result<(), ovs_client::unixctl::Error> {
/// use ovs_client::{Endpoint, unixctl};
///
/// let socket = Endpoint::Unix("/run/openvswitch/ovs-vswitchd.4711.ctl".into());
/// let text = unixctl::call(&socket, "bond/show", &["bond0"], &Default::default()).await?;
/// for bond in unixctl::parse_bonds(text.as_bytes()) {
///     println!("{}: {} of {} members enabled", bond.name, bond.enabled_members(), bond.members.len());
/// }
/// # Ok(())
/// # }
/// ```
pub async fn call(
    connector: &dyn Connector,
    method: &str,
    params: &[&str],
    options: &Options,
) -> Result<String, Error> {
    let stream = connect(connector, options.connect_deadline).await?;
    let exchange = exchange(stream, connector, method, params, options.limits);
    match timeout(options.request_deadline, exchange).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Error::Deadline {
            peer: connector.to_string(),
            method: method.to_owned(),
            after: options.request_deadline,
        }),
    }
}

async fn exchange(
    mut stream: BoxedStream,
    connector: &dyn Connector,
    method: &str,
    params: &[&str],
    limits: JsonLimits,
) -> Result<String, Error> {
    let peer = || connector.to_string();
    let failed = |source| Error::Stream { peer: peer(), method: method.to_owned(), source };
    stream.write_all(&rpc::request(&json!(0), method, &json!(params))).await.map_err(failed)?;
    stream.flush().await.map_err(failed)?;
    let mut objects = JsonObjects::new(limits);
    let mut buffer = BytesMut::new();
    loop {
        if let Some(object) =
            objects.next(&mut buffer).map_err(|source| Error::Json { peer: peer(), source })?
        {
            return read(&object, &peer(), method);
        }
        if stream.read_buf(&mut buffer).await.map_err(failed)? == 0 {
            return Err(Error::NoAnswer { peer: peer(), method: method.to_owned() });
        }
    }
}

fn read(object: &[u8], peer: &str, method: &str) -> Result<String, Error> {
    let strange = |source| Error::Message { peer: peer.to_owned(), method: method.to_owned(), source };
    match rpc::parse(object) {
        Ok(Message::Reply { outcome: Ok(Json::String(text)), .. }) => Ok(text),
        Ok(Message::Reply { outcome: Err(error), .. }) => {
            Err(Error::Refused { method: method.to_owned(), error })
        }
        Ok(_) => Err(strange(None)),
        Err(source) => Err(strange(Some(source))),
    }
}
