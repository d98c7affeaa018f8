//! What one source said, when, and how well it can be heard.
//!
//! A source that falls silent keeps its last value: a reader sees old data that says it is old, never a hole.

use std::sync::Arc;

use c5c3_api::SourceState;
use jiff::Timestamp;

/// What one source said about one host (or about the cloud).
#[derive(Debug)]
pub struct Observation<T> {
    /// The last value that was read whole; `None` until there was one.
    pub value: Option<Arc<T>>,
    /// When that value was read.
    pub observed_at: Option<Timestamp>,
    /// Whether the source answers now.
    pub health: Health,
}

/// Whether a source answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// Not configured for this host.
    Disabled,
    /// The first connection has not come about yet and has not failed either.
    Connecting,
    /// It answers.
    Connected,
    /// It does not answer, or answers with an error.
    Failed(Failure),
}

/// Why a source does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Stale (connected but silent), unreachable, or denied.
    pub state: SourceState,
    /// The error chain in words, without secrets.
    pub message: String,
    /// When the source was first found silent.
    pub since: Timestamp,
}

impl<T> Clone for Observation<T> {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), observed_at: self.observed_at, health: self.health.clone() }
    }
}

impl<T> Default for Observation<T> {
    fn default() -> Self {
        Self { value: None, observed_at: None, health: Health::Connecting }
    }
}

impl<T> Observation<T> {
    /// The observation of a source that is not configured.
    pub fn disabled() -> Self {
        Self { value: None, observed_at: None, health: Health::Disabled }
    }

    /// A value read whole just now.
    pub fn fresh(value: T, now: Timestamp) -> Self {
        Self::of(Arc::new(value), now)
    }

    /// A value read whole just now that is shared with an earlier observation, because it is the same.
    pub fn of(value: Arc<T>, now: Timestamp) -> Self {
        Self { value: Some(value), observed_at: Some(now), health: Health::Connected }
    }

    /// Whether this says nothing that the other did not, but perhaps at another time. Values are compared by identity:
    /// a source that reads the same again shares it.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let same = match (&self.value, &other.value) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        same && self.health == other.health
    }

    /// The same value, and the news that the source has stopped to answer.
    #[must_use]
    pub fn failed(&self, state: SourceState, message: impl Into<String>, now: Timestamp) -> Self {
        let since = match &self.health {
            Health::Failed(earlier) => earlier.since,
            _ => now,
        };
        let health = Health::Failed(Failure { state, message: message.into(), since });
        Self { value: self.value.clone(), observed_at: self.observed_at, health }
    }

    /// This failure with the value of an earlier observation, where it has none of its own.
    #[must_use]
    pub fn or_value_of(self, earlier: &Self) -> Self {
        match self.health {
            Health::Failed(_) if self.value.is_none() => {
                Self { value: earlier.value.clone(), observed_at: earlier.observed_at, health: self.health }
            }
            _ => self,
        }
    }

    /// The observation of the same source when it is read from now on, or not any more.
    #[must_use]
    pub fn expected(&self, read: bool) -> Self {
        match (&self.health, read) {
            (_, false) => Self::disabled(),
            (Health::Disabled, true) => Self::default(),
            (_, true) => self.clone(),
        }
    }

    /// The value, if there was ever one.
    pub fn value(&self) -> Option<&T> {
        self.value.as_deref()
    }

    /// Whether the source answers now.
    pub fn is_connected(&self) -> bool {
        self.health == Health::Connected
    }

    /// The health in the words of the API.
    pub fn state(&self) -> SourceState {
        match &self.health {
            Health::Disabled => SourceState::Disabled,
            Health::Connecting => SourceState::Connecting,
            Health::Connected => SourceState::Connected,
            Health::Failed(failure) => failure.state,
        }
    }

    /// What is wrong, if something is.
    pub fn message(&self) -> Option<&str> {
        match &self.health {
            Health::Failed(failure) => Some(&failure.message),
            _ => None,
        }
    }
}

/// The whole chain of an error on one line, outermost first.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words.push_str(": ");
        words.push_str(&cause.to_string());
        source = cause.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_keeps_the_last_value_and_the_moment_it_began() {
        let first = Timestamp::from_second(100).unwrap();
        let later = Timestamp::from_second(200).unwrap();
        let failed = Observation::fresh(7, first).failed(SourceState::Stale, "no answer", first).failed(
            SourceState::Unreachable,
            "gone",
            later,
        );
        assert_eq!(failed.value(), Some(&7));
        assert_eq!(failed.observed_at, Some(first));
        let Health::Failed(failure) = failed.health else { panic!("not failed") };
        assert_eq!((failure.since, failure.state), (first, SourceState::Unreachable));
    }
}
