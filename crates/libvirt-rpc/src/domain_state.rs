//! The state of a domain and why it is in it.
//!
//! The reason decides what an operator does (paused by a person or by an I/O error?), so both are one value: a reason
//! means nothing without its state.

use std::fmt;

use crate::raw_enum::raw_enum;

/// `virDomainState` with its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DomainState {
    /// No state known (0).
    NoState(i32),
    /// Running (1).
    Running(RunningReason),
    /// Blocked on a resource (2).
    Blocked(i32),
    /// Paused (3).
    Paused(PausedReason),
    /// Shutting down (4).
    ShuttingDown(i32),
    /// Shut off (5).
    ShutOff(ShutOffReason),
    /// Crashed (6).
    Crashed(CrashedReason),
    /// Suspended by the guest's power management (7).
    PmSuspended(i32),
    /// A state this crate does not know.
    Other {
        /// The state's number.
        state: i32,
        /// The reason's number.
        reason: i32,
    },
}

raw_enum! {
    /// Why a domain runs.
    RunningReason {
        /// Not known.
        Unknown = 0 "unknown",
        /// Booted from scratch.
        Booted = 1 "booted",
        /// Arrived by migration.
        Migrated = 2 "migrated",
        /// Restored from a saved state.
        Restored = 3 "restored",
        /// Restored from a snapshot.
        FromSnapshot = 4 "from-snapshot",
        /// Unpaused.
        Unpaused = 5 "unpaused",
        /// A migration was cancelled.
        MigrationCanceled = 6 "migration-canceled",
        /// A save was cancelled.
        SaveCanceled = 7 "save-canceled",
        /// Woken up.
        Wakeup = 8 "wakeup",
        /// Resumed after a crash.
        Crashed = 9 "crashed",
        /// Runs here while its memory still arrives.
        Postcopy = 10 "post-copy",
        /// Runs here, and the rest of its memory did not arrive.
        PostcopyFailed = 11 "post-copy-failed",
    }
}

raw_enum! {
    /// Why a domain is paused.
    PausedReason {
        /// Not known.
        Unknown = 0 "unknown",
        /// Somebody paused it.
        User = 1 "user",
        /// For the last phase of a migration.
        Migration = 2 "migration",
        /// It is being saved.
        Save = 3 "save",
        /// Its core is being dumped.
        Dump = 4 "dump",
        /// A disk failed.
        IoError = 5 "io-error",
        /// Its watchdog fired.
        Watchdog = 6 "watchdog",
        /// It was restored from a snapshot.
        FromSnapshot = 7 "from-snapshot",
        /// It is shutting down.
        ShuttingDown = 8 "shutting-down",
        /// A snapshot is being taken.
        Snapshot = 9 "snapshot",
        /// Its guest crashed.
        Crashed = 10 "crashed",
        /// It is starting.
        StartingUp = 11 "starting-up",
        /// Its other half runs on the target of a migration.
        Postcopy = 12 "post-copy",
        /// A post-copy migration broke: its state is split over two hosts.
        PostcopyFailed = 13 "post-copy-failed",
        /// A call failed half-way.
        ApiError = 14 "api-error",
    }
}

raw_enum! {
    /// Why a domain is shut off.
    ShutOffReason {
        /// Not known.
        Unknown = 0 "unknown",
        /// Its guest shut down.
        Shutdown = 1 "shutdown",
        /// Somebody destroyed it.
        Destroyed = 2 "destroyed",
        /// It crashed.
        Crashed = 3 "crashed",
        /// It migrated away.
        Migrated = 4 "migrated",
        /// It was saved.
        Saved = 5 "saved",
        /// It did not start.
        Failed = 6 "failed",
        /// It was restored from a snapshot of a domain that was off.
        FromSnapshot = 7 "from-snapshot",
        /// The daemon ended it.
        Daemon = 8 "daemon",
    }
}

raw_enum! {
    /// Why a domain crashed.
    CrashedReason {
        /// Not known.
        Unknown = 0 "unknown",
        /// Its guest panicked.
        Panicked = 1 "panicked",
    }
}

impl DomainState {
    /// From the two numbers on the wire.
    pub fn from_raw(state: i32, reason: i32) -> Self {
        match state {
            0 => Self::NoState(reason),
            1 => Self::Running(reason.into()),
            2 => Self::Blocked(reason),
            3 => Self::Paused(reason.into()),
            4 => Self::ShuttingDown(reason),
            5 => Self::ShutOff(reason.into()),
            6 => Self::Crashed(reason.into()),
            7 => Self::PmSuspended(reason),
            state => Self::Other { state, reason },
        }
    }

    /// The two numbers on the wire: state and reason.
    pub fn raw(self) -> (i32, i32) {
        match self {
            Self::NoState(reason) => (0, reason),
            Self::Running(reason) => (1, reason.raw()),
            Self::Blocked(reason) => (2, reason),
            Self::Paused(reason) => (3, reason.raw()),
            Self::ShuttingDown(reason) => (4, reason),
            Self::ShutOff(reason) => (5, reason.raw()),
            Self::Crashed(reason) => (6, reason.raw()),
            Self::PmSuspended(reason) => (7, reason),
            Self::Other { state, reason } => (state, reason),
        }
    }

    /// Whether a process of the hypervisor holds the domain, running or not.
    pub fn is_active(self) -> bool {
        match self {
            Self::Running(_)
            | Self::Blocked(_)
            | Self::Paused(_)
            | Self::ShuttingDown(_)
            | Self::PmSuspended(_) => true,
            Self::NoState(_) | Self::ShutOff(_) | Self::Crashed(_) | Self::Other { .. } => false,
        }
    }

    /// Whether its guest makes progress.
    pub fn is_running(self) -> bool {
        matches!(self, Self::Running(_) | Self::Blocked(_))
    }
}

/// State, then the reason in parentheses where it has a name: `paused (io-error)`.
impl fmt::Display for DomainState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoState(_) => out.write_str("no state"),
            Self::Running(reason) => write!(out, "running ({reason})"),
            Self::Blocked(_) => out.write_str("blocked"),
            Self::Paused(reason) => write!(out, "paused ({reason})"),
            Self::ShuttingDown(_) => out.write_str("shutting down"),
            Self::ShutOff(reason) => write!(out, "shut off ({reason})"),
            Self::Crashed(reason) => write!(out, "crashed ({reason})"),
            Self::PmSuspended(_) => out.write_str("suspended by power management"),
            Self::Other { state, reason } => write!(out, "state {state} ({reason})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reasons_belong_to_their_state() {
        assert_eq!(DomainState::from_raw(3, 5).to_string(), "paused (io-error)");
        assert_eq!(DomainState::from_raw(1, 5).to_string(), "running (unpaused)");
        assert_eq!(DomainState::from_raw(5, 4), DomainState::ShutOff(ShutOffReason::Migrated));
    }

    proptest! {
        #[test]
        fn no_number_is_lost(state: i32, reason: i32) {
            prop_assert_eq!(DomainState::from_raw(state, reason).raw(), (state, reason));
        }
    }
}
