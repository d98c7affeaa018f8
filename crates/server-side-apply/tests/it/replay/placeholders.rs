//! Placeholders of the recordings and real times.

use serde_json::Value;

/// Replaces `<time:N>` by a time that grows with N, everywhere.
pub(super) fn with_times(value: &Value) -> Value {
    match value {
        Value::String(text) => match number(text) {
            Some(number) => Value::from(time(number)),
            None => value.clone(),
        },
        Value::Array(items) => Value::Array(items.iter().map(with_times).collect()),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), with_times(value))).collect(),
        other => other.clone(),
    }
}

/// The largest N of a `<time:N>` anywhere in the value.
pub(super) fn latest(value: &Value) -> u32 {
    match value {
        Value::String(text) => number(text).unwrap_or(0),
        Value::Array(items) => items.iter().map(latest).max().unwrap_or(0),
        Value::Object(map) => map.values().map(latest).max().unwrap_or(0),
        _ => 0,
    }
}

pub(super) fn time(number: u32) -> String {
    format!("2026-06-01T00:{:02}:{:02}Z", number / 60, number % 60)
}

fn number(text: &str) -> Option<u32> {
    text.strip_prefix("<time:")?.strip_suffix('>')?.parse().ok()
}
