//! The walk over value and schema side by side.

use serde_json::{Map, Value};

use super::{Problem, Schema, Violation};

pub(super) struct Checker<'schema, 'violations> {
    pub(super) schema: &'schema Schema,
    pub(super) violations: &'violations mut Vec<Violation>,
}

impl Checker<'_, '_> {
    pub(super) fn check(&mut self, field: &str, schema: &Value, value: &Value) {
        let Value::Object(schema) = schema else {
            return;
        };
        if value.is_null() && admits_null(schema) {
            return;
        }
        if flag(schema, "x-kubernetes-int-or-string") {
            if !(value.is_string() || value.is_i64() || value.is_u64()) {
                self.report(
                    field,
                    Problem::Type { expected: "integer or string".to_owned(), found: type_of(value) },
                );
            }
            return;
        }
        if let Some(allowed) = listed(schema) {
            if !allowed.contains(&value) {
                let allowed =
                    allowed.iter().filter(|value| !value.is_null()).map(|value| spell(value)).collect();
                self.report(field, Problem::NotListed { allowed });
            }
            return;
        }
        if let Some(alternative) = sole_alternative(schema) {
            return self.check(field, alternative, value);
        }
        if !self.has_type(field, schema, value) {
            return;
        }
        match value {
            Value::Object(entries) => self.check_object(field, schema, entries),
            Value::Array(items) => self.check_list(field, schema, items),
            Value::String(text) => self.check_text(field, schema, text),
            Value::Number(number) => self.check_number(field, schema, number.as_f64()),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn has_type(&mut self, field: &str, schema: &Map<String, Value>, value: &Value) -> bool {
        let expected: Vec<&str> = match schema.get("type") {
            Some(Value::String(name)) => vec![name.as_str()],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => return true,
        };
        let fits = expected.iter().any(|name| match *name {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "null" => value.is_null(),
            _ => true,
        });
        if !fits {
            let expected =
                expected.into_iter().filter(|name| *name != "null").map(with_article).collect::<Vec<_>>();
            self.report(field, Problem::Type { expected: expected.join(" or "), found: type_of(value) });
        }
        fits
    }

    fn check_object(&mut self, field: &str, schema: &Map<String, Value>, entries: &Map<String, Value>) {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        for name in
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            if !entries.contains_key(name) {
                self.report(field, Problem::Missing { name: name.to_owned() });
            }
        }
        self.check_size(field, schema, ("minProperties", "maxProperties"), "entries", entries.len());
        for (name, value) in entries {
            let child = join(field, name);
            match (properties.get(name), schema.get("additionalProperties")) {
                (Some(property), _) => self.check(&child, property, value),
                (None, Some(Value::Object(additional))) => {
                    self.check(&child, &Value::Object(additional.clone()), value);
                }
                (None, Some(Value::Bool(true))) => {}
                (None, additional) => {
                    let closed =
                        additional.is_some() || (self.schema.structural && !self.is_open(field, schema));
                    if closed {
                        self.report(&child, unknown(name, properties));
                    }
                }
            }
        }
    }

    /// Whether unknown fields are kept here: said so, or the object's own metadata, or nothing is declared at all.
    fn is_open(&self, field: &str, schema: &Map<String, Value>) -> bool {
        flag(schema, "x-kubernetes-preserve-unknown-fields")
            || flag(schema, "x-kubernetes-embedded-resource")
            || field == "metadata"
            || (field.is_empty() && !schema.contains_key("properties"))
            || !schema.contains_key("type")
    }

    fn check_list(&mut self, field: &str, schema: &Map<String, Value>, items: &[Value]) {
        self.check_size(field, schema, ("minItems", "maxItems"), "items", items.len());
        if let Some(item_schema) = schema.get("items") {
            for (index, item) in items.iter().enumerate() {
                self.check(&format!("{field}[{index}]"), item_schema, item);
            }
        }
    }

    fn check_text(&mut self, field: &str, schema: &Map<String, Value>, text: &str) {
        self.check_size(field, schema, ("minLength", "maxLength"), "characters", text.chars().count());
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
            && let Some(compiled) = self.schema.patterns.get(pattern)
            && !compiled.is_match(text)
        {
            self.report(field, Problem::Pattern { pattern: pattern.to_owned() });
        }
    }

    fn check_number(&mut self, field: &str, schema: &Map<String, Value>, number: Option<f64>) {
        let Some(number) = number else {
            return;
        };
        if let Some(minimum) = schema.get("minimum").and_then(Value::as_f64)
            && number < minimum
        {
            self.report(field, Problem::Bound { bound: format!("at least {minimum}") });
        }
        let maximum = schema.get("maximum").and_then(Value::as_f64).or_else(|| format_maximum(schema));
        if let Some(maximum) = maximum
            && number > maximum
        {
            self.report(field, Problem::Bound { bound: format!("at most {maximum}") });
        }
    }

    fn check_size(
        &mut self,
        field: &str,
        schema: &Map<String, Value>,
        (minimum, maximum): (&str, &str),
        unit: &str,
        size: usize,
    ) {
        let bound = |name: &str| {
            schema.get(name).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok())
        };
        if let Some(minimum) = bound(minimum)
            && size < minimum
        {
            self.report(field, Problem::Bound { bound: format!("at least {minimum} {unit} long") });
        }
        if let Some(maximum) = bound(maximum)
            && size > maximum
        {
            self.report(field, Problem::Bound { bound: format!("at most {maximum} {unit} long") });
        }
    }

