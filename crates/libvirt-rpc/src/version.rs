//! Versions as libvirt counts them: one number, a thousand per step.

use std::fmt;

/// A version of libvirt or of a hypervisor.
///
/// ```
/// use libvirt_rpc::Version;
/// assert_eq!(Version::from_raw(10_002_003).to_string(), "10.2.3");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u64);

impl Version {
    /// From `major * 1_000_000 + minor * 1_000 + release`.
    pub const fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    /// `major * 1_000_000 + minor * 1_000 + release`.
    pub const fn raw(self) -> u64 {
        self.0
    }

    /// Major number.
    pub const fn major(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Minor number.
    pub const fn minor(self) -> u64 {
        self.0 / 1_000 % 1_000
    }

    /// Release number.
    pub const fn release(self) -> u64 {
        self.0 % 1_000
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.major(), self.minor(), self.release())
    }
}
