//! From a structural OpenAPI v3 schema to merge types.
//!
//! The rules are those kube-apiserver follows for custom resources, also where they surprise: preserving unknown fields holds for
//! everything below, an object without properties keeps anything, a place without a type allows any shape.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Atom, Field, List, ListKind, Map, Scalar, Type, metadata};
use crate::MAX_DEPTH;

/// What is wrong with a schema, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct SchemaError {
    /// The place, as `.spec.taints[]`.
    pub path: String,
    /// What is wrong there.
    pub reason: String,
}

/// The place of a schema inside the whole.
struct Place {
    path: String,
    keep_unknown: bool,
    depth: usize,
}

impl Place {
    fn below(&self, step: &str) -> Self {
        Self { path: format!("{}{step}", self.path), keep_unknown: self.keep_unknown, depth: self.depth + 1 }
    }

    fn error(&self, reason: impl Into<String>) -> SchemaError {
        SchemaError {
            path: if self.path.is_empty() { ".".into() } else { self.path.clone() },
            reason: reason.into(),
        }
    }
}

/// The type of a whole object.
pub(super) fn object(schema: &Value) -> Result<Type, SchemaError> {
    let mut schema = schema.clone();
    let place = Place { path: String::new(), keep_unknown: false, depth: 0 };
    if !schema.is_object() {
        return Err(place.error("a schema must be a JSON object"));
    }
    add_object_properties(&mut schema);
    kind(&schema, &place)
}

/// What every object has, also one that is embedded in another.
fn add_object_properties(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    let Some(properties) = properties.as_object_mut() else { return };
    properties.insert("apiVersion".into(), json!({"type": "string"}));
    properties.insert("kind".into(), json!({"type": "string"}));
    properties.insert("metadata".into(), metadata::object_meta());
}

fn flag(schema: &Value, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn kind(schema: &Value, place: &Place) -> Result<Type, SchemaError> {
    if place.depth > MAX_DEPTH {
        return Err(place.error("nested too deeply"));
    }
    let place = &Place {
        path: place.path.clone(),
        keep_unknown: place.keep_unknown || flag(schema, "x-kubernetes-preserve-unknown-fields"),
        depth: place.depth,
    };
    let embedded;
    let schema = if flag(schema, "x-kubernetes-embedded-resource") && place.depth > 0 {
        let mut with_metadata = schema.clone();
        add_object_properties(&mut with_metadata);
        embedded = with_metadata;
        &embedded
    } else {
        schema
    };
    let atom = match schema.get("type").and_then(Value::as_str).unwrap_or_default() {
        "" => Atom {
            scalar: Some(Scalar::Untyped),
            list: Some(list(schema, place)?),
            map: Some(map(schema, place)?),
        },
        "object" => Atom { map: Some(map(schema, place)?), ..Atom::default() },
        "array" => Atom { list: Some(list(schema, place)?), ..Atom::default() },
        "integer" | "number" => Atom { scalar: Some(Scalar::Numeric), ..Atom::default() },
        "boolean" => Atom { scalar: Some(Scalar::Boolean), ..Atom::default() },
        "string" => {
            let scalar = match schema.get("format").and_then(Value::as_str).unwrap_or_default() {
                "" | "byte" => Scalar::String,
                _ => Scalar::Untyped,
            };
            Atom { scalar: Some(scalar), ..Atom::default() }
        }
        other => return Err(place.error(format!("unknown type {other:?}"))),
    };
    Ok(Type::Given(Box::new(atom)))
}

fn map(schema: &Value, place: &Place) -> Result<Map, SchemaError> {
    let mut fields = BTreeMap::new();
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (name, property) in properties {
            let kind = kind(property, &place.below(&format!(".{name}")))?;
            fields.insert(name.clone(), Field { kind, default: property.get("default").cloned() });
        }
    }
    let others = match schema.get("additionalProperties") {
        None if place.keep_unknown || fields.is_empty() => Some(Type::Deduced),
        None | Some(Value::Bool(false)) => None,
        Some(Value::Bool(true)) => Some(Type::Deduced),
        Some(other) => Some(kind(other, &place.below("{}"))?),
    };
    let atomic = match schema.get("x-kubernetes-map-type").and_then(Value::as_str) {
        None | Some("granular") => false,
        Some("atomic") => true,
        Some(other) => return Err(place.error(format!("unknown map type {other:?}"))),
    };
    Ok(Map { fields, others, atomic })
}

fn list(schema: &Value, place: &Place) -> Result<List, SchemaError> {
    let items = match schema.get("items") {
        Some(items) => kind(items, &place.below("[]"))?,
        None if schema.get("type").is_some() => return Err(place.error("a list needs items")),
        None => Type::Untyped,
    };
    let kind = match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
        None | Some("atomic") => ListKind::Atomic,
        Some("set") => ListKind::Set,
        Some("map") => {
            let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
            let keys: Vec<String> =
                keys.into_iter().flatten().filter_map(|key| key.as_str().map(str::to_owned)).collect();
            if keys.is_empty() {
                return Err(place.error("a list of type map needs x-kubernetes-list-map-keys"));
            }
            ListKind::Map(keys)
        }
        Some(other) => return Err(place.error(format!("unknown list type {other:?}"))),
    };
    Ok(List { items, kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;

    #[test]
    fn a_wrong_schema_says_where() {
        for (schema, path) in [
            (json!({"type": "object", "properties": {"spec": {"type": "strange"}}}), ".spec"),
            (json!({"type": "object", "properties": {"spec": {"type": "array"}}}), ".spec"),
            (
                json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object", "x-kubernetes-map-type": "x"}}}}),
                ".a[]",
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "map"}}}),
                ".a",
            ),
            (json!(7), "."),
        ] {
            assert_eq!(Schema::new(&schema).unwrap_err().path, path, "{schema}");
        }
    }

    #[test]
    fn preserving_unknown_fields_holds_below_too() {
        let schema = Schema::new(&json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}})).unwrap();
        let atom = schema.root.atom();
        let below = atom.map.as_ref().unwrap().kind_of("a").unwrap().atom();
        assert!(below.map.as_ref().unwrap().others.is_some());
    }
}
