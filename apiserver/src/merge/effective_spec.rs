//! The spec in force: defaults, then what the Node's labels and annotations say, then stored intent, field by field.

use c5c3_api::HypervisorSpec;
use c5c3_api::labels::{AGGREGATES, CUSTOM_TRAITS, LIFECYCLE, LIFECYCLE_SKIP_TESTS, ZONE};
use serde_json::{Map, Value};

use crate::sources::picture::NodePicture;

/// The spec in force. A stored field of a form that this version does not know is left out rather than losing the rest.
pub fn effective_spec(node: Option<&NodePicture>, stored: Option<&Value>) -> HypervisorSpec {
    let mut fields = Map::new();
    if let Some(node) = node {
        from_node(node, &mut fields);
    }
    if let Some(Value::Object(stored)) = stored {
        for (field, value) in stored {
            let alone = Value::Object(Map::from_iter([(field.clone(), value.clone())]));
            if serde_json::from_value::<HypervisorSpec>(alone).is_ok() {
                fields.insert(field.clone(), value.clone());
            }
        }
    }
    serde_json::from_value(Value::Object(fields)).unwrap_or_default()
}

fn from_node(node: &NodePicture, fields: &mut Map<String, Value>) {
    // A host whose Node carries no label is left alone: the schema's default of true is for hand-made objects.
    let lifecycle = node.labels.get(LIFECYCLE);
    fields.insert("lifecycleEnabled".to_owned(), Value::Bool(lifecycle.is_some()));
    fields.insert(
        "skipTests".to_owned(),
        Value::Bool(lifecycle.is_some_and(|value| value == LIFECYCLE_SKIP_TESTS)),
    );
    if let Some(traits) = node.annotations.get(CUSTOM_TRAITS) {
        fields.insert("customTraits".to_owned(), words(traits).collect());
    }
    if let Some(aggregates) = node.annotations.get(AGGREGATES) {
        let zone = node.labels.get(ZONE).map(|zone| Value::String(zone.clone()));
        let mut list: Vec<Value> = words(aggregates).collect();
        list.extend(zone.filter(|zone| !list.contains(zone)));
        fields.insert("aggregates".to_owned(), Value::Array(list));
    }
    if node.terminating {
        fields.insert("maintenance".to_owned(), Value::String("termination".to_owned()));
    }
}

fn words(list: &str) -> impl Iterator<Item = Value> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty()).map(|word| Value::String(word.to_owned()))
}

#[cfg(test)]
mod tests {
    use c5c3_api::Maintenance;
    use serde_json::json;

    use super::*;

    fn node() -> NodePicture {
        let pairs =
            |list: &[(&str, &str)]| list.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        NodePicture {
            labels: pairs(&[(LIFECYCLE, "skip-tests"), (ZONE, "zone-a")]),
            annotations: pairs(&[(AGGREGATES, "gold, silver,"), (CUSTOM_TRAITS, "CUSTOM_A")]),
            ..NodePicture::default()
        }
    }

    #[test]
    fn the_node_says_lifecycle_traits_and_aggregates_with_its_zone() {
        let spec = effective_spec(Some(&node()), None);
        assert!(spec.lifecycle_enabled && spec.skip_tests && spec.high_availability);
        assert_eq!(spec.custom_traits, ["CUSTOM_A"]);
        assert_eq!(spec.aggregates, ["gold", "silver", "zone-a"]);
    }

    #[test]
    fn stored_intent_wins_field_by_field() {
        let stored = json!({"skipTests": false, "maintenance": "manual", "maintenanceReason": "disk"});
        let spec = effective_spec(Some(&node()), Some(&stored));
        assert!(spec.lifecycle_enabled && !spec.skip_tests);
        assert_eq!(spec.maintenance, Some(Maintenance::Manual));
    }

    #[test]
    fn one_unreadable_field_does_not_lose_the_others() {
        let stored = json!({"maintenance": 7, "maintenanceReason": "disk"});
        let spec = effective_spec(None, Some(&stored));
        assert_eq!((spec.maintenance, spec.maintenance_reason.as_deref()), (None, Some("disk")));
    }

    #[test]
    fn a_node_without_the_lifecycle_label_is_left_alone() {
        assert!(!effective_spec(Some(&NodePicture::default()), None).lifecycle_enabled);
    }
}
