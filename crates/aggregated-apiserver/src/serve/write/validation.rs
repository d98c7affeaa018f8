//! What is wrong with an object by its schema, in the words of kube-apiserver.

use std::collections::HashMap;

use regex::Regex;
use serde_json::{Number, Value};

use super::fields::{child, flag, member, properties};
use crate::status::Cause;

/// A schema that values are checked against.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(super) schema: Value,
    patterns: HashMap<String, Regex>,
}

impl Checked {
    /// Compiles the patterns of a schema.
    pub(crate) fn new(schema: &Value) -> Result<Self, regex::Error> {
        let mut patterns = HashMap::new();
        collect(schema, &mut patterns)?;
        Ok(Self { schema: schema.clone(), patterns })
    }

    /// What is wrong with an object, metadata and status excepted.
    pub(super) fn faults(&self, object: &Value) -> Vec<Cause> {
        let mut faults = Faults { patterns: &self.patterns, causes: Vec::new() };
        faults.members(&self.schema, object, "", &["apiVersion", "kind", "metadata", "status"]);
        faults.causes
    }
}

fn collect(schema: &Value, patterns: &mut HashMap<String, Regex>) -> Result<(), regex::Error> {
    match schema {
        Value::Object(map) => {
            if let Some(pattern) = map.get("pattern").and_then(Value::as_str) {
                patterns.insert(pattern.to_owned(), Regex::new(pattern)?);
            }
            map.values().try_for_each(|value| collect(value, patterns))
        }
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, patterns)),
        _ => Ok(()),
    }
}

struct Faults<'a> {
    patterns: &'a HashMap<String, Regex>,
    causes: Vec<Cause>,
}

