//! Answers that still hold: a bounded memory, each entry with its own lifetime.
//!
//! What other servers said (who somebody is, whether they may) is asked for once in a while, not for every request.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Remembers answers by their question.
#[derive(Debug)]
pub(crate) struct Recall<K, V> {
    capacity: usize,
    known: Mutex<HashMap<K, (V, Instant)>>,
}

impl<K: Hash + Eq, V: Clone> Recall<K, V> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, known: Mutex::default() }
    }

    pub(crate) fn get(&self, key: &K, now: Instant) -> Option<V> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).filter(|(_, until)| *until > now).map(|(value, _)| value.clone())
    }

    pub(crate) fn put(&self, key: K, value: V, lifetime: Duration, now: Instant) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= self.capacity {
            known.retain(|_, (_, until)| *until > now);
        }
        if known.len() >= self.capacity {
            // All of them still hold: forgetting them costs a question each, growing would cost memory for ever.
            known.clear();
        }
        known.insert(key, (value, now + lifetime));
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
    fn an_answer_holds_for_its_lifetime_only() {
        let answers = Recall::new(10);
        let start = Instant::now();
        answers.put("a", 1, Duration::from_secs(10), start);
        answers.put("b", 2, Duration::from_secs(5), start);
        assert_eq!(answers.get(&"a", start + Duration::from_secs(9)), Some(1));
        assert_eq!(answers.get(&"a", start + Duration::from_secs(10)), None);
        assert_eq!(answers.get(&"b", start + Duration::from_secs(4)), Some(2));
        assert_eq!(answers.get(&"b", start + Duration::from_secs(5)), None);
    }

    // covers: C19
    #[test]
    fn the_memory_is_bounded() {
        let answers = Recall::new(100);
        let now = Instant::now();
        for key in 0..1000 {
            answers.put(key, key, Duration::from_secs(10), now);
            assert!(answers.len() <= 100);
        }
        assert_eq!(answers.get(&999, now), Some(999));
    }
}
