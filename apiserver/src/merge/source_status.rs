//! `status.sources[]` and the conditions that repeat them: how well each source can be heard.

use c5c3_api::{Condition, SourceState, SourceStatus};
use jiff::Timestamp;

use super::identity::time;
use crate::sources::observation::Observation;

/// How well a source can be heard.
pub fn source<T>(name: &str, observation: &Observation<T>) -> SourceStatus {
    SourceStatus {
        name: name.to_owned(),
        state: observation.state(),
        observed_at: observation.observed_at.map(time),
        message: observation.message().map(str::to_owned),
    }
}

/// The same as a condition.
pub(super) fn condition<T>(type_: &str, observation: &Observation<T>, now: Timestamp) -> Condition {
    let state = observation.state();
    let message = match (observation.message(), state) {
        (Some(message), _) => message.to_owned(),
        (None, SourceState::Disabled) => "not configured".to_owned(),
        (None, SourceState::Connecting) => "the first connection is being made".to_owned(),
        (None, _) => String::new(),
    };
    Condition::new(type_, state.condition(), state.as_str(), message, time(now))
}

/// Gives conditions the transition times of the earlier object where their status did not change, and the generation.
pub(super) fn settle(
    earlier: &[Condition],
    mut conditions: Vec<Condition>,
    generation: Option<i64>,
) -> Vec<Condition> {
    for condition in &mut conditions {
        if let Some(before) = Condition::find(earlier, &condition.type_)
            && before.status == condition.status
        {
            condition.last_transition_time = before.last_transition_time.clone();
        }
        condition.observed_generation = generation;
    }
    conditions
}
