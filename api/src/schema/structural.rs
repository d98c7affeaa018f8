//! JSON Schema, as schemars writes it, made into the OpenAPI v3 that a CRD may have.
//!
//! A structural schema has one `type` everywhere, no `$ref`, no `const`, no alternatives of types, and knows no `null`:
//! an optional field is one that is not required. Each step below removes one thing that JSON Schema may say and a CRD
//! may not.

use serde_json::{Map, Value, json};

/// Makes a schema structural, and all the schemas in it.
pub(super) fn make_structural(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        // `true` and `{}` say the same; `false` has no place in our types.
        *schema = json!({});
        return;
    };
    drop_null(object);
    merge_single_alternative(object);
    drop_null(object);
    if let Some(Value::String(description)) = object.get_mut("description") {
        *description = unwrapped(description);
    }
    constants_to_enum(object);
    numbers(object);
    quantity(object);
    object.remove("title");
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = object.get_mut(key).filter(|inner| inner.is_object()) {
            make_structural(inner);
        }
    }
    if object.get("additionalProperties") == Some(&Value::Bool(false)) {
        object.remove("additionalProperties");
    }
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(make_structural);
    }
    sort_required(object);
    // The order of keys is a feature of serde_json that another crate of the build may switch.
    object.sort_keys();
}

/// `type: [T, "null"]`, `enum: [.., null]` and `anyOf: [T, {type: null}]` are how an `Option` is written.
fn drop_null(object: &mut Map<String, Value>) {
    if let Some(types) = object.get_mut("type")
        && let Some(list) = types.as_array()
    {
        let mut others = list.iter().filter(|name| *name != "null");
        if let (Some(only), None) = (others.next().cloned(), others.next()) {
            *types = only;
        }
    }
    if let Some(values) = object.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(alternatives) = object.get_mut(key).and_then(Value::as_array_mut) {
            alternatives.retain(|alternative| alternative.get("type") != Some(&Value::from("null")));
        }
    }
}

/// An alternative of which only one is left is no alternative. The outer description wins: it is about the field.
fn merge_single_alternative(object: &mut Map<String, Value>) {
    for key in ["anyOf", "oneOf", "allOf"] {
        let only = match object.get_mut(key).and_then(Value::as_array_mut) {
            Some(alternatives) if alternatives.len() == 1 => alternatives.pop(),
            _ => None,
        };
        let Some(Value::Object(only)) = only else { continue };
        object.remove(key);
        for (name, value) in only {
            if name == "description" && object.contains_key("description") {
                continue;
            }
            object.insert(name, value);
        }
    }
}

/// An enum whose variants are documented is an alternative of constants (and of plain enums, for those that are not). It
/// becomes an enum of strings whose description lists what each value means.
fn constants_to_enum(object: &mut Map<String, Value>) {
    let Some(variants) = object.get("oneOf").and_then(Value::as_array) else { return };
    let mut values = Vec::new();
    let mut meanings = Vec::new();
    for variant in variants {
        let Some(value) = variant.get("const") else { return };
        values.push(value.clone());
        if let Some(meaning) = variant.get("description").and_then(Value::as_str) {
            let value = value.as_str().filter(|value| !value.is_empty()).unwrap_or("\"\"");
            meanings.push(format!("`{value}`: {}", unwrapped(meaning)));
        }
    }
    object.remove("oneOf");
    object.insert("type".to_owned(), json!("string"));
    object.insert("enum".to_owned(), Value::Array(values));
    if meanings.is_empty() {
        return;
    }
    let meanings = meanings.join("\n");
    let description = match object.get("description").and_then(Value::as_str) {
        Some(description) => with_meanings(description, &meanings),
        None => meanings,
    };
    object.insert("description".to_owned(), description.into());
}

/// The meanings come before the last paragraph when that names the source.
fn with_meanings(description: &str, meanings: &str) -> String {
    match description.rsplit_once("\n\n") {
        Some((before, last)) if super::Origin::in_paragraph(last).is_some() => {
            format!("{before}\n\n{meanings}\n\n{last}")
        }
        _ => format!("{description}\n\n{meanings}"),
    }
}

/// OpenAPI has int32, int64, float and double. An unsigned number is an int64 of at least 0.
fn numbers(object: &mut Map<String, Value>) {
    let Some(format) = object.get("format").and_then(Value::as_str) else { return };
    if format.starts_with("uint") {
        object.insert("format".to_owned(), json!("int64"));
        object.entry("minimum").or_insert(json!(0));
    }
}

/// A quantity is a number or a text; its own description is a page on the syntax of quantities.
fn quantity(object: &mut Map<String, Value>) {
    if object.get("x-kubernetes-int-or-string") != Some(&Value::Bool(true)) {
        return;
    }
    object.remove("type");
    object.insert("anyOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]));
    object.insert("pattern".to_owned(), QUANTITY_PATTERN.into());
    if object
        .get("description")
        .and_then(Value::as_str)
        .is_some_and(|text| text.starts_with("Quantity is a fixed"))
    {
        object.remove("description");
    }
}

const QUANTITY_PATTERN: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Text whose lines are joined again; paragraphs stay.
fn unwrapped(text: &str) -> String {
    text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect::<Vec<_>>().join("\n\n")
}

fn sort_required(object: &mut Map<String, Value>) {
    if let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) {
        required.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    }
}
