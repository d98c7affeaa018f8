//! The hypervisors of the comparison: the example of the kind with twenty instances, under other names.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// Marks when an object was changed, in microseconds since 1970.
pub(crate) const CHANGED: &str = "bench/changed-at";

pub(crate) fn name(number: usize) -> String {
    format!("host-{number:05}")
}

/// An object, with the moment of its change.
pub(crate) fn hypervisor(number: usize) -> Value {
    let mut object: Value = serde_saphyr::from_str(c5c3_api::hypervisor::KIND.example).unwrap();
    let instances: Vec<_> = (0..20)
        .map(|instance| {
            let id =
                uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, format!("{number}/{instance}").as_bytes());
            json!({"id": id, "name": format!("instance-{:08x}", number * 20 + instance), "active": true})
        })
        .collect();
    object["status"]["instances"] = json!(instances);
    object["status"]["numInstances"] = json!(20);
    let labels = object["metadata"]["labels"].clone();
    object["metadata"] =
        json!({"name": name(number), "labels": labels, "annotations": {CHANGED: now().to_string()}});
    object
}

pub(crate) fn now() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap()
}
