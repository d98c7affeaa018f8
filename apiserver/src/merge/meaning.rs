//! What counts as a change: an object without its heartbeats, ages and counters.
//!
//! Two objects of equal meaning differ only in what moves all the time. A watcher is not woken for that; whoever asks
//! sees the newest values all the same.

use serde_json::Value;

/// The object without what moves all the time.
pub fn meaning(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(status) = object.get_mut("status").and_then(Value::as_object_mut) {
        for counters in ["metrics", "flowStats"] {
            status.remove(counters);
        }
        strip(status.get_mut("sources"), "observedAt");
        strip(status.get_mut("bridges"), "flows");
        if let Some(service) = status.get_mut("computeService").and_then(Value::as_object_mut) {
            service.remove("updatedAt");
        }
    }
    object
}

fn strip(list: Option<&mut Value>, field: &str) {
    for item in list.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(item) = item.as_object_mut() {
            item.remove(field);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn heartbeats_and_counters_mean_nothing() {
        let at = |age: &str, flows: i64| {
            json!({"status": {"sources": [{"name": "ovsdb", "observedAt": age}], "metrics": {"drops": flows},
                              "flowStats": {"totalFlows": flows}, "bridges": [{"name": "br-int", "flows": flows}]}})
        };
        assert_eq!(meaning(&at("a", 1)), meaning(&at("b", 2)));
    }

    #[test]
    fn everything_else_does() {
        let with = |state: &str| json!({"status": {"sources": [{"name": "ovsdb", "state": state}]}});
        assert_ne!(meaning(&with("Connected")), meaning(&with("Stale")));
    }
}
