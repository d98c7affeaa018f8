//! A span of time as people write it: `500ms`, `10s`, `5m`, `1h`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A span of time of at least one millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Interval(Duration);

impl Interval {
    /// A number of seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// A number of milliseconds, at least one.
    pub const fn milliseconds(milliseconds: u64) -> Self {
        Self(Duration::from_millis(if milliseconds == 0 { 1 } else { milliseconds }))
    }

    /// The span.
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || format!("`{text}` is not a span of time such as 500ms, 10s, 5m or 1h");
        let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at_checked(digits).ok_or_else(refuse)?;
        let number: u64 = number.parse().map_err(|_| refuse())?;
        let milliseconds = match unit {
            "ms" => Some(number),
            "s" => number.checked_mul(1_000),
            "m" => number.checked_mul(60_000),
            "h" => number.checked_mul(3_600_000),
            _ => None,
        };
        match milliseconds {
            Some(milliseconds) if milliseconds > 0 => Ok(Self(Duration::from_millis(milliseconds))),
            _ => Err(refuse()),
        }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.0.as_millis();
        match milliseconds {
            _ if milliseconds.is_multiple_of(3_600_000) => write!(formatter, "{}h", milliseconds / 3_600_000),
            _ if milliseconds.is_multiple_of(60_000) => write!(formatter, "{}m", milliseconds / 60_000),
            _ if milliseconds.is_multiple_of(1_000) => write!(formatter, "{}s", milliseconds / 1_000),
            _ => write!(formatter, "{milliseconds}ms"),
        }
    }
}

impl TryFrom<String> for Interval {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Interval> for String {
    fn from(interval: Interval) -> Self {
        interval.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_back_as_they_were_written() {
        for text in ["500ms", "10s", "5m", "1h", "90s"] {
            assert_eq!(text.parse::<Interval>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn spans_without_unit_or_of_no_length_are_refused() {
        for text in ["", "10", "s", "0s", "1d", "-1s", "99999999999999999999s", "18446744073709551615h", "é"]
        {
            assert!(text.parse::<Interval>().is_err(), "{text}");
        }
    }
}
