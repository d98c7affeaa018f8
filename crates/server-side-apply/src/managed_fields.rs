//! Where `managedFields` stands in an object, and how it comes and goes.

use serde_json::{Map, Value};

use crate::managers::Managers;
pub(crate) use crate::managers::is_reset;

pub(crate) fn of(object: &Value) -> Option<&Value> {
    object.get("metadata")?.get("managedFields")
}

pub(crate) fn without(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}

/// An object of the same kind with nothing in it.
pub(crate) fn empty_like(object: &Value) -> Value {
    let mut empty = Map::new();
    for field in ["apiVersion", "kind"] {
        if let Some(value) = object.get(field) {
            empty.insert(field.into(), value.clone());
        }
    }
    Value::Object(empty)
}

/// Puts the entries into an object that has none. Where one of the earlier objects has entries that say the same, they are taken as they stand there, so
/// that no change of meaning is no change of bytes.
pub(crate) fn put(object: &mut Value, managers: &Managers, earlier: &[Option<&Value>]) {
    if managers.is_empty() {
        return;
    }
    let same = |fields: &&Value| Managers::decode(Some(fields)).is_ok_and(|earlier| earlier == *managers);
    let earlier = earlier.iter().copied().flatten().filter_map(of).find(same);
    let fields = earlier.cloned().unwrap_or_else(|| Value::Array(managers.encode()));
    let Some(object) = object.as_object_mut() else { return };
    let metadata = object.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert("managedFields".into(), fields);
    }
}
