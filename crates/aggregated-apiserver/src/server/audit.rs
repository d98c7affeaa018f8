//! Who did what: one line of JSON for each request, in the form of `audit.k8s.io/v1` at level Metadata.
//!
//! Lines are written by a thread of their own behind a bounded queue. A log that cannot keep up loses lines, and counts them; it never
//! delays a request. Probes of health are not logged.

use std::fmt;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use http::HeaderMap;
use jiff::Timestamp;
use serde_json::{Value, json};
use tracing::error;

use crate::identity::User;
use crate::request::info::{RequestInfo, Target};

const QUEUE: usize = 8192;

/// Where audit events go.
#[derive(Clone)]
pub struct AuditLog {
    lines: SyncSender<String>,
    lost: Arc<AtomicU64>,
}

impl AuditLog {
    /// Writes to a file, a pipe, standard output …, from a thread that ends when the log is dropped.
    pub fn new(writer: impl Write + Send + 'static) -> std::io::Result<Self> {
        let (lines, queue) = sync_channel(QUEUE);
        std::thread::Builder::new().name("audit-log".to_owned()).spawn(move || write(&queue, writer))?;
        Ok(Self { lines, lost: Arc::default() })
    }

    /// How many events were lost because the writer could not keep up.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub(crate) fn record(&self, event: &Value) {
        if self.lines.try_send(event.to_string()).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AuditLog").field("lost", &self.lost()).finish_non_exhaustive()
    }
}

fn write(queue: &Receiver<String>, mut writer: impl Write) {
    let mut failing = false;
    while let Ok(first) = queue.recv() {
        let lines = std::iter::once(first).chain(queue.try_iter());
        let text: String = lines.flat_map(|line| [line, "\n".to_owned()]).collect();
        let written = writer.write_all(text.as_bytes()).and_then(|()| writer.flush());
        match written {
            Ok(()) => failing = false,
            Err(error) => {
                if !failing {
                    error!(error = &error as &dyn std::error::Error, "audit log cannot be written");
                }
                failing = true;
            }
        }
    }
}

/// What is known of a request when it has been answered.
pub(crate) struct Audited<'a> {
    pub(crate) id: &'a str,
    pub(crate) uri: &'a http::Uri,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) address: SocketAddr,
    pub(crate) info: Option<&'a RequestInfo>,
    pub(crate) user: Option<&'a User>,
    pub(crate) allowed: Option<bool>,
    pub(crate) code: u16,
    pub(crate) received: Timestamp,
}

impl Audited<'_> {
    /// The event.
    pub(crate) fn event(&self) -> Value {
        let watch = self.info.is_some_and(|info| info.verb == "watch");
        let mut event = json!({
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "Metadata",
            "auditID": self.id,
            "stage": if watch { "ResponseStarted" } else { "ResponseComplete" },
            "requestURI": self.uri.path_and_query().map(ToString::to_string),
            "verb": self.info.map(|info| info.verb.as_str()).unwrap_or_default(),
            "user": self.user.map(user).unwrap_or_else(|| json!({})),
            "sourceIPs": self.sources(),
            "userAgent": text(self.headers, "user-agent"),
            "responseStatus": {"metadata": {}, "code": self.code},
            "requestReceivedTimestamp": format!("{:.6}", self.received),
            "stageTimestamp": format!("{:.6}", Timestamp::now()),
        });
        if let Some(map) = event.as_object_mut() {
            if let Some(Target::Resource(path)) = self.info.map(|info| &info.target) {
                map.insert(
                    "objectRef".to_owned(),
                    json!({
                        "resource": path.resource, "apiGroup": path.group, "apiVersion": path.version,
                        "namespace": path.namespace, "name": path.name, "subresource": path.subresource,
                    }),
                );
            }
            if let Some(allowed) = self.allowed {
                let decision = if allowed { "allow" } else { "forbid" };
                map.insert("annotations".to_owned(), json!({"authorization.k8s.io/decision": decision}));
            }
        }
        event
    }

    /// Whom proxies name, nearest last, and who is connected.
    fn sources(&self) -> Vec<String> {
        let forwarded = text(self.headers, "x-forwarded-for");
        let forwarded =
            forwarded.split(',').map(str::trim).filter(|name| name.parse::<std::net::IpAddr>().is_ok());
        forwarded.map(str::to_owned).chain([self.address.ip().to_string()]).collect()
    }
}

fn user(user: &User) -> Value {
    json!({"username": user.name, "uid": user.uid, "groups": user.groups, "extra": user.extra})
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
