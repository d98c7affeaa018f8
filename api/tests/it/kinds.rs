//! Every kind is described completely and without contradictions.

use c5c3_api::{ColumnType, Kind, kinds, schema};
use serde_json::Value;

/// The schema of the field that a simple path such as `.spec.hypervisor` names.
fn field<'a>(schema: &'a Value, path: &str) -> Option<&'a Value> {
    path.trim_start_matches('.')
        .split('.')
        .try_fold(schema, |schema, name| schema.get("properties")?.get(name))
}

fn walk(schema: &Value, path: &str, visit: &mut impl FnMut(&Value, &str)) {
    visit(schema, path);
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        walk(property, &format!("{path}.{name}"), visit);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(key) {
            walk(inner, &format!("{path}[]"), visit);
        }
    }
}

fn for_each_schema(mut check: impl FnMut(&Kind, &Value, &str)) {
    for kind in kinds() {
        walk(&schema::schema(kind), kind.kind, &mut |schema, path| check(kind, schema, path));
    }
}

#[test]
fn columns_and_selectable_fields_name_fields_that_exist() {
    for kind in kinds() {
        let schema = schema::schema(kind);
        for column in kind.columns {
            assert!(!column.description.is_empty(), "{}: {}", kind.kind, column.name);
            let path = column.json_path;
            if path.starts_with(".metadata.") {
                continue;
            }
            if let Some((list, rest)) = path.split_once("[?(@.type==\"") {
                let (condition, _) = rest.split_once('"').unwrap();
                assert!(field(&schema, list).is_some(), "{}: {path}", kind.kind);
                assert!(
                    kind.conditions.iter().any(|known| known.name == condition),
                    "{}: {condition}",
                    kind.kind
                );
                continue;
            }
            let found = field(&schema, path).unwrap_or_else(|| panic!("{}: no field {path}", kind.kind));
            let wanted = match column.type_ {
                ColumnType::Date => "string",
                other => other.as_str(),
            };
            assert_eq!(found["type"], wanted, "{}: {path}", kind.kind);
        }
        for path in kind.selectable_fields {
            let found = field(&schema, path).unwrap_or_else(|| panic!("{}: no field {path}", kind.kind));
            assert!(["string", "boolean", "integer"].iter().any(|good| found["type"] == *good), "{path}");
        }
        // What a CRD may have.
        assert!(kind.selectable_fields.len() <= 8, "{}", kind.kind);
    }
}

#[test]
fn schemas_are_structural() {
    for_each_schema(|_, schema, path| {
        let object = schema.as_object().unwrap_or_else(|| panic!("{path} is no object"));
        for forbidden in ["$ref", "$defs", "$schema", "const", "oneOf", "allOf", "title", "nullable"] {
            assert!(!object.contains_key(forbidden), "{path} has {forbidden}");
        }
        let is_quantity = object.contains_key("x-kubernetes-int-or-string");
        assert_eq!(object.contains_key("anyOf"), is_quantity, "{path}");
        assert_eq!(object.get("type").is_some_and(Value::is_string), !is_quantity, "{path} has no type");
        assert!(object.get("default").is_none_or(|default| !default.is_null()), "{path}");
        let types = object.get("type").and_then(Value::as_str);
        assert_eq!(object.contains_key("items"), types == Some("array"), "{path}");
        for key in object.get("x-kubernetes-list-map-keys").and_then(Value::as_array).into_iter().flatten() {
            let required = &object["items"]["required"];
            assert!(
                required.as_array().is_some_and(|names| names.contains(key)),
                "{path}: key {key} is optional"
            );
        }
    });
}

#[test]
fn every_field_is_explained_and_every_value_has_a_source() {
    for_each_schema(|kind, schema, path| {
        if path.ends_with(".metadata") || path.ends_with("[]") {
            return;
        }
        let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        assert!(!description.is_empty(), "{path} has no description");
        let is_top = |part: &str| {
            path.matches('.').count() == 2 && path.starts_with(&format!("{}.{part}.", kind.kind))
        };
        assert!(!is_top("status") || description.contains("\n\nSource: "), "{path} does not say its source");
        assert!(!is_top("spec") || description.contains("\n\nSet by: "), "{path} does not say who sets it");
    });
}

#[test]
fn condition_types_and_reasons_are_those_that_a_condition_may_have() {
    let is_word = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.chars().all(char::is_alphanumeric)
    };
    for kind in kinds() {
        for condition in kind.conditions {
            assert!(is_word(condition.name) || condition.name.ends_with(".service"), "{}", condition.name);
            assert!(!condition.reasons.is_empty(), "{}", condition.name);
            assert!(condition.reasons.iter().all(|reason| is_word(reason.reason)), "{}", condition.name);
        }
        let mut names: Vec<&str> = kind.conditions.iter().map(|condition| condition.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), kind.conditions.len(), "{} has a condition type twice", kind.kind);
    }
}

#[test]
fn the_columns_of_a_hypervisor_are_those_of_the_polling_operators() {
    let columns: Vec<(&str, i32)> =
        c5c3_api::hypervisor::KIND.columns.iter().map(|column| (column.name, column.priority)).collect();
    let expected = [
        ("Zone", 2),
        ("Building Block", 2),
        ("Group", 2),
        ("Ready", 0),
        ("State", 0),
        ("Taint", 0),
        ("Lifecycle", 0),
        ("High Availability", 0),
        ("Skip Tests", 0),
        ("Version", 0),
        ("IP", 0),
        ("Instances", 0),
        ("Hardware", 2),
        ("Kernel", 2),
        ("Onboarding", 3),
        ("Service ID", 3),
        ("Hypervisor ID", 3),
        ("Age", 0),
    ];
    assert_eq!(columns, expected);
}

#[test]
fn optional_fields_accept_what_the_schema_says_is_optional() {
    // A default in the schema is the default of the type: an empty spec reads as the defaults.
    let spec: c5c3_api::HypervisorSpec = serde_json::from_str("{}").unwrap();
    assert_eq!(spec, c5c3_api::HypervisorSpec::default());
    let schema = schema::schema(&c5c3_api::hypervisor::KIND);
    let written = serde_json::to_value(&spec).unwrap();
    for (name, property) in schema["properties"]["spec"]["properties"].as_object().unwrap() {
        assert_eq!(property.get("default"), written.get(name), "{name}");
    }
}
