//! The texts of a Migration: durations as Go prints them, sizes and rates in binary units.
//!
//! Scripts and dashboards made for the polling agent parse these, so the texts are the same to the last digit.

use std::fmt::Write as _;

const BINARY_UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Milliseconds as Go's `time.Duration` prints them.
///
/// ```
/// use c5c3_api::format::go_duration;
/// assert_eq!(go_duration(0), "0s");
/// assert_eq!(go_duration(350), "350ms");
/// assert_eq!(go_duration(62_500), "1m2.5s");
/// assert_eq!(go_duration(3_600_000), "1h0m0s");
/// ```
#[must_use]
pub fn go_duration(milliseconds: u64) -> String {
    match milliseconds {
        0 => return "0s".to_owned(),
        1..1000 => return format!("{milliseconds}ms"),
        _ => {}
    }
    let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000);
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    let mut text = String::new();
    if hours > 0 {
        // Writing to a String cannot fail.
        let _ = write!(text, "{hours}h");
    }
    if hours > 0 || minutes > 0 {
        let _ = write!(text, "{minutes}m");
    }
    let _ = write!(text, "{seconds}");
    if rest > 0 {
        let _ = write!(text, ".{}", format!("{rest:03}").trim_end_matches('0'));
    }
    text.push('s');
    text
}

/// Bytes in binary units, with one decimal from 1 KiB on.
///
/// ```
/// use c5c3_api::format::iec_bytes;
/// assert_eq!(iec_bytes(1023), "1023 B");
/// assert_eq!(iec_bytes(1536 << 20), "1.5 GiB");
/// ```
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "one decimal is printed")]
pub fn iec_bytes(bytes: u64) -> String {
    let mut chosen = None;
    let mut size = 1_u64;
    for unit in BINARY_UNITS {
        let Some(next) = size.checked_mul(1024) else { break };
        if bytes < next {
            break;
        }
        size = next;
        chosen = Some(unit);
    }
    match chosen {
        Some(unit) => format!("{:.1} {unit}", bytes as f64 / size as f64),
        None => format!("{bytes} B"),
    }
}

/// Bytes in a second, in binary units.
///
/// ```
/// assert_eq!(c5c3_api::format::iec_rate(123_456_789), "117.7 MiB/s");
/// ```
#[must_use]
pub fn iec_rate(bytes_per_second: u64) -> String {
    format!("{}/s", iec_bytes(bytes_per_second))
}

/// Pages in a second.
#[must_use]
pub fn page_rate(pages_per_second: u64) -> String {
    format!("{pages_per_second}/s")
}

/// A percentage.
#[must_use]
pub fn percent(value: u64) -> String {
    format!("{value}%")
}

/// The speed of a link, from the bits in a second that Open vSwitch gives.
///
/// ```
/// use c5c3_api::format::link_speed;
/// assert_eq!(link_speed(25_000_000_000), "25Gbps");
/// assert_eq!(link_speed(2_500_000_000), "2500Mbps");
/// ```
#[must_use]
pub fn link_speed(bits_per_second: u64) -> String {
    let mut amount = bits_per_second;
    let mut suffix = "bps";
    for next in ["Kbps", "Mbps", "Gbps", "Tbps"] {
        if amount == 0 || !amount.is_multiple_of(1000) {
            break;
        }
        amount /= 1000;
        suffix = next;
    }
    format!("{amount}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_go_prints_them() {
        for (milliseconds, text) in [
            (1, "1ms"),
            (999, "999ms"),
            (1000, "1s"),
            (1001, "1.001s"),
            (1010, "1.01s"),
            (59_999, "59.999s"),
            (60_000, "1m0s"),
            (3_599_000, "59m59s"),
            (3_723_004, "1h2m3.004s"),
            (90_000_000, "25h0m0s"),
        ] {
            assert_eq!(go_duration(milliseconds), text, "{milliseconds} ms");
        }
    }

    #[test]
    fn sizes_have_one_decimal_from_a_kibibyte_on() {
        for (bytes, text) in [
            (0, "0 B"),
            (1024, "1.0 KiB"),
            (4096, "4.0 KiB"),
            (1_048_575, "1024.0 KiB"),
            (1 << 20, "1.0 MiB"),
            (8 << 30, "8.0 GiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(iec_bytes(bytes), text, "{bytes} bytes");
        }
    }

    #[test]
    fn rates_and_percentages_carry_their_unit() {
        assert_eq!(page_rate(7), "7/s");
        assert_eq!(percent(20), "20%");
        assert_eq!(iec_rate(0), "0 B/s");
    }

    #[test]
    fn a_link_speed_keeps_every_digit() {
        for (bits, text) in [(0, "0bps"), (10_000_000, "10Mbps"), (1_000_000_000, "1Gbps"), (123, "123bps")] {
            assert_eq!(link_speed(bits), text);
        }
    }
}
