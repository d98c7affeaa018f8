//! Life-cycle events: what happened to a domain, with the detail that tells a stop from a migration.

use std::fmt;

use crate::raw_enum::raw_enum;

/// `virDomainEventType` with its detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LifecycleEvent {
    /// Defined or redefined (0).
    Defined(DefinedDetail),
    /// Its definition is gone (1).
    Undefined(i32),
    /// Started (2).
    Started(StartedDetail),
    /// Paused (3).
    Suspended(SuspendedDetail),
    /// Resumed (4).
    Resumed(ResumedDetail),
    /// Stopped (5).
    Stopped(StoppedDetail),
    /// Its guest shut down; a stop follows (6).
    Shutdown(i32),
    /// Suspended by the guest's power management (7).
    PmSuspended(i32),
    /// Crashed (8).
    Crashed(i32),
    /// An event this crate does not know.
    Other {
        /// The event's number.
        event: i32,
        /// The detail's number.
        detail: i32,
    },
}

raw_enum! {
    /// How a domain was defined.
    DefinedDetail {
        /// New.
        Added = 0 "added",
        /// Changed.
        Updated = 1 "updated",
        /// Renamed.
        Renamed = 2 "renamed",
        /// From a snapshot.
        FromSnapshot = 3 "from-snapshot",
    }
}

raw_enum! {
    /// How a domain started.
    StartedDetail {
        /// Booted.
        Booted = 0 "booted",
        /// Arrives by migration.
        Migrated = 1 "migrated",
        /// Restored from a saved state.
        Restored = 2 "restored",
        /// From a snapshot.
        FromSnapshot = 3 "from-snapshot",
        /// Woken up.
        Wakeup = 4 "wakeup",
        /// Recreated in place.
        Recreated = 5 "recreated",
    }
}

raw_enum! {
    /// Why a domain was paused.
    SuspendedDetail {
        /// Somebody asked.
        Paused = 0 "paused",
        /// For a migration.
        Migrated = 1 "migrated",
        /// A disk failed.
        IoError = 2 "io-error",
        /// Its watchdog fired.
        Watchdog = 3 "watchdog",
        /// Restored paused.
        Restored = 4 "restored",
        /// From a snapshot.
        FromSnapshot = 5 "from-snapshot",
        /// A call failed half-way.
        ApiError = 6 "api-error",
        /// Its other half runs on the target of a migration.
        Postcopy = 7 "post-copy",
        /// A post-copy migration broke.
        PostcopyFailed = 8 "post-copy-failed",
    }
}

raw_enum! {
    /// Why a domain resumed.
    ResumedDetail {
        /// Somebody asked, or a failed migration gave it back.
        Unpaused = 0 "unpaused",
        /// It arrived by migration.
        Migrated = 1 "migrated",
        /// From a snapshot.
        FromSnapshot = 2 "from-snapshot",
        /// It runs here while its memory still arrives.
        Postcopy = 3 "post-copy",
        /// A post-copy migration broke.
        PostcopyFailed = 4 "post-copy-failed",
    }
}

raw_enum! {
    /// Why a domain stopped.
    StoppedDetail {
        /// Its guest shut down.
        Shutdown = 0 "shutdown",
        /// Somebody destroyed it.
        Destroyed = 1 "destroyed",
        /// It crashed.
        Crashed = 2 "crashed",
        /// It migrated away.
        Migrated = 3 "migrated",
        /// It was saved.
        Saved = 4 "saved",
        /// The hypervisor failed.
        Failed = 5 "failed",
        /// From a snapshot.
        FromSnapshot = 6 "from-snapshot",
    }
}

impl LifecycleEvent {
    /// From the two numbers on the wire.
    pub fn from_raw(event: i32, detail: i32) -> Self {
        match event {
            0 => Self::Defined(detail.into()),
            1 => Self::Undefined(detail),
            2 => Self::Started(detail.into()),
            3 => Self::Suspended(detail.into()),
            4 => Self::Resumed(detail.into()),
            5 => Self::Stopped(detail.into()),
            6 => Self::Shutdown(detail),
            7 => Self::PmSuspended(detail),
            8 => Self::Crashed(detail),
            event => Self::Other { event, detail },
        }
    }

    /// The two numbers on the wire: event and detail.
    pub fn raw(self) -> (i32, i32) {
        match self {
            Self::Defined(detail) => (0, detail.raw()),
            Self::Undefined(detail) => (1, detail),
            Self::Started(detail) => (2, detail.raw()),
            Self::Suspended(detail) => (3, detail.raw()),
            Self::Resumed(detail) => (4, detail.raw()),
            Self::Stopped(detail) => (5, detail.raw()),
            Self::Shutdown(detail) => (6, detail),
            Self::PmSuspended(detail) => (7, detail),
            Self::Crashed(detail) => (8, detail),
            Self::Other { event, detail } => (event, detail),
        }
    }
}

/// Event, then the detail in parentheses where it has a name: `stopped (migrated)`.
impl fmt::Display for LifecycleEvent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Defined(detail) => write!(out, "defined ({detail})"),
            Self::Undefined(_) => out.write_str("undefined"),
            Self::Started(detail) => write!(out, "started ({detail})"),
            Self::Suspended(detail) => write!(out, "suspended ({detail})"),
            Self::Resumed(detail) => write!(out, "resumed ({detail})"),
            Self::Stopped(detail) => write!(out, "stopped ({detail})"),
            Self::Shutdown(_) => out.write_str("shutdown"),
            Self::PmSuspended(_) => out.write_str("suspended by power management"),
            Self::Crashed(_) => out.write_str("crashed"),
            Self::Other { event, detail } => write!(out, "event {event} ({detail})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_number_is_lost(event: i32, detail: i32) {
            prop_assert_eq!(LifecycleEvent::from_raw(event, detail).raw(), (event, detail));
        }
    }
}
