//! What tells one item of a list from another.

use serde_json::Value;

use crate::field_set::PathElement;
use crate::schema::{List, ListKind, Type};

/// The path element of an item of a set or a list of type map.
///
/// A key field that is missing takes its default; if it has none it stays out, and that too is an identity.
pub(crate) fn element(list: &List, item: &Value) -> Result<PathElement, String> {
    match &list.kind {
        ListKind::Atomic => Err("invalid indexing of non-associative list".into()),
        ListKind::Set => match item {
            Value::Object(_) => Err("associative list without keys has an element that's a map type".into()),
            Value::Array(_) => Err("not supported: associative list with lists as elements".into()),
            Value::Null => Err("associative list without keys has an element that's an explicit null".into()),
            scalar => Ok(PathElement::Value(scalar.clone())),
        },
        ListKind::Map(keys) => keyed(keys, &list.items, item),
    }
}

fn keyed(keys: &[String], items: &Type, item: &Value) -> Result<PathElement, String> {
    let map = match item {
        Value::Null => return Err("associative list with keys may not have a null element".into()),
        Value::Object(map) => map,
        _ => return Err("associative list with keys may not have non-map elements".into()),
    };
    let default = |key: &String| items.atom().map.as_ref()?.fields.get(key)?.default.as_ref();
    let mut fields: Vec<(String, Value)> = keys
        .iter()
        .filter_map(|key| map.get(key).or_else(|| default(key)).map(|value| (key.clone(), value.clone())))
        .collect();
    if fields.is_empty() {
        let keys: Vec<_> = keys.iter().map(|key| crate::json::go_text::quoted(key)).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
            keys.join(" ")
        ));
    }
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(PathElement::Key(fields))
}
