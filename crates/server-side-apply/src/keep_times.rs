//! A write that would change nothing but when somebody last wrote is no write.

use serde_json::Value;

use crate::managed_fields;

/// If two objects differ only in times of `managedFields`, gives the new one the old times; then it equals the live one and need not be stored.
///
/// To be called with the object as it would be stored, but before its resourceVersion changes.
pub fn keep_times(live: &Value, new: &mut Value) {
    let (Some(Value::Array(old)), Some(Value::Array(given))) =
        (managed_fields::of(live), managed_fields::of(new))
    else {
        return;
    };
    let same = |a: &Value, b: &Value| without_time(a) == without_time(b);
    if old.len() != given.len() || !old.iter().zip(given).all(|(a, b)| same(a, b)) {
        return;
    }
    if managed_fields::without(live) == managed_fields::without(new) {
        new.clone_from(live);
    }
}

fn without_time(entry: &Value) -> Value {
    let mut entry = entry.clone();
    if let Some(entry) = entry.as_object_mut() {
        entry.remove("time");
    }
    entry
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(time: &str, mode: &str) -> Value {
        json!({"metadata": {"managedFields": [{"manager": "a", "operation": "Apply", "time": time}]}, "spec": {"mode": mode}})
    }

    #[test]
    fn only_a_time_is_nothing() {
        let live = object("2026-01-01T00:00:00Z", "auto");
        let mut new = object("2026-01-02T00:00:00Z", "auto");
        keep_times(&live, &mut new);
        assert_eq!(new, live);
        let mut new = object("2026-01-02T00:00:00Z", "ha");
        keep_times(&live, &mut new);
        assert_eq!(new, object("2026-01-02T00:00:00Z", "ha"));
    }
}
