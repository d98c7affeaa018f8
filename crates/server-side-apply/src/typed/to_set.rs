//! The fields an object consists of: what an applier that sent it owns.
//!
//! Leaves, items and empty containers; not the named fields on the way to them. A set or a list of type map without items is nothing at all.

use std::collections::BTreeMap;

use serde_json::Value;

use super::list_item;
use crate::field_set::{FieldSet, PathElement};
use crate::schema::{List, ListKind, Map, Shape, Type, shape};

/// The set of a value.
pub(crate) fn to_set(kind: &Type, value: &Value) -> FieldSet {
    let mut set = FieldSet::new();
    walk(kind, value, &mut Vec::new(), &mut set);
    set
}

fn walk(kind: &Type, value: &Value, path: &mut Vec<PathElement>, set: &mut FieldSet) {
    match shape(kind.atom(), Some(value)) {
        Shape::Nothing => {}
        Shape::Scalar(_) => set.insert(path),
        Shape::Map(map) if map.atomic => set.insert(path),
        Shape::Map(map) => walk_map(map, value, path, set),
        Shape::List(list) if list.kind == ListKind::Atomic => set.insert(path),
        Shape::List(list) => walk_list(list, value, path, set),
    }
}

fn walk_map(map: &Map, value: &Value, path: &mut Vec<PathElement>, set: &mut FieldSet) {
    for (key, value) in value.as_object().into_iter().flatten() {
        path.push(PathElement::Field(key.clone()));
        if let Some(kind) = map.kind_of(key) {
            walk(kind, value, path, set);
        }
        let empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
        if empty || !map.is_named(key) {
            set.insert(path);
        }
        path.pop();
    }
}

fn walk_list(list: &List, value: &Value, path: &mut Vec<PathElement>, set: &mut FieldSet) {
    let mut items: BTreeMap<PathElement, Vec<&Value>> = BTreeMap::new();
    for item in value.as_array().into_iter().flatten() {
        if let Ok(element) = list_item::element(list, item) {
            items.entry(element).or_default().push(item);
        }
    }
    for (element, values) in items {
        path.push(element);
        // Of an item that is there twice nobody can say which fields are meant.
        if let [only] = values.as_slice() {
            walk(&list.items, only, path, set);
        }
        set.insert(path);
        path.pop();
    }
}