impl Faults<'_> {
    fn value(&mut self, schema: &Value, value: &Value, path: &str) {
        if value.is_null() && flag(schema, "nullable") {
            return;
        }
        if let Some(expected) = wrong_type(schema, value) {
            let found = type_name(value);
            let message =
                format!("Invalid value: \"{found}\": {path} in body must be of type {expected}: \"{found}\"");
            self.causes.push(Cause { reason: "FieldValueTypeInvalid", message, field: path.to_owned() });
            self.one_of(schema, value, path);
            return;
        }
        self.one_of(schema, value, path);
        match value {
            Value::Object(_) => self.members(schema, value, path, &[]),
            Value::Array(items) => self.items(schema, items, path),
            Value::String(text) => self.text(schema, text, path),
            Value::Number(number) => self.number(schema, number, path),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn one_of(&mut self, schema: &Value, value: &Value, path: &str) {
        let Some(allowed) = schema.get("enum").and_then(Value::as_array) else { return };
        if !allowed.contains(value) {
            let allowed: Vec<_> = allowed.iter().map(ToString::to_string).collect();
            let message = format!("Unsupported value: {value}: supported values: {}", allowed.join(", "));
            self.causes.push(Cause { reason: "FieldValueNotSupported", message, field: path.to_owned() });
        }
    }

    fn members(&mut self, schema: &Value, object: &Value, path: &str, skipped: &[&str]) {
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if object.get(name).is_none() && !skipped.contains(&name) {
                self.causes.push(Cause::required(&child(path, name), ""));
            }
        }
        for (key, value) in object.as_object().into_iter().flatten() {
            if skipped.contains(&key.as_str()) {
                continue;
            }
            if let Some(member) = member(schema, key) {
                let named = properties(schema).is_some_and(|properties| properties.contains_key(key));
                let path = if named { child(path, key) } else { format!("{path}.{key}") };
                self.value(member, value, &path);
            }
        }
    }

    fn items(&mut self, schema: &Value, items: &[Value], path: &str) {
        let count = items.len() as u64;
        if let Some(least) = bound(schema, "minItems").filter(|least| count < *least) {
            let message = format!("{path} in body should have at least {least} items");
            self.causes.push(Cause::invalid(path, count, &message));
        }
        if let Some(most) = bound(schema, "maxItems").filter(|most| count > *most) {
            let message = format!("Too many: {count}: must have at most {most} items");
            self.causes.push(Cause { reason: "FieldValueTooMany", message, field: path.to_owned() });
        }
        self.duplicates(schema, items, path);
        if let Some(schema) = schema.get("items") {
            for (index, item) in items.iter().enumerate() {
                self.value(schema, item, &format!("{path}[{index}]"));
            }
        }
    }

    fn duplicates(&mut self, schema: &Value, items: &[Value], path: &str) {
        let identity = |item: &Value| match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
            Some("set") => Some(item.clone()),
            Some("map") => {
                let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array)?;
                let keys = keys.iter().filter_map(Value::as_str);
                Some(keys.filter_map(|key| Some((key.to_owned(), item.get(key)?.clone()))).collect())
            }
            _ => None,
        };
        let identities: Vec<_> = items.iter().map(identity).collect();
        for (index, identity) in identities.iter().enumerate() {
            if let Some(found) = identity
                && identities.iter().take(index).any(|earlier| earlier == identity)
            {
                self.causes.push(Cause::duplicate(&format!("{path}[{index}]"), found.clone()));
            }
        }
    }

    fn text(&mut self, schema: &Value, text: &str, path: &str) {
        let length = text.chars().count() as u64;
        if let Some(least) = bound(schema, "minLength").filter(|least| length < *least) {
            let message = format!("{path} in body should be at least {least} chars long");
            self.causes.push(Cause::invalid(path, text, &message));
        }
        if let Some(most) = bound(schema, "maxLength").filter(|most| length > *most) {
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            self.causes.push(Cause::too_long(path, most));
        }
        let pattern = schema.get("pattern").and_then(Value::as_str);
        if let Some((pattern, regex)) = pattern.and_then(|pattern| self.patterns.get_key_value(pattern))
            && !regex.is_match(text)
        {
            let message = format!("{path} in body should match '{pattern}'");
            self.causes.push(Cause::invalid(path, text, &message));
        }
        let format = schema.get("format").and_then(Value::as_str);
        let fits = match format {
            Some("date-time") => text.parse::<jiff::Timestamp>().is_ok(),
            Some("uuid") => uuid::Uuid::try_parse(text).is_ok(),
            _ => true,
        };
        if let (Some(format), false) = (format, fits) {
            let message = format!("{path} in body must be of type {format}: {}", Value::from(text));
            self.causes.push(Cause::invalid(path, text, &message));
        }
    }

    fn number(&mut self, schema: &Value, number: &Number, path: &str) {
        let Some(found) = number.as_f64() else { return };
        let least = schema.get("minimum").and_then(Value::as_f64);
        if let Some(least) = least.filter(|least| found < *least) {
            let message = format!("{path} in body should be greater than or equal to {least}");
            self.causes.push(Cause::invalid(path, number.clone(), &message));
        }
        let most = schema.get("maximum").and_then(Value::as_f64);
        if let Some(most) = most.filter(|most| found > *most) {
            let message = format!("{path} in body should be less than or equal to {most}");
            self.causes.push(Cause::invalid(path, number.clone(), &message));
        }
        if schema.get("format") == Some(&Value::from("int32"))
            && number.as_i64().is_none_or(|number| i32::try_from(number).is_err())
        {
            let message = format!("{path} in body must be of type int32: \"{number}\"");
            self.causes.push(Cause::invalid(path, number.clone(), &message));
        }
    }
}

fn bound(schema: &Value, name: &str) -> Option<u64> {
    schema.get(name).and_then(Value::as_u64)
}

