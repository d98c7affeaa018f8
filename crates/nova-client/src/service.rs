//! The two services that are called, and how they are named in the catalog, in headers and in messages.

use std::fmt;

use crate::version::Microversion;

/// A service of the cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Service {
    /// Nova.
    Compute,
    /// Placement.
    Placement,
}

impl Service {
    /// The service's type in Keystone's catalog, which is also its name in the microversion header.
    pub fn catalog_type(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Placement => "placement",
        }
    }

    /// The microversion that is asked for where it is offered.
    pub fn pinned(self) -> Microversion {
        match self {
            Self::Compute => Microversion::new(2, 93),
            Self::Placement => Microversion::new(1, 39),
        }
    }

    /// The oldest microversion that has what this crate reads.
    pub fn floor(self) -> Microversion {
        match self {
            Self::Compute => Microversion::new(2, 88),
            Self::Placement => Microversion::new(1, 28),
        }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compute => "Nova",
            Self::Placement => "Placement",
        })
    }
}
