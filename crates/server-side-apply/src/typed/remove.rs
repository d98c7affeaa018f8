//! Takes a field set out of an object.
//!
//! A container whose contents were taken stays, empty: only what is itself a member of the set goes. Nothing below an atomic field
//! is touched.

use serde_json::{Map as JsonMap, Value};

use super::list_item;
use crate::field_set::{FieldSet, PathElement};
use crate::schema::{List, ListKind, Map, Shape, Type, shape};

/// The object without the members of the set.
pub(crate) fn remove(kind: &Type, value: &Value, set: &FieldSet) -> Value {
    match (shape(kind.atom(), Some(value)), value) {
        (Shape::Map(map), Value::Object(fields)) if !map.atomic => remove_from_map(map, fields, set),
        (Shape::List(list), Value::Array(items)) if list.kind != ListKind::Atomic => {
            remove_from_list(list, items, set)
        }
        _ => value.clone(),
    }
}

fn remove_from_map(map: &Map, fields: &JsonMap<String, Value>, set: &FieldSet) -> Value {
    let mut left = JsonMap::new();
    for (key, value) in fields {
        let element = PathElement::Field(key.clone());
        if set.has(&element) {
            continue;
        }
        let value = match (set.below(&element), map.kind_of(key)) {
            (Some(below), Some(kind)) => remove(kind, value, below),
            _ => value.clone(),
        };
        left.insert(key.clone(), value);
    }
    Value::Object(left)
}

fn remove_from_list(list: &List, items: &[Value], set: &FieldSet) -> Value {
    let mut left = Vec::with_capacity(items.len());
    for item in items {
        let Ok(element) = list_item::element(list, item) else {
            left.push(item.clone());
            continue;
        };
        if set.has(&element) {
            continue;
        }
        left.push(match set.below(&element) {
            Some(below) => remove(&list.items, item, below),
            None => item.clone(),
        });
    }
    Value::Array(left)
}
