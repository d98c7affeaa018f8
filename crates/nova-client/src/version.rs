//! Microversions: which one to ask for, decided from what the service offers.
//!
//! A microversion is pinned because bodies change shape from one to the next. A service that is a little older gets its
//! own maximum, down to a floor below which fields that this crate relies on do not exist.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::service::Service;

/// A microversion, e.g. 2.93. Compared as numbers: 2.9 is older than 2.10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Microversion {
    major: u16,
    minor: u16,
}

/// The microversions that a service offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionRange {
    /// The oldest.
    pub min: Microversion,
    /// The newest.
    pub max: Microversion,
}

/// A text that is not a microversion.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a microversion")]
pub struct NotAMicroversion(String);

impl Microversion {
    /// `major.minor`.
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor }
    }
}

impl fmt::Display for Microversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for Microversion {
    type Err = NotAMicroversion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || NotAMicroversion(text.to_owned());
        let (major, minor) = text.split_once('.').ok_or_else(wrong)?;
        Ok(Self { major: major.parse().map_err(|_| wrong())?, minor: minor.parse().map_err(|_| wrong())? })
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.min, self.max)
    }
}

impl VersionRange {
    /// The version to ask `service` for, or `None` when it offers nothing between our floor and our pin.
    pub fn choose(self, service: Service) -> Option<Microversion> {
        let chosen = service.pinned().min(self.max);
        (chosen >= service.floor() && chosen >= self.min).then_some(chosen)
    }

    /// The range in a version document: `{"version": {…}}` or `{"versions": [{…}]}`, of Nova or of Placement.
    pub(crate) fn of_document(document: &Value) -> Option<Self> {
        let one = document.get("version").into_iter();
        let many = document.get("versions").and_then(Value::as_array).into_iter().flatten();
        one.chain(many).filter_map(Self::of_entry).max_by_key(|range| range.max)
    }

    /// Nova calls its maximum `version`, Placement `max_version`; entries without microversions say "".
    fn of_entry(entry: &Value) -> Option<Self> {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let max = text("max_version").or_else(|| text("version"))?.parse().ok()?;
        let min = text("min_version")?.parse().ok()?;
        Some(Self { min, max })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn range(min: (u16, u16), max: (u16, u16)) -> VersionRange {
        VersionRange { min: Microversion::new(min.0, min.1), max: Microversion::new(max.0, max.1) }
    }

    #[test]
    fn minor_numbers_are_compared_as_numbers() {
        assert!(Microversion::new(2, 9) < Microversion::new(2, 88));
        assert!(Microversion::new(2, 104) > Microversion::new(2, 93));
        assert!("2.x".parse::<Microversion>().is_err());
        assert!("2".parse::<Microversion>().is_err());
    }

    #[test]
    fn the_pin_is_chosen_where_offered_and_the_maximum_down_to_the_floor() {
        assert_eq!(range((2, 1), (2, 104)).choose(Service::Compute), Some(Microversion::new(2, 93)));
        assert_eq!(range((2, 1), (2, 90)).choose(Service::Compute), Some(Microversion::new(2, 90)));
        assert_eq!(range((2, 1), (2, 88)).choose(Service::Compute), Some(Microversion::new(2, 88)));
        assert_eq!(range((2, 1), (2, 87)).choose(Service::Compute), None);
        assert_eq!(range((2, 94), (2, 120)).choose(Service::Compute), None);
        assert_eq!(range((1, 0), (1, 39)).choose(Service::Placement), Some(Microversion::new(1, 39)));
        assert_eq!(range((1, 0), (1, 27)).choose(Service::Placement), None);
    }

    #[test]
    fn the_document_of_either_service_is_read() {
        let nova = json!({"version": {"id": "v2.1", "version": "2.104", "min_version": "2.1"}});
        assert_eq!(VersionRange::of_document(&nova), Some(range((2, 1), (2, 104))));
        let root = json!({"versions": [
            {"id": "v2.0", "version": "", "min_version": ""},
            {"id": "v2.1", "version": "2.104", "min_version": "2.1"},
        ]});
        assert_eq!(VersionRange::of_document(&root), Some(range((2, 1), (2, 104))));
        let placement = json!({"versions": [{"id": "v1.0", "max_version": "1.39", "min_version": "1.0"}]});
        assert_eq!(VersionRange::of_document(&placement), Some(range((1, 0), (1, 39))));
        assert_eq!(VersionRange::of_document(&json!({"itemNotFound": {"code": 404}})), None);
        assert_eq!(VersionRange::of_document(&json!([1, 2])), None);
    }
}
