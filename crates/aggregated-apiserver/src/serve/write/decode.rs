//! From the body of a request to a JSON value, with the keys that were there twice.
//!
//! JSON and YAML go through the same visitor, so that both are bounded and strict alike. Duplicate keys are legal to the
//! formats and a mistake to people: the last one counts, and all are reported.

use std::fmt;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::status::ApiStatus;

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    Yaml,
}

/// A decoded body.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Decoded {
    pub(super) value: Value,
    /// Paths of keys that were there more than once, such as `spec.reason`.
    pub(super) duplicates: Vec<String>,
}

/// The media type of the body, without its parameters; empty if there is none.
pub(super) fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The syntax of an object that is posted or put.
pub(super) fn syntax(headers: &HeaderMap) -> Result<Syntax, ApiStatus> {
    match media_type(headers).as_str() {
        "" | "application/json" => Ok(Syntax::Json),
        "application/yaml" => Ok(Syntax::Yaml),
        _ => Err(ApiStatus::unsupported_media_type(&["application/json", "application/yaml"])),
    }
}

/// The whole body, if it is not too long.
pub(super) async fn read(mut body: Incoming, limit: usize) -> Result<Bytes, ApiStatus> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|error| ApiStatus::bad_request(format!("the body could not be read: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            drain(body, limit.saturating_mul(4)).await;
            return Err(ApiStatus::entity_too_large(limit));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

/// Takes the rest of a body that is too long, for a while: a client that is still writing would not see the answer.
async fn drain(mut body: Incoming, most: usize) {
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);
    let dropping = async {
        let mut dropped = 0;
        while let Some(Ok(frame)) = body.frame().await {
            dropped += frame.data_ref().map_or(0, Bytes::len);
            if dropped > most {
                break;
            }
        }
    };
    // Whether it came to its end or not, the answer is the same.
    let _ = tokio::time::timeout(PATIENCE, dropping).await;
}

/// Decodes a body. The error is for the client.
pub(super) fn decode(bytes: &[u8], syntax: Syntax) -> Result<Decoded, String> {
    match syntax {
        Syntax::Json => {
            let mut deserializer = serde_json::Deserializer::from_slice(bytes);
            let decoded = Decoded::deserialize(&mut deserializer).map_err(|error| error.to_string())?;
            deserializer.end().map_err(|error| error.to_string())?;
            Ok(decoded)
        }
        Syntax::Yaml => {
            let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
            let options = serde_saphyr::options! {
                duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::LastWins,
            };
            serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
        }
    }
}

impl Decoded {
    fn plain(value: impl Into<Value>) -> Self {
        Self { value: value.into(), duplicates: Vec::new() }
    }
}

impl<'de> Deserialize<'de> for Decoded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Decoded;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Decoded, E> {
        Ok(Decoded::plain(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Decoded, E> {
        Ok(Decoded::plain(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Decoded, D::Error> {
        Decoded::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Decoded, E> {
        Ok(Decoded::plain(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Decoded, E> {
        Ok(Decoded::plain(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Decoded, E> {
        Ok(Decoded::plain(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Decoded, E> {
        if !value.is_finite() {
            return Err(E::custom(format!("{value} is no number that JSON has")));
        }
        // As Go writes it: 3.0 and 3 are the same.
        #[expect(clippy::cast_possible_truncation, reason = "a whole number that a float has exactly")]
        let whole = (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64);
        Ok(whole.map_or_else(|| Decoded::plain(value), Decoded::plain))
    }

    fn visit_str<E>(self, value: &str) -> Result<Decoded, E> {
        Ok(Decoded::plain(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Decoded, E> {
        Ok(Decoded::plain(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Decoded, A::Error> {
        let mut list = Vec::new();
        let mut duplicates = Vec::new();
        while let Some(item) = items.next_element::<Decoded>()? {
            let place = format!("[{}]", list.len());
            duplicates.extend(item.duplicates.iter().map(|path| below(&place, path)));
            list.push(item.value);
        }
        Ok(Decoded { value: Value::Array(list), duplicates })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Decoded, A::Error> {
        let mut map = Map::new();
        let mut duplicates = Vec::new();
        while let Some(key) = entries.next_key::<Decoded>()? {
            let key = match key.value {
                Value::String(key) => key,
                key @ (Value::Bool(_) | Value::Number(_) | Value::Null) => key.to_string(),
                Value::Array(_) | Value::Object(_) => return Err(A::Error::custom("a key must be a text")),
            };
            let value: Decoded = entries.next_value()?;
            duplicates.extend(value.duplicates.iter().map(|path| below(&key, path)));
            if map.insert(key.clone(), value.value).is_some() {
                duplicates.push(key);
            }
        }
        Ok(Decoded { value: Value::Object(map), duplicates })
    }
}

fn below(place: &str, path: &str) -> String {
    if path.starts_with('[') { format!("{place}{path}") } else { format!("{place}.{path}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn json_and_yaml_mean_the_same() {
        let json = r#"{"a": {"b": [1, -2, 2.5, "x", null, true]}, "c": ""}"#;
        let yaml = "a:\n  b: [1, -2, 2.5, x, null, true]\nc: ''\n";
        let expected = json!({"a": {"b": [1, -2, 2.5, "x", null, true]}, "c": ""});
        assert_eq!(decode(json.as_bytes(), Syntax::Json).unwrap().value, expected);
        assert_eq!(decode(json.as_bytes(), Syntax::Yaml).unwrap().value, expected);
        assert_eq!(decode(yaml.as_bytes(), Syntax::Yaml).unwrap().value, expected);
    }

    #[test]
    fn the_last_of_two_keys_counts_and_both_are_reported() {
        let json = r#"{"spec": {"mode": 1, "mode": 2, "list": [{"x": 1, "x": 3}]}, "spec": {"mode": 4}}"#;
        let decoded = decode(json.as_bytes(), Syntax::Json).unwrap();
        assert_eq!(decoded.value, json!({"spec": {"mode": 4}}));
        assert_eq!(decoded.duplicates, ["spec.mode", "spec.list[0].x", "spec"]);
        let decoded = decode(b"spec:\n  mode: 1\n  mode: 2\n", Syntax::Yaml).unwrap();
        assert_eq!(
            (decoded.value, decoded.duplicates),
            (json!({"spec": {"mode": 2}}), vec!["spec.mode".into()])
        );
    }

    #[test]
    fn what_is_no_document_is_refused() {
        let deep = "[".repeat(100_000);
        for text in ["", "{", "{}{}", "nope", deep.as_str()] {
            assert!(decode(text.as_bytes(), Syntax::Json).is_err());
        }
        let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n\
                    d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\n\
                    g: &g [*f,*f,*f,*f,*f,*f,*f,*f]\nh: &h [*g,*g,*g,*g,*g,*g,*g,*g]\n";
        for text in [deep.as_str(), bomb, "a: b: c", "a: .nan", "a: [", "? [a]\n: b", "\u{1}"] {
            assert!(decode(text.as_bytes(), Syntax::Yaml).is_err(), "{text:.40}");
        }
    }

    proptest! {
        #[test]
        fn decoding_is_total(text in "\\PC{0,60}") {
            let _ = decode(text.as_bytes(), Syntax::Json);
            let _ = decode(text.as_bytes(), Syntax::Yaml);
        }
    }
}
