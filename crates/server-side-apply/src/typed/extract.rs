//! Takes from an object only what a field set names: what one manager would have to apply to own just what it owns.

use serde_json::{Map as JsonMap, Value};

use super::list_item;
use crate::field_set::{FieldSet, PathElement};
use crate::schema::{List, ListKind, Map, Schema, Shape, Type, shape};

impl Schema {
    /// The part of an object that a field set names. Items of lists of type map keep their key fields; `apiVersion`, `kind`, and the name and
    /// namespace are kept, so that the result can be applied.
    ///
    /// ```
    /// use serde_json::json;
    /// use server_side_apply::{FieldSet, Schema};
    ///
    /// let schema = Schema::new(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
    ///     "mode": {"type": "string"}, "size": {"type": "integer"}}}}}))?;
    /// let object = json!({"kind": "Host", "metadata": {"name": "a", "labels": {"x": "y"}}, "spec": {"mode": "auto", "size": 3}});
    /// let part = schema.extract(&object, &FieldSet::parse(&json!({"f:spec": {"f:size": {}}}))?);
    /// assert_eq!(part, json!({"kind": "Host", "metadata": {"name": "a"}, "spec": {"size": 3}}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn extract(&self, object: &Value, set: &FieldSet) -> Value {
        let identity = FieldSet::of_names(&[
            &["apiVersion"],
            &["kind"],
            &["metadata", "name"],
            &["metadata", "namespace"],
        ]);
        extract(&self.root, object, &set.union(&identity)).unwrap_or_else(|| Value::Object(JsonMap::new()))
    }
}

fn extract(kind: &Type, value: &Value, set: &FieldSet) -> Option<Value> {
    match (shape(kind.atom(), Some(value)), value) {
        (Shape::Map(map), Value::Object(fields)) if !map.atomic => extract_from_map(map, fields, set),
        (Shape::List(list), Value::Array(items)) if list.kind != ListKind::Atomic => {
            extract_from_list(list, items, set)
        }
        // The set reaches below something that is one field: it is that field or nothing.
        _ => None,
    }
}

/// A member that has nothing below it is taken whole, unless what is below is somebody else's.
fn member(kind: &Type, value: &Value) -> Value {
    match (shape(kind.atom(), Some(value)), value) {
        (Shape::Map(map), Value::Object(_)) if !map.atomic => Value::Object(JsonMap::new()),
        (Shape::List(list), Value::Array(_)) if list.kind != ListKind::Atomic => Value::Array(Vec::new()),
        _ => value.clone(),
    }
}

fn taken(kind: &Type, value: &Value, set: &FieldSet, element: &PathElement) -> Option<Value> {
    let below = set.below(element).and_then(|below| extract(kind, value, below));
    below.or_else(|| set.has(element).then(|| member(kind, value)))
}

fn extract_from_map(map: &Map, fields: &JsonMap<String, Value>, set: &FieldSet) -> Option<Value> {
    let mut part = JsonMap::new();
    for (key, value) in fields {
        let Some(kind) = map.kind_of(key) else { continue };
        if let Some(value) = taken(kind, value, set, &PathElement::Field(key.clone())) {
            part.insert(key.clone(), value);
        }
    }
    (!part.is_empty()).then_some(Value::Object(part))
}

fn extract_from_list(list: &List, items: &[Value], set: &FieldSet) -> Option<Value> {
    let mut part = Vec::new();
    for item in items {
        let Ok(element) = list_item::element(list, item) else { continue };
        let Some(mut value) = taken(&list.items, item, set, &element) else { continue };
        if let (ListKind::Map(keys), Some(map)) = (&list.kind, value.as_object_mut()) {
            for key in keys {
                if let Some(value) = item.get(key) {
                    map.insert(key.clone(), value.clone());
                }
            }
        }
        part.push(value);
    }
    (!part.is_empty()).then_some(Value::Array(part))
}
