//! The fields of a schema as a flat list, the way a person looks for them: by their path.

use serde_json::Value;

/// A field.
pub(super) struct Field {
    pub(super) path: String,
    pub(super) type_: String,
    pub(super) default: Option<String>,
    pub(super) description: String,
    pub(super) is_required: bool,
}

/// The fields of `spec` or `status`, each before the fields in it.
pub(super) fn of(schema: &Value, part: &str) -> Vec<Field> {
    let mut fields = Vec::new();
    if let Some(part_schema) = schema.pointer(&format!("/properties/{part}")) {
        walk(part_schema, part, &mut fields);
    }
    fields
}

fn walk(schema: &Value, path: &str, fields: &mut Vec<Field>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, property) in properties {
        let path = format!("{path}.{name}");
        fields.push(Field {
            path: path.clone(),
            type_: type_of(property),
            default: property.get("default").map(ToString::to_string),
            description: text(property, "description").to_owned(),
            is_required: is_required(schema, name),
        });
        walk(property, &path, fields);
        if let Some(items) = property.get("items") {
            walk(items, &format!("{path}[]"), fields);
        }
    }
}

/// The rules that the schema states beyond types: where, and in words.
pub(super) fn rules(schema: &Value) -> Vec<(String, String)> {
    let mut rules = Vec::new();
    collect_rules(schema, "", &mut rules);
    rules
}

fn collect_rules(schema: &Value, path: &str, rules: &mut Vec<(String, String)>) {
    // What a source may say is not a rule for people.
    if path == "status" {
        return;
    }
    for rule in schema.get("x-kubernetes-validations").and_then(Value::as_array).into_iter().flatten() {
        rules.push((path.to_owned(), format!("{} (`{}`)", text(rule, "message"), text(rule, "rule"))));
    }
    if let Some(length) = schema.get("minLength") {
        rules.push((path.to_owned(), format!("at least {length} character(s)")));
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        rules.push((path.to_owned(), format!("matches `{pattern}`")));
    }
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        collect_rules(property, &path, rules);
    }
    if let Some(items) = schema.get("items") {
        collect_rules(items, &format!("{path}[]"), rules);
    }
}

fn type_of(schema: &Value) -> String {
    if schema.get("x-kubernetes-int-or-string").is_some() {
        return "quantity".to_owned();
    }
    if let Some(items) = schema.get("items") {
        let keys: Vec<&str> = schema
            .get("x-kubernetes-list-map-keys")
            .and_then(Value::as_array)
            .map(|keys| keys.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let by = if keys.is_empty() { String::new() } else { format!(" by {}", keys.join(", ")) };
        return format!("list of {}{by}", type_of(items));
    }
    if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
        return format!("map of {}", type_of(values));
    }
    if schema.get("enum").is_some() {
        return "enum".to_owned();
    }
    match schema.get("format").and_then(Value::as_str) {
        Some(format) => format.to_owned(),
        None => text(schema, "type").to_owned(),
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|listed| listed == name))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
