//! One connection to a management socket: one question at a time.
//!
//! Counting flows is something done now and then, so there is no task and nothing kept: connect, ask, drop. After a
//! failure half-way the stream is not in step any more, and the connection refuses further use.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::connect::{BoxedStream, Connector, connect};

use super::message::{self, ECHO_REPLY, ECHO_REQUEST, ERROR, HEADER, HELLO, Header};
use super::{Aggregate, Error, Multipart, MultipartKind, TableStatistics, Version, Versions, hello};

/// Deadlines and limits.
#[derive(Debug, Clone)]
pub struct Options {
    /// For connecting.
    pub connect_deadline: Duration,
    /// For agreeing on a version, and for each question.
    pub request_deadline: Duration,
    /// Bytes of one question's statistics over all its parts.
    pub bytes: usize,
    /// What is offered first. If the switch has none of these, it is asked again with all that are known here.
    pub versions: Versions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connect_deadline: Duration::from_secs(5),
            request_deadline: Duration::from_secs(10),
            bytes: 4 << 20,
            versions: Versions::USUAL,
        }
    }
}

/// A connection whose version is agreed.
pub struct Connection {
    stream: BoxedStream,
    peer: String,
    version: Version,
    options: Options,
    xid: u32,
    broken: bool,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = out.debug_struct("Connection");
        out.field("peer", &self.peer).field("version", &self.version).finish_non_exhaustive()
    }
}

impl Connection {
    /// Connects and agrees on a version.
    pub async fn open(connector: &dyn Connector, options: &Options) -> Result<Self, Error> {
        match Self::offer(connector, options, options.versions).await {
            Err(Error::Version { theirs, .. }) if !theirs.and(Versions::known()).is_empty() => {
                Self::offer(connector, options, theirs.and(Versions::known())).await
            }
            other => other,
        }
    }

    async fn offer(connector: &dyn Connector, options: &Options, offered: Versions) -> Result<Self, Error> {
        let stream = connect(connector, options.connect_deadline).await?;
        let peer = connector.to_string();
        let mut wire = Wire { stream, peer };
        let doing = "agreeing on an OpenFlow version";
        let version = within(options.request_deadline, doing, agree(&mut wire, offered, doing)).await?;
        let Wire { stream, peer } = wire;
        Ok(Self { stream, peer, version, options: options.clone(), xid: 1, broken: false })
    }

    /// The version that both sides speak.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Flows and lookups of every table.
    pub async fn tables(&mut self) -> Result<Vec<TableStatistics>, Error> {
        let doing = "reading table statistics";
        let body = self.ask(MultipartKind::Table, doing).await?;
        TableStatistics::parse(&body, self.version)
            .ok_or(Error::Malformed { doing, what: "table statistics do not fit their layout" })
    }

    /// Sums over all flows.
    pub async fn aggregate(&mut self) -> Result<Aggregate, Error> {
        let doing = "reading aggregate statistics";
        let body = self.ask(MultipartKind::Aggregate, doing).await?;
        Aggregate::parse(&body, self.version)
            .ok_or(Error::Malformed { doing, what: "aggregate statistics do not fit their layout" })
    }

    async fn ask(&mut self, kind: MultipartKind, doing: &'static str) -> Result<Vec<u8>, Error> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(Error::Broken);
        }
        self.xid = self.xid.wrapping_add(1);
        let question = Multipart { kind, version: self.version };
        let mut wire = Wire { stream: &mut self.stream, peer: self.peer.clone() };
        let exchange = exchange(&mut wire, question, self.xid, self.options.bytes, doing);
        let outcome = within(self.options.request_deadline, doing, exchange).await;
        // A refusal is a whole answer; after it the stream is in step.
        self.broken = !matches!(outcome, Ok(_) | Err(Error::Refused { .. }));
        outcome
    }
}

/// A stream with the name that errors call it by.
struct Wire<S> {
    stream: S,
    peer: String,
}

impl<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin> Wire<S> {
    async fn write(&mut self, bytes: &[u8], doing: &'static str) -> Result<(), Error> {
        let written = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        written.await.map_err(|source| self.failed(doing, source))
    }

    /// The next message that is no echo; echoes are answered on the way.
    async fn read(&mut self, doing: &'static str) -> Result<(Header, Vec<u8>), Error> {
        loop {
            let mut head = [0; HEADER];
            self.stream.read_exact(&mut head).await.map_err(|source| self.failed(doing, source))?;
            let header = Header::parse(&head).ok_or(Error::Malformed { doing, what: "impossible length" })?;
            let mut body = vec![0; header.body_length()];
            self.stream.read_exact(&mut body).await.map_err(|source| self.failed(doing, source))?;
            if header.kind != ECHO_REQUEST {
                return Ok((header, body));
            }
            self.write(&message::message(header.version, ECHO_REPLY, header.xid, &body), doing).await?;
        }
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> Error {
        Error::Stream { peer: self.peer.clone(), doing, source }
    }
}

async fn within<T>(
    after: Duration,
    doing: &'static str,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    timeout(after, work).await.unwrap_or(Err(Error::Deadline { doing, after }))
}

/// HELLO both ways.
async fn agree(
    wire: &mut Wire<BoxedStream>,
    offered: Versions,
    doing: &'static str,
) -> Result<Version, Error> {
    wire.write(&message::hello_request(offered, 1), doing).await?;
    let (header, body) = wire.read(doing).await?;
    if header.kind != HELLO {
        return Err(Error::Malformed { doing, what: "the first message is no HELLO" });
    }
    let theirs = hello(header.version, &body);
    match offered.and(theirs).highest() {
        Some(version) => Ok(version),
        None => Err(Error::Version { ours: Versions::known(), theirs, refusal: refusal(wire, doing).await }),
    }
}

/// What the switch says about the failed agreement; it may as well say nothing and close.
async fn refusal(wire: &mut Wire<BoxedStream>, doing: &'static str) -> String {
    match wire.read(doing).await {
        Ok((Header { kind: ERROR, .. }, body)) => {
            let text = message::error(&body).map(|(_, _, text)| text).unwrap_or_default();
            String::from_utf8_lossy(text).trim_end_matches('\0').to_owned()
        }
        _ => String::new(),
    }
}

/// One question and all parts of its answer.
async fn exchange(
    wire: &mut Wire<&mut BoxedStream>,
    question: Multipart,
    xid: u32,
    limit: usize,
    doing: &'static str,
) -> Result<Vec<u8>, Error> {
    wire.write(&question.request(xid), doing).await?;
    let mut joined = Vec::new();
    loop {
        let (header, body) = wire.read(doing).await?;
        if header.xid != xid || (header.kind != question.reply_type() && header.kind != ERROR) {
            // Something that the switch tells everybody (a port, a packet), or left over: not ours.
            continue;
        }
        if header.kind == ERROR {
            let (kind, code, _) = message::error(&body)
                .ok_or(Error::Malformed { doing, what: "an error without type and code" })?;
            return Err(Error::Refused { doing, kind, code });
        }
        if header.version != question.version.number() {
            return Err(Error::WrongVersion { agreed: question.version, got: header.version });
        }
        let part = question.part(&body).ok_or(Error::Malformed { doing, what: "a part without its head" })?;
        if part.kind != question.number() {
            return Err(Error::Malformed { doing, what: "statistics of another kind" });
        }
        if joined.len() + part.body.len() > limit {
            return Err(Error::TooLong { limit });
        }
        joined.extend_from_slice(part.body);
        if !part.more {
            return Ok(joined);
        }
    }
}