/// The type that is expected and not there.
fn wrong_type<'a>(schema: &'a Value, value: &Value) -> Option<&'a str> {
    if flag(schema, "x-kubernetes-int-or-string") {
        let fits = value.is_string() || value.as_i64().is_some() || value.as_u64().is_some();
        return (!fits).then_some("integer,string");
    }
    let expected = schema.get("type").and_then(Value::as_str)?;
    let found = type_name(value);
    let fits = found == expected || (expected == "number" && found == "integer");
    (!fits).then_some(expected)
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_f64().is_none_or(|number| number.fract() != 0.0) => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "the calls are easier to read")]
    fn said(spec: Value) -> Vec<String> {
        let schema = json!({"type": "object", "required": ["spec", "status"], "properties": {"spec": {
            "type": "object", "required": ["name"], "properties": {
                "name": {"type": "string", "minLength": 1, "maxLength": 5},
                "mode": {"type": "string", "enum": ["auto", "ha"]},
                "on": {"type": "boolean"},
                "count": {"type": "integer", "minimum": 0, "maximum": 9, "format": "int32"},
                "ratio": {"type": "number"},
                "note": {"type": "string", "nullable": true},
                "id": {"type": "string", "pattern": "^[0-9a-f]+$"},
                "at": {"type": "string", "format": "date-time"},
                "size": {"x-kubernetes-int-or-string": true},
                "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "maxItems": 3},
                "map": {"type": "array", "minItems": 1, "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["type"], "items": {"type": "object", "properties": {}}},
                "free": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
        }}});
        let object = if spec.is_null() { json!({}) } else { json!({"spec": spec}) };
        let faults = Checked::new(&schema).unwrap().faults(&object);
        faults.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect()
    }

    #[test]
    fn each_fault_reads_as_in_kube_apiserver() {
        for (spec, expected) in [
            (Value::Null, "spec: Required value"),
            (json!("x"), "spec: Invalid value: \"string\": spec in body must be of type object: \"string\""),
            (json!({}), "spec.name: Required value"),
            (
                json!({"name": ""}),
                "spec.name: Invalid value: \"\": spec.name in body should be at least 1 chars long",
            ),
            (json!({"name": "abcdef"}), "spec.name: Too long: may not be more than 5 bytes"),
            (
                json!({"name": "a", "mode": "x"}),
                "spec.mode: Unsupported value: \"x\": supported values: \"auto\", \"ha\"",
            ),
            (
                json!({"name": "a", "on": "no"}),
                "spec.on: Invalid value: \"string\": spec.on in body must be of type boolean: \"string\"",
            ),
            (
                json!({"name": "a", "on": null}),
                "spec.on: Invalid value: \"null\": spec.on in body must be of type boolean: \"null\"",
            ),
            (
                json!({"name": "a", "count": -1}),
                "spec.count: Invalid value: -1: spec.count in body should be greater than or equal to 0",
            ),
            (
                json!({"name": "a", "count": 1.5}),
                "spec.count: Invalid value: \"number\": spec.count in body must be of type integer: \"number\"",
            ),
            (
                json!({"name": "a", "id": "x"}),
                "spec.id: Invalid value: \"x\": spec.id in body should match '^[0-9a-f]+$'",
            ),
            (
                json!({"name": "a", "at": "x"}),
                "spec.at: Invalid value: \"x\": spec.at in body must be of type date-time: \"x\"",
            ),
            (json!({"name": "a", "set": ["x", "y", "x"]}), "spec.set[2]: Duplicate value: \"x\""),
            (
                json!({"name": "a", "set": ["x", "y", "z", "w"]}),
                "spec.set: Too many: 4: must have at most 3 items",
            ),
            (
                json!({"name": "a", "map": []}),
                "spec.map: Invalid value: 0: spec.map in body should have at least 1 items",
            ),
            (
                json!({"name": "a", "map": [{"type": 1}, {"type": 1}]}),
                "spec.map[1]: Duplicate value: {\"type\":1}",
            ),
            (
                json!({"name": "a", "free": {"x": "y"}}),
                "spec.free.x: Invalid value: \"string\": spec.free.x in body must be of type integer: \"string\"",
            ),
        ] {
            assert_eq!(said(spec), [expected]);
        }
        assert_eq!(said(json!({"name": "a", "mode": 5})).len(), 2, "the type and the values");
    }

    #[test]
    fn what_is_good_passes() {
        let spec = json!({
            "name": "a", "mode": "ha", "on": true, "count": 3, "ratio": 2, "note": null, "id": "af", "size": "1Gi",
            "at": "2026-01-01T00:00:00Z", "set": ["x"], "map": [{"type": 1}, {"type": 2}], "free": {"x": 1},
        });
        assert_eq!(said(spec), [""; 0]);
    }
}
