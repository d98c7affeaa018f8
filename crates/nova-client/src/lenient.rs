//! Fields that are absent when they cannot be read.
//!
//! One odd value in one row of Nova's answer must not cost the whole list, and must not become a zero or an empty text
//! either: it becomes `None`. What a caller cannot do without is declared without this.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A value of the right type, or `None`.
pub(crate) fn maybe<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

/// A value of the right type, or its default.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    Ok(maybe(deserializer)?.unwrap_or_default())
}

/// A time of Nova: RFC 3339, or without a zone, which then is UTC.
pub(crate) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_str().and_then(parse_time))
}

fn parse_time(text: &str) -> Option<Timestamp> {
    let zoned = text.parse::<Timestamp>().ok();
    zoned.or_else(|| text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok().map(|time| time.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_with_and_without_zone_are_the_same_moment() {
        let zoned = parse_time("2026-11-30T15:10:24Z").unwrap();
        assert_eq!(parse_time("2026-11-30T15:10:24.000000"), Some(zoned));
        assert_eq!(parse_time("2026-11-30T15:10:24"), Some(zoned));
        assert_eq!(parse_time("yesterday"), None);
        assert_eq!(parse_time(""), None);
    }
}
