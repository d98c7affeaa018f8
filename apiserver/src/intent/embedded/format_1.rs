//! Format 1, which stored a wish and its numbers side by side, as objects.
//!
//! Identities stay what they were shown as: format 1 derived an object's UID from the record's, so the derived one is
//! what is stored now. A generation was counted from the one that nobody had touched.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::super::{IntentError, IntentKey, IntentRecord, StoreVersion};
use crate::merge::uid;

#[derive(Deserialize)]
struct Old {
    key: IntentKey,
    uid: Uuid,
    created: Timestamp,
    generation: i64,
    version: u64,
    wish: Wish,
}

#[derive(Deserialize)]
struct Wish {
    spec: Value,
    #[serde(default)]
    labels: Map<String, Value>,
    #[serde(default)]
    annotations: Map<String, Value>,
}

/// The same records in the format of today, under the same keys.
pub(super) fn migrated(
    old: &BTreeMap<String, Vec<u8>>,
) -> Result<BTreeMap<String, IntentRecord>, IntentError> {
    let mut records = BTreeMap::new();
    for (key, bytes) in old {
        let record: Old = serde_json::from_slice(bytes)
            .map_err(|source| IntentError::Record { key: key.clone(), source })?;
        records.insert(key.clone(), record);
    }
    let incarnation = |record: &Old| {
        let configured = format!("Host/{}/{}", record.key.namespace, record.key.name);
        records.get(&configured).map_or(record.uid, |host| host.uid).to_string()
    };
    Ok(records.iter().map(|(key, record)| (key.clone(), renewed(record, &incarnation(record)))).collect())
}

fn renewed(old: &Old, incarnation: &str) -> IntentRecord {
    const GROUP: &str = "hypervisor.c5c3.io";
    let IntentKey { kind, namespace, name } = &old.key;
    let (shown, generation) = match kind.as_str() {
        "Hypervisor" => (uid(GROUP, kind, namespace, name, incarnation), old.generation + 1),
        "Host" => (old.uid.to_string(), old.generation),
        _ => (uid(GROUP, kind, namespace, name, &old.uid.to_string()), old.generation),
    };
    let created = Timestamp::from_second(old.created.as_second()).unwrap_or(old.created);
    let mut metadata = json!({
        "name": name, "uid": shown, "creationTimestamp": created.to_string(), "generation": generation,
    });
    for (field, map) in [("labels", &old.wish.labels), ("annotations", &old.wish.annotations)] {
        if let (Some(metadata), false) = (metadata.as_object_mut(), map.is_empty()) {
            metadata.insert(field.to_owned(), Value::Object(map.clone()));
        }
    }
    let object = match &old.wish.spec {
        Value::Null => json!({ "metadata": metadata }),
        spec => json!({ "metadata": metadata, "spec": spec }),
    };
    IntentRecord { key: old.key.clone(), version: StoreVersion::of(old.version), object }
}
