//! The microversion of a request, from its header.

use std::fmt;

use http::HeaderMap;

/// A microversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Microversion(pub(super) u16, pub(super) u16);

/// What is wrong with the version that was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It is not a version at all (400).
    Malformed(String),
    /// It is not offered (406).
    NotOffered(Microversion),
}

impl fmt::Display for Microversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl Microversion {
    /// The version asked for: the minimum without a header, the maximum for `latest`.
    pub(super) fn asked(headers: &HeaderMap, service: &str, min: Self, max: Self) -> Result<Self, Wrong> {
        let header =
            headers.get("openstack-api-version").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let ours = header.split(',').find_map(|part| {
            let (name, version) = part.trim().split_once(' ')?;
            name.eq_ignore_ascii_case(service).then(|| version.trim())
        });
        let Some(text) = ours else { return Ok(min) };
        if text == "latest" {
            return Ok(max);
        }
        let numbers =
            text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let (major, minor) = numbers.ok_or_else(|| Wrong::Malformed(text.to_owned()))?;
        let version = Self(major, minor);
        if version < min || version > max { Err(Wrong::NotOffered(version)) } else { Ok(version) }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_version_is_the_asked_one_the_minimum_or_the_latest() {
        let asked = |header: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("openstack-api-version", HeaderValue::from_static(header));
            Microversion::asked(&headers, "compute", Microversion(2, 1), Microversion(2, 104))
        };
        assert_eq!(asked("compute 2.93"), Ok(Microversion(2, 93)));
        assert_eq!(asked("placement 1.39, compute 2.10"), Ok(Microversion(2, 10)));
        assert_eq!(asked("placement 1.39"), Ok(Microversion(2, 1)));
        assert_eq!(asked("compute latest"), Ok(Microversion(2, 104)));
        assert_eq!(asked("compute 2.500"), Err(Wrong::NotOffered(Microversion(2, 500))));
        assert_eq!(asked("compute 2.0"), Err(Wrong::NotOffered(Microversion(2, 0))));
        assert_eq!(asked("compute banana"), Err(Wrong::Malformed("banana".to_owned())));
    }
}
