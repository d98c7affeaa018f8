//! The messages of JSON-RPC 1.0 as Open vSwitch speaks it.
//!
//! Its errors are strings or objects, a failed reply has no `result` at all, and a null `id` makes a request a
//! notification. One place knows that, for OVSDB and unixctl alike.

use std::fmt;

use serde::Deserialize;
use serde_json::{Value, json};

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// The peer wants an answer.
    Request {
        /// Method.
        method: String,
        /// Parameters, always an array on the wire.
        params: Value,
        /// To be sent back unchanged.
        id: Value,
    },
    /// The peer wants no answer.
    Notification {
        /// Method.
        method: String,
        /// Parameters.
        params: Value,
    },
    /// The answer to a request of ours.
    Reply {
        /// The id of our request.
        id: Value,
        /// What came of it.
        outcome: Result<Value, RemoteError>,
    },
}

/// What the peer says went wrong, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct RemoteError {
    /// `unknown database`, `constraint violation`, or a whole sentence.
    pub error: String,
    /// More about it.
    pub details: Option<String>,
    /// The part of our request that it is about.
    pub syntax: Option<String>,
}

/// Why an object is not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// It is not JSON, or a member has the wrong type.
    #[error("not a JSON-RPC message: {0}")]
    Syntax(String),
    /// Neither a method nor an id that belongs to a reply.
    #[error("a JSON-RPC message with neither method nor id")]
    Neither,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    id: Value,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    error: Value,
}

/// Reads one message from one whole JSON object.
pub fn parse(bytes: &[u8]) -> Result<Message, MessageError> {
    let envelope: Envelope =
        serde_json::from_slice(bytes).map_err(|error| MessageError::Syntax(error.to_string()))?;
    let Envelope { id, method, params, result, error } = envelope;
    match (method, id) {
        (Some(method), Value::Null) => Ok(Message::Notification { method, params }),
        (Some(method), id) => Ok(Message::Request { method, params, id }),
        (None, Value::Null) => Err(MessageError::Neither),
        (None, id) => {
            let outcome = match error {
                Value::Null => Ok(result),
                error => Err(RemoteError::from_json(&error)),
            };
            Ok(Message::Reply { id, outcome })
        }
    }
}

/// A request as bytes.
pub fn request(id: &Value, method: &str, params: &Value) -> Vec<u8> {
    json!({ "id": id, "method": method, "params": params }).to_string().into_bytes()
}

/// A successful reply as bytes.
pub fn reply(id: &Value, result: &Value) -> Vec<u8> {
    json!({ "id": id, "result": result, "error": null }).to_string().into_bytes()
}

impl RemoteError {
    /// Reads the `error` member of a reply or of an operation's result.
    pub fn from_json(error: &Value) -> Self {
        let text =
            |name: &str| error.get(name).and_then(Value::as_str).map(|text| text.trim_end().to_owned());
        match error {
            Value::String(error) => Self { error: error.trim_end().to_owned(), details: None, syntax: None },
            other => Self {
                error: text("error").unwrap_or_else(|| other.to_string()),
                details: text("details"),
                syntax: text("syntax"),
            },
        }
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.error)?;
        self.details.as_ref().map_or(Ok(()), |details| write!(out, ": {details}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_failed_reply_has_no_result_and_its_error_is_a_string_or_an_object() {
        let failed = |text: &str| match parse(text.as_bytes()).unwrap() {
            Message::Reply { outcome, .. } => outcome.unwrap_err(),
            other => panic!("{other:?}"),
        };
        assert_eq!(failed(r#"{"id":1,"error":"unknown method"}"#).to_string(), "unknown method");
        let text = r#"{"id":1,"error":{"error":"unknown database","details":"get_schema request specifies unknown database Nope","syntax":"[\"Nope\"]"}}"#;
        let error = failed(text);
        assert_eq!(error.to_string(), "unknown database: get_schema request specifies unknown database Nope");
        assert_eq!(error.syntax.as_deref(), Some("[\"Nope\"]"));
    }

    #[test]
    fn a_null_id_makes_a_notification() {
        let update = parse(br#"{"id":null,"method":"update","params":["m",{}]}"#).unwrap();
        assert_eq!(update, Message::Notification { method: "update".into(), params: json!(["m", {}]) });
        let echo = parse(br#"{"id":"echo","method":"echo","params":[]}"#).unwrap();
        assert_eq!(echo, Message::Request { method: "echo".into(), params: json!([]), id: json!("echo") });
        assert_eq!(parse(b"{}"), Err(MessageError::Neither));
    }

    proptest! {
        #![proptest_config(crate::property::few(128))]

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn what_is_sent_is_read_back(id in 0_u64..9, method in "[a-z_]{1,9}", param in ".{0,9}") {
            let bytes = request(&json!(id), &method, &json!([param]));
            prop_assert_eq!(parse(&bytes).unwrap(), Message::Request { method, params: json!([param]), id: json!(id) });
        }
    }
}
