//! What counts as a change: an object without its heartbeats, ages and counters.
//!
//! Two objects of equal meaning differ only in what moves all the time. A watcher is not woken for that; whoever asks
//! sees the newest values all the same. Objects are compared by digest, so that nobody has to keep the earlier one.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::mem::discriminant;

use serde_json::Value;

/// A place in an object; `*` is every item of a list.
type Place = &'static [&'static str];

/// What moves although nothing happens.
const AGES: &[Place] = &[&["status", "sources", "*", "observedAt"]];

/// What moves all the time because something happens.
const COUNTERS: &[Place] =
    &[&["status", "metrics"], &["status", "flowStats"], &["status", "bridges", "*", "flows"]];

/// Digests of one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digests {
    /// Of its meaning: without ages and counters.
    pub meaning: u64,
    /// Of its meaning and counters: without ages.
    pub counters: u64,
}

impl Digests {
    /// The digests of an object.
    pub fn of(object: &Value) -> Self {
        let without = |places: &[&[Place]]| {
            let places: Vec<&[&str]> = places.iter().flat_map(|list| list.iter().copied()).collect();
            let mut hasher = DefaultHasher::new();
            hash_without(object, &places, &mut hasher);
            hasher.finish()
        };
        Self { meaning: without(&[AGES, COUNTERS]), counters: without(&[AGES]) }
    }
}

/// Hashes a value but what is in those places, which are told from here.
fn hash_without(value: &Value, places: &[&[&str]], hasher: &mut DefaultHasher) {
    match value {
        Value::Object(fields) if !places.is_empty() => {
            discriminant(value).hash(hasher);
            for (field, value) in fields {
                let below = below(places, field);
                if below.iter().any(|place| place.is_empty()) {
                    continue;
                }
                field.hash(hasher);
                hash_without(value, &below, hasher);
            }
        }
        Value::Array(items) if !places.is_empty() => {
            let below = below(places, "*");
            discriminant(value).hash(hasher);
            items.len().hash(hasher);
            for item in items {
                hash_without(item, &below, hasher);
            }
        }
        other => other.hash(hasher),
    }
}

fn below<'a>(places: &[&'a [&'a str]], field: &str) -> Vec<&'a [&'a str]> {
    let split = places.iter().filter_map(|place| place.split_first());
    split.filter(|(first, _)| **first == field).map(|(_, rest)| rest).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(age: &str, flows: i64) -> Value {
        json!({"metadata": {"name": "a"}, "status": {
            "sources": [{"name": "ovsdb", "observedAt": age, "state": "Connected"}],
            "metrics": {"drops": flows}, "flowStats": {"totalFlows": flows},
            "bridges": [{"name": "br-int", "flows": flows, "ports": 3}],
        }})
    }

    #[test]
    fn ages_mean_nothing_and_counters_only_count() {
        let first = Digests::of(&node("a", 1));
        assert_eq!(Digests::of(&node("b", 1)), first);
        let counted = Digests::of(&node("b", 2));
        assert_eq!(counted.meaning, first.meaning);
        assert_ne!(counted.counters, first.counters);
    }

    #[test]
    fn everything_else_means_something() {
        let first = Digests::of(&node("a", 1));
        let places = [
            "/metadata/name",
            "/status/sources/0/state",
            "/status/sources/0/name",
            "/status/bridges/0/ports",
        ];
        for place in places {
            let mut other = node("a", 1);
            *other.pointer_mut(place).unwrap() = json!("other");
            assert_ne!(Digests::of(&other).meaning, first.meaning, "{place}");
        }
        let mut shorter = node("a", 1);
        shorter["status"]["bridges"] = json!([]);
        assert_ne!(Digests::of(&shorter).meaning, first.meaning);
        let mut nothing = node("a", 1);
        nothing["status"]["bridges"] = Value::Null;
        assert_ne!(Digests::of(&nothing).meaning, Digests::of(&shorter).meaning);
    }
}
