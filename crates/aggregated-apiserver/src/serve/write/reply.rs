//! The answer to a write: an object in the representation that was asked for, or a Status of success; and warnings.

use http::{HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

use super::Write;
use crate::collection::PublishedObject;
use crate::request::accept::Format;
use crate::serve::body::{self, Body, JSON, YAML};
use crate::status::ApiStatus;

/// Most characters of one warning, and of all warnings together.
const ONE: usize = 256;
const ALL: usize = 4096;

impl Write<'_> {
    pub(super) fn object(
        &self,
        code: StatusCode,
        object: &PublishedObject,
    ) -> Result<Response<Body>, ApiStatus> {
        let bytes = self.representation.object(object, self.definition());
        self.reply(code, bytes)
    }

    /// An object is gone.
    pub(super) fn success(&self, object: &PublishedObject) -> Result<Response<Body>, ApiStatus> {
        let definition = self.definition();
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
            "details": {
                "name": object.key().name, "group": definition.group, "kind": definition.plural, "uid": object.uid(),
            },
        });
        self.reply(StatusCode::OK, status.to_string().into_bytes())
    }

    pub(super) fn reply(&self, code: StatusCode, json: Vec<u8>) -> Result<Response<Body>, ApiStatus> {
        let mut response = match self.format {
            Format::Json => body::whole(code, JSON, json),
            Format::Yaml => body::whole(code, YAML, body::yaml(&json)?),
        };
        warn(&mut response, &self.warnings);
        Ok(response)
    }
}

/// Says warnings in headers, as `kubectl` prints them.
fn warn(response: &mut Response<Body>, warnings: &[String]) {
    let mut room = ALL;
    let mut said: Vec<&String> = Vec::new();
    for warning in warnings {
        if said.contains(&warning) {
            continue;
        }
        said.push(warning);
        let text: String = warning.chars().filter(|character| !character.is_control()).take(ONE).collect();
        let length = text.chars().count();
        if length > room {
            break;
        }
        room -= length;
        let quoted = Value::from(text).to_string();
        if let Ok(value) = HeaderValue::from_bytes(format!("299 - {quoted}").as_bytes()) {
            response.headers_mut().append(http::header::WARNING, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_quoted_bounded_and_said_once() {
        let mut response = Response::new(body::empty());
        let long = "x".repeat(1000);
        let mut warnings = vec!["unknown field \"spec.a\"".to_owned(), "two\nlines".to_owned()];
        warnings.push("two\nlines".to_owned());
        warnings.extend((0..100).map(|number| format!("{number} {long}")));
        warn(&mut response, &warnings);
        let said: Vec<_> = response.headers().get_all("warning").iter().collect();
        assert_eq!(said[0], "299 - \"unknown field \\\"spec.a\\\"\"");
        assert_eq!(said[1], "299 - \"twolines\"");
        assert!(said.len() > 10 && said.len() < 20, "{}", said.len());
    }
}
