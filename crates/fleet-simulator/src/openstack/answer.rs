//! Answers in each service's own form: error bodies, version headers, request ids.

use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use super::microversion::Microversion;

/// A whole answer.
pub(super) type Answer = Response<Vec<u8>>;

/// JSON with a status.
pub(super) fn json(status: StatusCode, body: &Value) -> Answer {
    let mut answer = Response::new(body.to_string().into_bytes());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// 200 with JSON.
pub(super) fn ok(body: &Value) -> Answer {
    json(StatusCode::OK, body)
}

/// Adds a header; a value that is no header value is left out.
pub(super) fn with(mut answer: Answer, name: &'static str, value: &str) -> Answer {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(HeaderName::from_static(name), value);
    }
    answer
}

/// Gives the answer a request id of its own.
pub(super) fn with_request_id(answer: Answer) -> Answer {
    with(answer, "x-openstack-request-id", &format!("req-{}", Uuid::new_v4()))
}

/// An error of Nova.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    message: String,
}

impl Refusal {
    pub(super) fn bad_request(message: &str) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.to_owned() }
    }

    pub(super) fn forbidden(rule: &str) -> Self {
        let message = format!("Policy doesn't allow {rule} to be performed.");
        Self { status: StatusCode::FORBIDDEN, message }
    }

    pub(super) fn not_found(message: &str) -> Self {
        Self { status: StatusCode::NOT_FOUND, message: message.to_owned() }
    }

    pub(super) fn no_such_resource() -> Self {
        Self::not_found("The resource could not be found.")
    }

    pub(super) fn not_acceptable(message: &str) -> Self {
        Self { status: StatusCode::NOT_ACCEPTABLE, message: message.to_owned() }
    }

    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// In Nova's form: one key that names the kind.
    pub(super) fn answer(&self) -> Answer {
        let kind = match self.status.as_u16() {
            400 => "badRequest",
            403 => "forbidden",
            404 => "itemNotFound",
            _ => "computeFault",
        };
        json(self.status, &json!({kind: {"code": self.status.as_u16(), "message": self.message}}))
    }
}

/// An error of Placement: boiler plate, an empty line, the fact.
pub(super) fn placement_error(status: StatusCode, fact: &str) -> Answer {
    let boiler_plate = match status.as_u16() {
        404 => "The resource could not be found.",
        406 => {
            "The resource could not be generated that was acceptable to your browser (content of type application/json. "
        }
        _ => {
            "The server could not comply with the request since it is either malformed or otherwise incorrect."
        }
    };
    let error = json!({
        "status": status.as_u16(),
        "title": status.canonical_reason().unwrap_or_default(),
        "detail": format!("{boiler_plate}\n\n {fact}  "),
        "code": "placement.undefined_code",
        "request_id": format!("req-{}", Uuid::new_v4()),
    });
    json(status, &json!({"errors": [error]}))
}

/// An error of Keystone.
pub(super) fn keystone_error(status: StatusCode, message: &str) -> Answer {
    let title = status.canonical_reason().unwrap_or_default();
    json(status, &json!({"error": {"code": status.as_u16(), "message": message, "title": title}}))
}

/// The 401 of every service: Keystone's form and a hint where to log in.
pub(super) fn unauthorized(identity: &str) -> Answer {
    let answer =
        keystone_error(StatusCode::UNAUTHORIZED, "The request you have made requires authentication.");
    with(answer, "www-authenticate", &format!("Keystone uri=\"{identity}\""))
}

/// What a proxy in front of the services says when they are away.
pub(super) fn unavailable(retry_after: Option<u32>) -> Answer {
    let page = "<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>";
    let mut answer = Response::new(page.as_bytes().to_vec());
    *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    let answer = with(answer, "content-type", "text/html");
    match retry_after {
        Some(seconds) => with(answer, "retry-after", &seconds.to_string()),
        None => answer,
    }
}

/// The headers with which a service says which version it answered in.
pub(super) fn with_version(answer: Answer, service: &str, version: Microversion) -> Answer {
    let answer = with(answer, "openstack-api-version", &format!("{service} {version}"));
    with(answer, "vary", "OpenStack-API-Version")
}
