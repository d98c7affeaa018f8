//! Bounds and times of a server, with defaults that suit a cluster.

use std::time::Duration;

use serde_json::{Value, json};

/// Bounds on what a client may send and how long it may take.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Longest path and query.
    pub uri_bytes: usize,
    /// Most bytes of headers.
    pub header_bytes: u32,
    /// Most bytes of a body.
    pub body_bytes: usize,
    /// How long a TLS handshake may take.
    pub handshake: Duration,
    /// How long the headers of a request may take, and how long a connection may be idle (HTTP/1.1).
    pub headers: Duration,
    /// How long the answer to anything but a watch may take.
    pub request: Duration,
    /// How long a reader may take nothing of what is ready for it, before it is cut off.
    pub stalled: Duration,
    /// How long a [`Freshener`](crate::Freshener) may take.
    pub freshen: Duration,
    /// Streams on one HTTP/2 connection; each watch is one.
    pub concurrent_streams: u32,
    /// Connections at one time.
    pub connections: usize,
    /// Requests for resources at one time, watches excepted. More are answered 429.
    pub requests: usize,
    /// The same for one user.
    pub requests_per_user: usize,
    /// Watches at one time. More are answered 429.
    pub watches: usize,
    /// The same for one user.
    pub watches_per_user: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            uri_bytes: 16 << 10,
            header_bytes: 64 << 10,
            body_bytes: 3 << 20,
            handshake: Duration::from_secs(10),
            headers: Duration::from_secs(32),
            request: Duration::from_secs(60),
            stalled: Duration::from_secs(60),
            freshen: Duration::from_millis(500),
            concurrent_streams: 2000,
            connections: 4096,
            requests: 400,
            requests_per_user: 200,
            watches: 20_000,
            watches_per_user: 5_000,
        }
    }
}

/// Times of watches.
#[derive(Clone, Debug)]
pub struct Watching {
    /// How often a watch without events tells its client the version that it has reached.
    pub bookmarks: Duration,
    /// Shortest lifetime of a watch whose client asked for none; the longest is twice that.
    pub lifetime: Duration,
}

impl Default for Watching {
    fn default() -> Self {
        Self { bookmarks: Duration::from_secs(60), lifetime: Duration::from_secs(1800) }
    }
}

/// How the server ends.
#[derive(Clone, Debug)]
pub struct Drain {
    /// How long to go on serving while `/readyz` fails, until nobody sends new requests.
    pub announce: Duration,
    /// How long requests that are under way may take after that.
    pub finish: Duration,
}

impl Default for Drain {
    fn default() -> Self {
        Self { announce: Duration::from_secs(15), finish: Duration::from_secs(30) }
    }
}

/// What `/version` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionInfo {
    /// Version of the program, e.g. `v1.2.3`.
    pub git_version: String,
    /// Commit it was built from.
    pub git_commit: String,
    /// When it was built.
    pub build_date: String,
}

impl VersionInfo {
    /// Of a version such as `1.2.3`.
    pub fn of(version: &str) -> Self {
        Self { git_version: format!("v{}", version.trim_start_matches('v')), ..Self::default() }
    }

    pub(crate) fn to_json(&self) -> Value {
        let numbers = self.git_version.trim_start_matches('v');
        let mut parts = numbers.split(['.', '-', '+']);
        let mut number = || parts.next().unwrap_or_default().to_owned();
        json!({
            "major": number(),
            "minor": number(),
            "gitVersion": self.git_version,
            "gitCommit": self.git_commit,
            "gitTreeState": "",
            "buildDate": self.build_date,
            "goVersion": "",
            "compiler": "rustc",
            "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
        })
    }
}
