//! From client-side to server-side apply, for kubectl.
//!
//! `kubectl apply` without `--server-side` leaves what it applied in an annotation and owns it as an updater. When the same object is then applied by
//! the manager `kubectl`, the fields in that annotation that nobody changed since are its own: they are taken without force. The annotation follows what is applied, so
//! that the way back works too. No other manager gets this.

use serde_json::{Map, Value};

use crate::field_set::FieldSet;
use crate::json::go_text;
use crate::managers::Manager;
use crate::schema::Schema;
use crate::typed::check::check;
use crate::typed::compare::compare;
use crate::typed::to_set::to_set;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// All annotations of an object together may have this many bytes.
const ANNOTATIONS_LIMIT: usize = 256 * 1024;

pub(crate) fn is_kubectl(manager: &Manager) -> bool {
    manager.name == "kubectl"
}

/// The fields that the annotation names and that still are as it says. Nothing, if there is no annotation that can be understood.
pub(crate) fn unchanged_since(schema: &Schema, live: &Value, api_version: &str) -> FieldSet {
    let Some(last) = annotation(live).and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
        return FieldSet::new();
    };
    let same_version = last.get("apiVersion").and_then(Value::as_str) == Some(api_version);
    if !same_version || check(schema, &last, false).is_err() || check(schema, live, false).is_err() {
        return FieldSet::new();
    }
    to_set(&schema.root, &last).difference(&compare(&schema.root, &last, live).all())
}

/// Writes what was applied into the annotation, if there is one; if it does not fit, the annotation goes.
pub(crate) fn follow(object: &mut Value, config: &Value) {
    if annotation(object).is_none() {
        return;
    }
    let mut config = config.clone();
    if let Some(annotations) = annotations_mut(&mut config) {
        annotations.remove(ANNOTATION);
    }
    let mut text = String::new();
    go_text::compact_json(&config, &mut text);
    text.push('\n');
    let Some(annotations) = annotations_mut(object) else { return };
    annotations.insert(ANNOTATION.into(), Value::from(text));
    let size: usize =
        annotations.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if size > ANNOTATIONS_LIMIT {
        annotations.remove(ANNOTATION);
    }
}

fn annotation(object: &Value) -> Option<&str> {
    object.get("metadata")?.get("annotations")?.get(ANNOTATION)?.as_str().filter(|text| !text.is_empty())
}

fn annotations_mut(object: &mut Value) -> Option<&mut Map<String, Value>> {
    object.get_mut("metadata")?.get_mut("annotations")?.as_object_mut()
}
