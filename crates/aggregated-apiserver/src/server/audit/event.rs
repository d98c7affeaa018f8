//! One line of the audit log, in the form of `audit.k8s.io/v1`.

use std::net::SocketAddr;

use http::HeaderMap;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::AuditLevel;
use crate::identity::User;
use crate::request::info::{RequestInfo, Target};

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
    /// What the client sent, where that is to be logged.
    pub(crate) sent: Option<&'a [u8]>,
}

impl Audited<'_> {
    /// The event.
    pub(crate) fn event(&self, level: AuditLevel) -> Value {
        let watch = self.info.is_some_and(|info| info.verb == "watch");
        let mut event = json!({
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": level.as_str(),
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
            if let (Some(sent), AuditLevel::Request) = (self.sent, level) {
                map.insert("requestObject".to_owned(), object(sent));
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

/// JSON as it is, anything else as text.
fn object(sent: &[u8]) -> Value {
    serde_json::from_slice(sent).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(sent)))
}

fn user(user: &User) -> Value {
    json!({"username": user.name, "uid": user.uid, "groups": user.groups, "extra": user.extra})
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
