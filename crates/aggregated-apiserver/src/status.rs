//! Every error that a client sees, as a `meta/v1` Status: the one place that knows codes, reasons and wording.
//!
//! Clients act on reason, code, causes and `retryAfterSeconds`, so they are chosen here and nowhere else. What an
//! operator must know of a fault goes to the log; what is said here is for the client.

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::version::ResourceVersion;

/// An error as a client sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiStatus {
    code: StatusCode,
    reason: &'static str,
    message: String,
    resume: Option<String>,
    details: Map<String, Value>,
}

/// One thing that is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Machine-readable kind of fault, e.g. `FieldValueForbidden`.
    pub reason: &'static str,
    /// What is wrong.
    pub message: String,
    /// Which field it is about.
    pub field: String,
}

impl Cause {
    /// A field may not be set here.
    pub fn forbidden(field: &str, message: &str) -> Self {
        let message = format!("Forbidden: {message}");
        Self { reason: "FieldValueForbidden", message, field: field.to_owned() }
    }

    /// A field has a value that is none of the known ones.
    pub fn not_supported(field: &str, value: &str, supported: &[&str]) -> Self {
        let supported = supported.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(", ");
        let message = format!("Unsupported value: {value:?}: supported values: {supported}");
        Self { reason: "FieldValueNotSupported", message, field: field.to_owned() }
    }

    /// A field's value is wrong.
    pub fn invalid(field: &str, value: impl Into<Value>, message: &str) -> Self {
        let message = format!("Invalid value: {}: {message}", value.into());
        Self { reason: "FieldValueInvalid", message, field: field.to_owned() }
    }

    /// A field that must be there is not.
    pub fn required(field: &str, message: &str) -> Self {
        let message = if message.is_empty() {
            "Required value".to_owned()
        } else {
            format!("Required value: {message}")
        };
        Self { reason: "FieldValueRequired", message, field: field.to_owned() }
    }

    /// A field is longer than it may be.
    pub fn too_long(field: &str, bytes: usize) -> Self {
        let message = format!("Too long: may not be more than {bytes} bytes");
        Self { reason: "FieldValueTooLong", message, field: field.to_owned() }
    }

    /// Another item has the same value.
    pub fn duplicate(field: &str, value: impl Into<Value>) -> Self {
        let message = format!("Duplicate value: {}", value.into());
        Self { reason: "FieldValueDuplicate", message, field: field.to_owned() }
    }
}

