//! Does a value fit its type: shapes, known fields, keys and duplicates of lists.
//!
//! This is less than validation: ranges, enumerations and required fields are not looked at. It is what must hold for a merge to mean
//! anything, and it puts an end to the depth of what comes from outside. Messages are those of kube-apiserver.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::list_item;
use crate::MAX_DEPTH;
use crate::field_set::PathElement;
use crate::json::go_text;
use crate::schema::{List, ListKind, Map, Scalar, Schema, Shape, Type, shape};

/// One thing that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeError {
    /// Where, as `.spec.taints`; empty for the object itself.
    pub path: String,
    /// What is wrong there.
    pub reason: String,
}

/// All that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeErrors(pub Vec<TypeError>);

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.reason)
        } else {
            write!(f, "{}: {}", self.path, self.reason)
        }
    }
}

impl fmt::Display for TypeErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            return only.fmt(f);
        }
        f.write_str("errors:")?;
        self.0.iter().try_for_each(|error| write!(f, "\n  {error}"))
    }
}

impl std::error::Error for TypeErrors {}

/// Checks a whole object. `duplicates`: whether a set or a list of type map may hold an item twice, as an object may that was stored by an update.
pub(crate) fn check(schema: &Schema, object: &Value, duplicates: bool) -> Result<(), TypeErrors> {
    let mut walk = Walk { duplicates, path: Vec::new(), errors: Vec::new() };
    walk.value(&schema.root, object);
    if walk.errors.is_empty() { Ok(()) } else { Err(TypeErrors(walk.errors)) }
}

struct Walk {
    duplicates: bool,
    path: Vec<PathElement>,
    errors: Vec<TypeError>,
}

impl Walk {
    fn error(&mut self, reason: impl Into<String>) {
        let path = crate::field_set::path_text(&self.path);
        self.errors.push(TypeError { path, reason: reason.into() });
    }

    fn below(&mut self, element: PathElement, kind: &Type, value: &Value) {
        self.path.push(element);
        self.value(kind, value);
        self.path.pop();
    }

    fn value(&mut self, kind: &Type, value: &Value) {
        if self.path.len() > MAX_DEPTH {
            return self.error(format!("nested deeper than {MAX_DEPTH} levels"));
        }
        match shape(kind.atom(), Some(value)) {
            Shape::Nothing => self.error("schema error: invalid atom: inlined"),
            Shape::Scalar(scalar) => {
                if let Some(reason) = scalar_error(scalar, value) {
                    self.error(reason);
                }
            }
            Shape::List(list) => match value {
                Value::Null => {}
                Value::Array(items) => self.list(list, items),
                other => self.error(format!("expected list, got &{{{}}}", go_text::plain(other))),
            },
            Shape::Map(map) => match value {
                Value::Null => {}
                Value::Object(fields) => self.map(map, fields),
                other => self.error(format!("expected map, got &{{{}}}", go_text::plain(other))),
            },
        }
    }

    fn map(&mut self, map: &Map, fields: &serde_json::Map<String, Value>) {
        for (key, value) in fields {
            let element = PathElement::Field(key.clone());
            let Some(kind) = map.kind_of(key) else {
                self.path.push(element);
                self.error("field not declared in schema");
                self.path.pop();
                return;
            };
            self.below(element, kind, value);
        }
    }

    fn list(&mut self, list: &List, items: &[Value]) {
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            if list.kind == ListKind::Atomic {
                self.below(PathElement::Index(i64::try_from(index).unwrap_or(i64::MAX)), &list.items, item);
                continue;
            }
            let element = match list_item::element(list, item) {
                Ok(element) => element,
                Err(reason) => return self.error(format!("element {index}: {reason}")),
            };
            if !seen.insert(element.clone()) && !self.duplicates {
                self.error(format!("duplicate entries for key {element}"));
            }
            self.below(element, &list.items, item);
        }
    }
}

fn scalar_error(scalar: Scalar, value: &Value) -> Option<String> {
    if value.is_null() {
        return None;
    }
    match scalar {
        Scalar::Numeric if !value.is_number() => {
            Some(format!("expected numeric (int or float), got {}", go_text::type_name(value)))
        }
        Scalar::String if !value.is_string() => Some(format!(
            "expected string, got &value.valueUnstructured{{Value:{}}}",
            go_text::detailed(value)
        )),
        Scalar::Boolean if !value.is_boolean() => {
            Some(format!("expected boolean, got &{{{}}}", go_text::plain(value)))
        }
        Scalar::Untyped if value.is_array() || value.is_object() => {
            Some(format!("expected any scalar, got &{{{}}}", go_text::plain(value)))
        }
        _ => None,
    }
}
