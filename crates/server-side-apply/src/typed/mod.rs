//! Walks over values beside their types.
//!
//! Each file is one walk. All but [`check`] expect values that have been checked: then the shapes fit, keys can be formed, and the depth has an end.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod extract;
pub(crate) mod list_item;
pub(crate) mod merge;
pub(crate) mod named;
pub(crate) mod reconcile;
pub(crate) mod remove;
pub(crate) mod to_set;

use serde_json::{Map, Value};

pub(crate) fn as_map(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}

pub(crate) fn as_list(value: Option<&Value>) -> Option<&Vec<Value>> {
    value.and_then(Value::as_array)
}

/// The keys of two maps, each once: those of the first in its order, then what only the second has.
pub(crate) fn all_keys<'a>(
    left: Option<&'a Map<String, Value>>,
    right: Option<&'a Map<String, Value>>,
) -> Vec<&'a String> {
    let mut keys: Vec<&String> = left.into_iter().flat_map(Map::keys).collect();
    keys.extend(
        right.into_iter().flat_map(Map::keys).filter(|key| !left.is_some_and(|left| left.contains_key(*key))),
    );
    keys
}
