//! An object brought into the form of its schema: unknown fields out, meaningless nulls out, defaults in.

use serde_json::{Map, Value};

/// Fields of every object that the schema of a resource does not describe.
const COMMON: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Takes out fields that the schema does not know; returns their paths.
pub(super) fn prune(schema: &Value, object: &mut Value) -> Vec<String> {
    let mut unknown = Vec::new();
    prune_below(schema, object, "", &mut unknown);
    unknown
}

fn prune_below(schema: &Value, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let keeps_all = flag(schema, "x-kubernetes-preserve-unknown-fields");
            map.retain(|key, value| {
                let path = child(path, key);
                if path == *key && COMMON.contains(&key.as_str()) {
                    return true;
                }
                match member(schema, key) {
                    Some(schema) => prune_below(schema, value, &path, unknown),
                    None if keeps_all => {}
                    None => {
                        unknown.push(path);
                        return false;
                    }
                }
                true
            });
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for (index, item) in items.iter_mut().enumerate() {
                    prune_below(schema, item, &format!("{path}[{index}]"), unknown);
                }
            }
        }
        _ => {}
    }
}

/// Takes out nulls where the schema allows none: they mean that the field is not there.
pub(super) fn drop_nulls(schema: &Value, value: &mut Value) {
    each(schema, value, |schema, map| {
        map.retain(|key, value| {
            !value.is_null() || member(schema, key).is_none_or(|member| flag(member, "nullable"))
        });
    });
}

/// Fills in the defaults of fields that are not there.
pub(super) fn fill_defaults(schema: &Value, value: &mut Value) {
    each(schema, value, |schema, map| {
        for (key, member) in properties(schema).into_iter().flatten() {
            let Some(default) = member.get("default") else { continue };
            let missing = map.get(key).is_none_or(|value| value.is_null() && !flag(member, "nullable"));
            if missing {
                map.insert(key.clone(), default.clone());
            }
        }
    });
}

/// Does something to each object that the schema describes, outer ones first.
fn each(schema: &Value, value: &mut Value, mut change: impl FnMut(&Value, &mut Map<String, Value>)) {
    walk(schema, value, &mut change);
}

fn walk(schema: &Value, value: &mut Value, change: &mut impl FnMut(&Value, &mut Map<String, Value>)) {
    match value {
        Value::Object(map) => {
            change(schema, map);
            for (key, value) in map {
                if let Some(schema) = member(schema, key) {
                    walk(schema, value, change);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| walk(schema, item, change));
            }
        }
        _ => {}
    }
}

pub(super) fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

/// The schema of a member, if it is a known one.
pub(super) fn member<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    let property = properties(schema).and_then(|properties| properties.get(key));
    property.or_else(|| schema.get("additionalProperties").filter(|schema| **schema != Value::Bool(false)))
}

pub(super) fn flag(schema: &Value, name: &str) -> bool {
    schema.get(name) == Some(&Value::Bool(true))
}

/// The path of a member of the value at a path.
pub(super) fn child(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "mode": {"type": "string", "default": "auto"},
            "note": {"type": "string", "nullable": true},
            "plain": {"type": "string"},
            "inner": {"type": "object", "default": {}, "properties": {"depth": {"type": "integer", "default": 3}}},
            "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"default": 1}, "b": {}}}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                     "properties": {"known": {"type": "object"}}},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
        }}}})
    }

    #[test]
    fn unknown_fields_go_and_are_named() {
        let mut object = json!({
            "apiVersion": "g/v1", "kind": "K", "metadata": {"name": "a", "any": 1}, "extra": 1,
            "spec": {"mode": "x", "nope": 1, "list": [{"a": 1}, {"c": 2}], "free": {"x": {"y": 1}, "known": {"z": 1}},
                     "map": {"p": "q"}},
        });
        let unknown = prune(&schema(), &mut object);
        assert_eq!(unknown, ["extra", "spec.free.known.z", "spec.list[1].c", "spec.nope"]);
        let expected = json!({
            "apiVersion": "g/v1", "kind": "K", "metadata": {"name": "a", "any": 1},
            "spec": {"mode": "x", "list": [{"a": 1}, {}], "free": {"x": {"y": 1}, "known": {}}, "map": {"p": "q"}},
        });
        assert_eq!(object, expected);
        assert_eq!(prune(&schema(), &mut object), [""; 0]);
    }

    #[test]
    fn nulls_mean_nothing_unless_the_schema_says_so() {
        let mut object = json!({"spec": {"mode": null, "note": null, "plain": null, "map": {"a": null}}});
        drop_nulls(&schema(), &mut object);
        assert_eq!(object, json!({"spec": {"note": null, "map": {}}}));
    }

    #[test]
    fn defaults_are_filled_in_at_every_depth_and_never_replace_anything() {
        let mut object = json!({"spec": {"list": [{"b": 2}, {"a": 5}], "note": null}});
        fill_defaults(&schema(), &mut object);
        let expected = json!({"spec": {
            "mode": "auto", "inner": {"depth": 3}, "list": [{"a": 1, "b": 2}, {"a": 5}], "note": null,
        }});
        assert_eq!(object, expected);
        let mut without = json!({});
        fill_defaults(&schema(), &mut without);
        assert_eq!(without, json!({}));
    }
}
