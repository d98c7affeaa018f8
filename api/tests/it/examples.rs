//! The example of each reference page is an object of its kind, complete and valid.

use c5c3_api::{Eviction, Hypervisor, Migration, OVSNode, kinds, schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn read(kind: &str) -> Value {
    serde_saphyr::from_str(c5c3_api::kind(kind).unwrap().example).unwrap()
}

/// Reads an example as its type and writes it again: a field that the type does not know would be lost.
fn round_trip<Object: DeserializeOwned + Serialize>(kind: &str) -> Object {
    let example = read(kind);
    let object: Object = serde_json::from_value(example.clone()).unwrap();
    assert_eq!(serde_json::to_value(&object).unwrap(), example, "{kind}");
    object
}

#[test]
fn examples_are_read_and_written_without_loss_and_are_valid() {
    let hypervisor: Hypervisor = round_trip("Hypervisor");
    assert_eq!(c5c3_api::hypervisor::validate(&hypervisor.spec), []);
    let eviction: Eviction = round_trip("Eviction");
    assert_eq!(c5c3_api::eviction::validate(&eviction.spec), []);
    let migration: Migration = round_trip("Migration");
    assert_eq!(c5c3_api::migration::validate(&migration.spec), []);
    let node: OVSNode = round_trip("OVSNode");
    assert_eq!(c5c3_api::ovs_node::validate(&node.spec), []);
    let status = node.status.unwrap();
    assert_eq!(status.summary, Some(c5c3_api::ovs_node::Summary::of(&status)));
}

#[test]
fn examples_name_only_fields_of_the_schema_and_conditions_of_the_kind() {
    for kind in kinds() {
        let example = read(kind.kind);
        known(&example, &schema::schema(kind), kind.kind);
        for condition in example["status"]["conditions"].as_array().into_iter().flatten() {
            let described =
                kind.conditions.iter().find(|described| condition["type"] == described.name).unwrap();
            let reason = described.reasons.iter().find(|described| condition["reason"] == described.reason);
            let status = reason.unwrap_or_else(|| panic!("{condition}")).status.to_string();
            assert_eq!(condition["status"], status, "{condition}");
        }
    }
}

fn known(value: &Value, schema: &Value, path: &str) {
    if path.ends_with(".metadata") {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = format!("{path}.{name}");
                let map = schema.get("additionalProperties");
                let schema = schema.get("properties").and_then(|properties| properties.get(name)).or(map);
                known(value, schema.unwrap_or_else(|| panic!("the schema has no {path}")), &path);
            }
        }
        Value::Array(items) => {
            for item in items {
                known(item, &schema["items"], &format!("{path}[]"));
            }
        }
        _ => {
            if let Some(values) = schema.get("enum").and_then(Value::as_array) {
                assert!(values.contains(value), "{path}: {value}");
            }
        }
    }
}
