//! Decisions that still hold: a bounded memory with a lifetime.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Decision;

/// Remembers decisions by who asked for what.
#[derive(Debug)]
pub(super) struct Decisions<K> {
    allowed_for: Duration,
    denied_for: Duration,
    capacity: usize,
    known: Mutex<HashMap<K, (Decision, Instant)>>,
}

impl<K: Hash + Eq> Decisions<K> {
    pub(super) fn new(allowed_for: Duration, denied_for: Duration, capacity: usize) -> Self {
        Self { allowed_for, denied_for, capacity, known: Mutex::default() }
    }

    pub(super) fn get(&self, key: &K, now: Instant) -> Option<Decision> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).filter(|(_, until)| *until > now).map(|(decision, _)| decision.clone())
    }

    pub(super) fn put(&self, key: K, decision: Decision, now: Instant) {
        let lifetime = match decision {
            Decision::Allowed => self.allowed_for,
            Decision::Denied(_) => self.denied_for,
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= self.capacity {
            known.retain(|_, (_, until)| *until > now);
        }
        if known.len() >= self.capacity {
            // All of them still hold: forgetting them costs a question each, growing would cost memory for ever.
            known.clear();
        }
        known.insert(key, (decision, now + lifetime));
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.known.lock().unwrap().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_holds_for_its_lifetime_only() {
        let decisions = Decisions::new(Duration::from_secs(10), Duration::from_secs(5), 10);
        let start = Instant::now();
        decisions.put("a", Decision::Allowed, start);
        decisions.put("b", Decision::Denied("no".into()), start);
        assert_eq!(decisions.get(&"a", start + Duration::from_secs(9)), Some(Decision::Allowed));
        assert_eq!(decisions.get(&"a", start + Duration::from_secs(10)), None);
        assert!(decisions.get(&"b", start + Duration::from_secs(4)).is_some());
        assert_eq!(decisions.get(&"b", start + Duration::from_secs(5)), None);
    }

    #[test]
    fn the_memory_is_bounded() {
        let decisions = Decisions::new(Duration::from_secs(10), Duration::from_secs(10), 100);
        let now = Instant::now();
        for key in 0..1000 {
            decisions.put(key, Decision::Allowed, now);
            assert!(decisions.len() <= 100);
        }
        assert_eq!(decisions.get(&999, now), Some(Decision::Allowed));
    }
}