fn qualified(group: &str, name: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

/// All causes as they stand in a message.
fn listed(causes: &[Cause]) -> String {
    let all: Vec<_> = causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
    if let [one] = all.as_slice() { one.clone() } else { format!("[{}]", all.join(", ")) }
}

impl ApiStatus {
    /// Any error.
    pub fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), resume: None, details: Map::new() }
    }

    /// 400: the request cannot be understood.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// 401: it is not known who asks.
    pub fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")
    }

    /// 403: who asks may not.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message)
    }

    /// 404 for an object.
    pub fn object_not_found(group: &str, plural: &str, name: &str) -> Self {
        let message = format!("{} {name:?} not found", qualified(group, plural));
        Self::new(StatusCode::NOT_FOUND, "NotFound", message)
            .detail("name", name)
            .detail("group", group)
            .detail("kind", plural)
    }

    /// 404 for a path.
    pub fn path_not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "NotFound", "the server could not find the requested resource")
    }

    /// 405: no such verb on this path.
    pub fn method_not_allowed() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
    }

    /// 406: no representation that the client accepts.
    pub fn not_acceptable(accepted: &[&str]) -> Self {
        let accepted = accepted.join(", ");
        Self::new(
            StatusCode::NOT_ACCEPTABLE,
            "NotAcceptable",
            format!("only the following media types are accepted: {accepted}"),
        )
    }

    /// 409: there is such an object already.
    pub fn already_exists(group: &str, plural: &str, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", qualified(group, plural));
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message)
            .detail("name", name)
            .detail("group", group)
            .detail("kind", plural)
    }

    /// 409: an object is not what the writer took it for.
    pub fn conflict(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let message =
            format!("Operation cannot be fulfilled on {} {name:?}: {why}", qualified(group, plural));
        Self::new(StatusCode::CONFLICT, "Conflict", message)
            .detail("name", name)
            .detail("group", group)
            .detail("kind", plural)
    }

    /// 413: the body is too long.
    pub fn entity_too_large(limit: usize) -> Self {
        let message = format!("Request entity too large: limit is {limit}");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", message)
    }

    /// 415: a body that cannot be read.
    pub fn unsupported_media_type(accepted: &[&str]) -> Self {
        let accepted = accepted.join(", ");
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "UnsupportedMediaType",
            format!(
                "the body of the request was in an unknown format - accepted media types include: {accepted}"
            ),
        )
    }

    /// 422: an object that is not good.
    pub fn invalid(group: &str, kind: &str, name: &str, causes: &[Cause]) -> Self {
        let message = format!("{} {name:?} is invalid: {}", qualified(group, kind), listed(causes));
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message)
            .detail("name", name)
            .detail("group", group)
            .detail("kind", kind)
            .causes(causes)
    }

    /// 507: there is no room to store it.
    pub fn no_room(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INSUFFICIENT_STORAGE, "InsufficientStorage", message)
    }

    /// 410: a version that is no longer known.
    pub fn expired(asked: &str, oldest: ResourceVersion) -> Self {
        let message = format!("too old resource version: {asked} ({oldest})");
        Self::new(StatusCode::GONE, "Expired", message)
    }

    /// 410: the rest of a list is no longer kept. The token goes on in what is there now.
    pub fn continue_expired(token: &str) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list result. \
                       You can start a new list without the continue parameter, or use the continue token \
                       in this response to retrieve the remainder of the results, which may be inconsistent.";
        Self { resume: Some(token.to_owned()), ..Self::new(StatusCode::GONE, "Expired", message) }
    }

    /// 414: the path or the query is too long.
    pub fn uri_too_long(limit: usize) -> Self {
        let message = format!("the request URI is longer than {limit} bytes");
        Self::new(StatusCode::URI_TOO_LONG, "RequestURITooLong", message)
    }

    /// 422: options that contradict each other or have an unknown value.
    pub fn invalid_options(kind: &str, causes: &[Cause]) -> Self {
        Self::invalid("meta.k8s.io", kind, "", causes)
    }

    /// 429: too much at once.
    pub fn too_many_requests(seconds: u32) -> Self {
        let message = "too many requests, please try again later";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message).retry_after(seconds)
    }

    /// 500: a fault on our side.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
    }

    /// 503: not now.
    pub fn unavailable(message: impl Into<String>, seconds: u32) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", message).retry_after(seconds)
    }

    /// 504: a version that this server has not reached.
    pub fn version_too_large(asked: ResourceVersion, current: ResourceVersion) -> Self {
        let message = format!("Too large resource version: {asked}, current: {current}");
        let cause = Cause {
            reason: "ResourceVersionTooLarge",
            message: "Too large resource version".to_owned(),
            field: String::new(),
        };
        Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message).causes(&[cause]).retry_after(1)
    }

    /// 504: the request took too long.
    pub fn timeout(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message).retry_after(1)
    }

    /// The same error with something before its message.
    #[must_use]
    pub(crate) fn prefixed(mut self, words: &str) -> Self {
        self.message.insert_str(0, words);
        self
    }

    /// The same error with one more detail.
    #[must_use]
    pub fn detail(mut self, name: &str, value: &str) -> Self {
        if !value.is_empty() {
            self.details.insert(name.to_owned(), Value::from(value));
        }
        self
    }

    /// The same error with causes.
    #[must_use]
    pub fn causes(mut self, causes: &[Cause]) -> Self {
        let causes = causes.iter().map(|cause| {
            let mut map = Map::new();
            for (name, value) in
                [("reason", cause.reason), ("message", &cause.message), ("field", &cause.field)]
            {
                if !value.is_empty() {
                    map.insert(name.to_owned(), Value::from(value));
                }
            }
            Value::from(map)
        });
        self.details.insert("causes".to_owned(), causes.collect());
        self
    }

    /// The same error, saying when to try again.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.details.insert("retryAfterSeconds".to_owned(), Value::from(seconds));
        self
    }

    /// HTTP code.
    pub fn code(&self) -> StatusCode {
        self.code
    }

    /// Machine-readable reason.
    pub fn reason(&self) -> &'static str {
        self.reason
    }

    /// What the client is told.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Seconds for the `Retry-After` header.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.details.get("retryAfterSeconds").and_then(Value::as_u64)
    }

    /// The Status object.
    pub fn to_json(&self) -> Value {
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code.as_u16(),
        });
        if let (true, Some(map)) = (self.reason.is_empty(), status.as_object_mut()) {
            map.remove("reason");
        }
        if let Some(token) = &self.resume
            && let Some(metadata) = status.get_mut("metadata")
        {
            *metadata = json!({"continue": token});
        }
        if let (false, Some(map)) = (self.details.is_empty(), status.as_object_mut()) {
            map.insert("details".to_owned(), Value::from(self.details.clone()));
        }
        status
    }

    /// The error as the last line of a watch.
    pub fn to_event(&self) -> Vec<u8> {
        let mut line = json!({"type": "ERROR", "object": self.to_json()}).to_string().into_bytes();
        line.push(b'\n');
        line
    }
}
