//! The spec in force: defaults, then what the Node's labels and annotations say, then stored intent, field by field.
//!
//! A stored field wins over the Node for as long as it is stored. What is not stored follows the Node again, so that one
//! `kubectl edit` of a reason does not freeze the aggregates of a host. Whose a field is stands in managedFields.

use c5c3_api::HypervisorSpec;
use c5c3_api::labels::{AGGREGATES, CUSTOM_TRAITS, LIFECYCLE, LIFECYCLE_SKIP_TESTS, ZONE};
use serde_json::{Map, Value};

use crate::sources::picture::NodePicture;

/// The spec in force. A stored field of a form that this version does not know is left out rather than losing the rest.
pub fn effective_spec(node: Option<&NodePicture>, stored: Option<&Value>) -> HypervisorSpec {
    let mut fields = node_spec(node);
    if let Some(Value::Object(stored)) = stored {
        let known = stored.iter().filter(|(field, value)| is_readable(field, value));
        fields.extend(known.map(|(field, value)| (field.clone(), value.clone())));
    }
    serde_json::from_value(Value::Object(fields)).unwrap_or_default()
}

/// The spec of a host for which nothing is stored: what a stored field has to differ from to mean anything.
pub fn base_spec(node: Option<&NodePicture>) -> Value {
    serde_json::to_value(effective_spec(node, None)).unwrap_or_default()
}

/// What the Node says of its host: exactly the fields that its labels, annotations and conditions speak of.
pub fn node_spec(node: Option<&NodePicture>) -> Map<String, Value> {
    let mut fields = Map::new();
    let Some(node) = node else { return fields };
    // A host whose Node carries no label is left alone: the schema's default of true is for hand-made objects.
    let lifecycle = node.labels.get(LIFECYCLE);
    fields.insert("lifecycleEnabled".to_owned(), Value::Bool(lifecycle.is_some()));
    if let Some(lifecycle) = lifecycle {
        fields.insert("skipTests".to_owned(), Value::Bool(lifecycle == LIFECYCLE_SKIP_TESTS));
    }
    if let Some(traits) = node.annotations.get(CUSTOM_TRAITS) {
        fields.insert("customTraits".to_owned(), words(traits).collect());
    }
    // Without the annotation the zone alone says nothing: the aggregates of a host stay as they are.
    if let Some(aggregates) = node.annotations.get(AGGREGATES) {
        let zone = node.labels.get(ZONE).map(|zone| Value::String(zone.clone()));
        let mut list: Vec<Value> = words(aggregates).collect();
        list.extend(zone.filter(|zone| !list.contains(zone)));
        fields.insert("aggregates".to_owned(), Value::Array(list));
    }
    if node.terminating {
        fields.insert("maintenance".to_owned(), Value::String("termination".to_owned()));
    }
    fields
}

/// Whether a stored field can be read by this version.
pub(super) fn is_readable(field: &str, value: &Value) -> bool {
    let alone = Value::Object(Map::from_iter([(field.to_owned(), value.clone())]));
    serde_json::from_value::<HypervisorSpec>(alone).is_ok()
}

/// The words of a comma-separated list, each once.
fn words(list: &str) -> impl Iterator<Item = Value> {
    let mut seen = std::collections::BTreeSet::new();
    let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
    words.filter(move |word| seen.insert(*word)).map(|word| Value::String(word.to_owned()))
}

#[cfg(test)]
#[path = "effective_spec_tests.rs"]
mod tests;
