//! The query of a request, with Nova's dislike of keys that it does not know.

use axum::extract::Query as Pairs;
use http::Uri;

use super::answer::Refusal;

/// The pairs of a query in their order.
#[derive(Debug)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Decodes the query and refuses keys other than `known`.
    pub(super) fn of(uri: &Uri, known: &[&str]) -> Result<Self, Refusal> {
        let pairs = Pairs::<Vec<(String, String)>>::try_from_uri(uri)
            .map(|Pairs(pairs)| pairs)
            .map_err(|error| Refusal::bad_request(&error.to_string()))?;
        match pairs.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            Some((key, _)) => {
                let message = format!("Additional properties are not allowed ('{key}' was unexpected)");
                Err(Refusal::bad_request(&message))
            }
            None => Ok(Self(pairs)),
        }
    }

    /// The last value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Whether a key says yes, in any of Nova's ways to say so.
    pub(super) fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| {
            matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "t" | "yes" | "on")
        })
    }

    /// The query with another marker, for the link to the next page.
    pub(super) fn with_marker(&self, marker: &str) -> String {
        let encode = |text: &str| {
            text.bytes()
                .map(|byte| match byte {
                    b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                        char::from(byte).to_string()
                    }
                    _ => format!("%{byte:02X}"),
                })
                .collect::<String>()
        };
        let kept = self.0.iter().filter(|(key, _)| key != "marker");
        let mut pairs: Vec<String> =
            kept.map(|(key, value)| format!("{}={}", encode(key), encode(value))).collect();
        pairs.push(format!("marker={}", encode(marker)));
        pairs.join("&")
    }
}