    fn report(&mut self, field: &str, problem: Problem) {
        self.violations.push(Violation { field: field.to_owned(), problem });
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn flag(schema: &Map<String, Value>, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn alternatives(schema: &Map<String, Value>) -> Option<&Vec<Value>> {
    schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array)
}

fn admits_null(schema: &Map<String, Value>) -> bool {
    let typed = match schema.get("type") {
        Some(Value::String(name)) => name == "null",
        Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
        _ => false,
    };
    typed
        || flag(schema, "nullable")
        || alternatives(schema)
            .is_some_and(|options| options.iter().filter_map(Value::as_object).any(admits_null))
}

/// The values of an enumeration, however it is spelled.
fn listed(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    if let Some(value) = schema.get("const") {
        return Some(vec![value]);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(values.iter().collect());
    }
    let mut all = Vec::new();
    for option in alternatives(schema)? {
        let option = option.as_object()?;
        if option.get("type").is_some_and(|name| name == "null") {
            continue;
        }
        all.extend(listed(option)?);
    }
    Some(all)
}

/// The one alternative that is not null; several real alternatives are left to the type check of their parent.
fn sole_alternative(schema: &Map<String, Value>) -> Option<&Value> {
    if schema.contains_key("properties") || schema.contains_key("type") {
        return None;
    }
    let mut real =
        alternatives(schema)?.iter().filter(|option| option.get("type").is_none_or(|name| name != "null"));
    let first = real.next()?;
    real.next().is_none().then_some(first)
}

fn format_maximum(schema: &Map<String, Value>) -> Option<f64> {
    match schema.get("format").and_then(Value::as_str)? {
        "uint32" => Some(f64::from(u32::MAX)),
        "int32" => Some(f64::from(i32::MAX)),
        "uint16" => Some(f64::from(u16::MAX)),
        _ => None,
    }
}

fn unknown(name: &str, properties: &Map<String, Value>) -> Problem {
    let similar = properties
        .keys()
        .map(|known| (strsim::jaro_winkler(known, name), known))
        .filter(|(likeness, _)| *likeness > 0.85)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, known)| known.clone());
    Problem::Unknown { similar, known: properties.keys().cloned().collect() }
}

fn with_article(name: &str) -> &'static str {
    match name {
        "object" => "a mapping",
        "array" => "a list",
        "string" => "a string",
        "boolean" => "a boolean",
        "integer" => "an integer",
        "number" => "a number",
        _ => "something else",
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "mapping",
    }
}

fn spell(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| format!("`{text}`"))
}
