//! How a condition type is described: its name, its meaning and the reasons it can give.
//!
//! The reference pages and the tests read these tables; the code that sets a condition reads the constants they name.

use super::ConditionStatus;

/// A condition type of a kind.
#[derive(Clone, Copy, Debug)]
pub struct ConditionType {
    /// The `type` of the condition.
    pub name: &'static str,
    /// What it says.
    pub meaning: &'static str,
    /// From what it is computed.
    pub source: &'static str,
    /// What it can say, in the order in which they are tried.
    pub reasons: &'static [ConditionReason],
}

/// A status that a condition can have, with its reason.
#[derive(Clone, Copy, Debug)]
pub struct ConditionReason {
    /// The status that goes with this reason.
    pub status: ConditionStatus,
    /// The `reason` of the condition.
    pub reason: &'static str,
    /// When it is given.
    pub meaning: &'static str,
}

/// A reason of a condition that holds.
pub(crate) const fn yes(reason: &'static str, meaning: &'static str) -> ConditionReason {
    ConditionReason { status: ConditionStatus::True, reason, meaning }
}

/// A reason of a condition that does not hold.
pub(crate) const fn no(reason: &'static str, meaning: &'static str) -> ConditionReason {
    ConditionReason { status: ConditionStatus::False, reason, meaning }
}

/// A reason of a condition that nobody can decide now.
pub(crate) const fn unknown(reason: &'static str, meaning: &'static str) -> ConditionReason {
    ConditionReason { status: ConditionStatus::Unknown, reason, meaning }
}

/// The reasons of every condition that says whether a source answers (see [`crate::SourceState::condition`]).
pub(crate) const SOURCE_REASONS: &[ConditionReason] = &[
    yes("Connected", "the source answers; what it says is current"),
    no("Unreachable", "no connection to the source; the last known values are kept"),
    no("Denied", "the source refuses our credentials or certificate; the last known values are kept"),
    unknown("Connecting", "the first connection is being made; nothing is known yet"),
    unknown("Stale", "connected, but the source has not answered in time; the last known values are kept"),
    unknown("Disabled", "the source is not configured for this object"),
];
