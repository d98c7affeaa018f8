//! Ages as kubectl prints them: `5s`, `3m20s`, `4h`, `2d3h`, `60d`, `3y40d`.
//!
//! The server writes them into table cells, so they must look like those of built-in kinds.

use std::time::Duration;

/// The age of something, or `<invalid>` if it lies more than two seconds in the future.
pub(crate) fn human(age: jiff::SignedDuration) -> String {
    match Duration::try_from(age) {
        Ok(age) => positive(age.as_secs()),
        Err(_) if age.as_secs() > -2 => "0s".to_owned(),
        Err(_) => "<invalid>".to_owned(),
    }
}

fn positive(seconds: u64) -> String {
    let minutes = seconds / 60;
    let hours = seconds / 3600;
    let days = hours / 24;
    let years = days / 365;
    if seconds < 120 {
        return format!("{seconds}s");
    }
    if minutes < 10 {
        return two(minutes, "m", seconds % 60, "s");
    }
    if minutes < 180 {
        return format!("{minutes}m");
    }
    if hours < 8 {
        return two(hours, "h", minutes % 60, "m");
    }
    if hours < 48 {
        return format!("{hours}h");
    }
    if hours < 192 {
        return two(days, "d", hours % 24, "h");
    }
    if days < 730 {
        return format!("{days}d");
    }
    if days < 8 * 365 {
        return two(years, "y", days % 365, "d");
    }
    format!("{years}y")
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 {
        format!("{large}{large_unit}")
    } else {
        format!("{large}{large_unit}{small}{small_unit}")
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn ages_look_like_those_of_kubectl() {
        let minute = 60;
        let hour = 60 * minute;
        let day = 24 * hour;
        for (seconds, expected) in [
            (-10, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (2 * minute, "2m"),
            (2 * minute + 3, "2m3s"),
            (10 * minute + 5, "10m"),
            (179 * minute, "179m"),
            (3 * hour, "3h"),
            (3 * hour + 5 * minute, "3h5m"),
            (8 * hour + 5 * minute, "8h"),
            (47 * hour, "47h"),
            (2 * day, "2d"),
            (2 * day + hour, "2d1h"),
            (8 * day + hour, "8d"),
            (729 * day, "729d"),
            (2 * 365 * day, "2y"),
            (2 * 365 * day + 3 * day, "2y3d"),
            (9 * 365 * day + 3 * day, "9y"),
        ] {
            assert_eq!(human(SignedDuration::from_secs(seconds)), expected, "{seconds}");
        }
    }
}
