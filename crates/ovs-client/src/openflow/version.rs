//! Protocol versions and how two sides agree on one.
//!
//! A HELLO may carry a bitmap of versions; without one its own version and all below are meant. Both sides take the
//! highest that both have, without another word.

use std::fmt;

/// A version that this crate can decode statistics of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the numbers of the OpenFlow specifications")]
pub enum Version {
    V1_0,
    V1_3,
    V1_4,
    V1_5,
}

/// A set of versions, of which we may know some only by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Versions(u32);

impl Version {
    /// All that are known here.
    pub const ALL: [Self; 4] = [Self::V1_0, Self::V1_3, Self::V1_4, Self::V1_5];

    /// The number on the wire.
    pub fn number(self) -> u8 {
        match self {
            Self::V1_0 => 1,
            Self::V1_3 => 4,
            Self::V1_4 => 5,
            Self::V1_5 => 6,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(name(self.number()))
    }
}

impl Versions {
    /// What we offer first: 1.3, which every switch of the last decade has, and 1.0 for those that allow nothing else.
    pub const USUAL: Self = Self(1 << 1 | 1 << 4);

    /// Every version known here.
    pub fn known() -> Self {
        Version::ALL.into_iter().collect()
    }

    /// What a HELLO without a bitmap means: this version and all below.
    pub fn up_to(number: u8) -> Self {
        Self((1..=u32::from(number.min(31))).fold(0, |bits, version| bits | 1 << version))
    }

    /// From the bits of a HELLO's bitmap.
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The bits of a HELLO's bitmap.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Those in both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of the highest.
    pub fn highest_number(self) -> Option<u8> {
        u8::try_from(self.0.checked_ilog2()?).ok()
    }

    /// The highest that is known here.
    pub fn highest(self) -> Option<Version> {
        Version::ALL.into_iter().rev().find(|version| self.0 & 1 << version.number() != 0)
    }
}

impl FromIterator<Version> for Versions {
    fn from_iter<T: IntoIterator<Item = Version>>(versions: T) -> Self {
        Self(versions.into_iter().fold(0, |bits, version| bits | 1 << version.number()))
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = (1..=31).filter(|number| self.0 & 1 << number != 0).map(name).collect();
        out.write_str(if names.is_empty() { "none" } else { "" })?;
        out.write_str(&names.join(", "))
    }
}

/// What people call a version.
fn name(number: u8) -> &'static str {
    match number {
        1 => "1.0",
        2 => "1.1",
        3 => "1.2",
        4 => "1.3",
        5 => "1.4",
        6 => "1.5",
        _ => "newer than 1.5",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_common_version_is_taken() {
        let agreed = |switch: Versions| Versions::USUAL.and(switch).highest();
        assert_eq!(agreed(Versions::up_to(6)), Some(Version::V1_3));
        assert_eq!(agreed(Versions::up_to(1)), Some(Version::V1_0));
        assert_eq!(agreed(Versions::from_bits(1 << 6)), None);
        assert_eq!(Versions::known().and(Versions::from_bits(1 << 6)).highest(), Some(Version::V1_5));
        assert_eq!(Versions::known().and(Versions::from_bits(1 << 3)).highest(), None);
    }

    #[test]
    fn sets_print_as_people_say_them() {
        assert_eq!(Versions::USUAL.to_string(), "1.0, 1.3");
        assert_eq!(Versions::default().to_string(), "none");
        assert_eq!(Versions::up_to(255).highest_number(), Some(31));
    }
}
