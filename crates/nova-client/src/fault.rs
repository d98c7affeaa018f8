//! The three shapes in which the services say what went wrong.
//!
//! Nova: one key, named after the kind, over `{code, message}`. Placement: `{"errors": [{detail, code, …}]}`, where two
//! lines of boiler plate precede the fact. Keystone, and every 401: `{"error": {message, …}}`. A proxy in between speaks
//! HTML or text, of which the first line must do.

use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;
use serde_json::Value;

/// How much of a page that is not a known shape is passed on.
const TEXT_KEPT: usize = 200;

/// How much of a message is passed on.
const MESSAGE_KEPT: usize = 1000;

/// The longest pause a service can ask for; what asks for more is taken for a mistake.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// What an error body says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) code: Option<String>,
}

impl Fault {
    pub(crate) fn of_body(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => {
                Self::of_placement(&value).or_else(|| Self::of_nova(&value)).unwrap_or_default().in_a_line()
            }
            Err(_) => Self { message: first_line(&String::from_utf8_lossy(body)), code: None },
        }
    }

    fn in_a_line(self) -> Self {
        Self { message: one_line(&self.message), code: self.code.map(|code| one_line(&code)) }
    }

    fn of_placement(value: &Value) -> Option<Self> {
        let error = value.get("errors")?.as_array()?.first()?;
        let detail = error.get("detail").and_then(Value::as_str).unwrap_or_default();
        // "The server could not comply …\n\n the fact  "
        let fact = detail.split_once("\n\n").map_or(detail, |(_, fact)| fact).trim();
        let title = error.get("title").and_then(Value::as_str).unwrap_or_default();
        let message = if fact.is_empty() { title } else { fact }.to_owned();
        Some(Self { message, code: error.get("code").and_then(Value::as_str).map(str::to_owned) })
    }

    /// Nova's kinds and Keystone's `error`: whatever the one key is, it is not looked at.
    fn of_nova(value: &Value) -> Option<Self> {
        let message = value.as_object()?.values().find_map(|kind| kind.get("message")?.as_str())?;
        Some(Self { message: message.trim().to_owned(), code: None })
    }
}

/// `Retry-After` in seconds. The form with a date is not used by these services.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_PAUSE))
}

/// Without line breaks and other control characters, cut to a length: it goes into conditions and logs.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .take(MESSAGE_KEPT)
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect::<String>()
        .trim()
        .to_owned()
}

/// The first line with words in it, without tags, cut to a length.
fn first_line(text: &str) -> String {
    let plain = |line: &str| {
        let mut inside = false;
        let mut kept = String::new();
        for character in line.chars() {
            match character {
                '<' => inside = true,
                '>' => inside = false,
                _ if !inside && !character.is_control() => kept.push(character),
                _ => {}
            }
        }
        kept.trim().chars().take(TEXT_KEPT).collect::<String>()
    };
    text.lines().map(plain).find(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_of_the_three_shapes_gives_its_message() {
        let nova =
            br#"{"itemNotFound": {"code": 404, "message": "Compute host nosuch could not be found."}}"#;
        assert_eq!(Fault::of_body(nova).message, "Compute host nosuch could not be found.");
        let keystone =
            br#"{"error": {"code": 401, "identity": {}, "message": "Not you.", "title": "Unauthorized"}}"#;
        assert_eq!(Fault::of_body(keystone).message, "Not you.");
        let placement = br#"{"errors": [{"status": 409, "title": "Conflict", "code": "placement.concurrent_update",
            "detail": "There was a conflict when trying to complete your request.\n\n generation conflict  "}]}"#;
        let fault = Fault::of_body(placement);
        assert_eq!(fault.message, "generation conflict");
        assert_eq!(fault.code.as_deref(), Some("placement.concurrent_update"));
    }

    #[test]
    fn a_proxy_s_page_gives_its_first_words() {
        let page = b"<html>\n<head><title>503 Service Unavailable</title></head>\n<body>gone</body></html>";
        assert_eq!(Fault::of_body(page).message, "503 Service Unavailable");
        assert_eq!(Fault::of_body(b""), Fault::default());
        assert_eq!(Fault::of_body(b"[1]"), Fault::default());
        assert_eq!(Fault::of_body(&[b'x'; 5000]).message.len(), TEXT_KEPT);
    }

    #[test]
    fn a_message_is_one_line_of_bounded_length() {
        let body =
            serde_json::json!({"badRequest": {"message": format!("one\r\ntwo{}", "x".repeat(100_000))}});
        let message = Fault::of_body(body.to_string().as_bytes()).message;
        assert!(message.starts_with("one  twox"), "{message}");
        assert_eq!(message.len(), MESSAGE_KEPT);
    }

    proptest! {
        #[test]
        fn any_body_gives_one_line_of_bounded_length(body in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..400),
            "[<>{}\\[\\]\":,a-z\\n]{0,200}".prop_map(String::into_bytes),
            "[\\PC\\n]{0,50}".prop_map(|text| {
                serde_json::json!({"errors": [{"detail": text, "code": text}], "error": {"message": text}})
                    .to_string()
                    .into_bytes()
            }),
        ]) {
            let fault = Fault::of_body(&body);
            prop_assert!(fault.message.chars().count() <= MESSAGE_KEPT);
            prop_assert!(!fault.message.chars().any(char::is_control));
        }
    }

    #[test]
    fn retry_after_is_seconds_and_bounded() {
        let of = |text: &'static str| {
            retry_after(&HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(text))]))
        };
        assert_eq!(of("7"), Some(Duration::from_secs(7)));
        assert_eq!(of("999999999"), Some(LONGEST_PAUSE));
        assert_eq!(of("Mon, 30 Nov 2026 15:00:00 GMT"), None);
        assert_eq!(of("-1"), None);
    }
}
