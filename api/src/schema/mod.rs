//! The OpenAPI v3 schema of a kind, from its Rust type.
//!
//! ```text
//! Rust type ──schemars──► JSON Schema ──structural──► OpenAPI v3, as a CRD may have it ──► CRD, OpenAPI document, page
//! ```

mod custom_resource_definition;
mod origin;
mod structural;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::Kind;

pub use custom_resource_definition::custom_resource_definition;
pub(crate) use origin::Origin;

/// The structural OpenAPI v3 schema of a whole object of this kind.
///
/// ```
/// let kind = c5c3_api::kind("Eviction").ok_or("no such kind")?;
/// let schema = c5c3_api::schema::schema(kind);
/// assert_eq!(schema["properties"]["spec"]["required"], serde_json::json!(["hypervisor", "reason"]));
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn schema(kind: &Kind) -> Value {
    let mut schema = (kind.raw_schema)();
    structural::make_structural(&mut schema);
    let Some(object) = schema.as_object_mut() else { return schema };
    object.insert("description".to_owned(), kind.description.into());
    // metadata is never required: a CRD's schema may not say anything about it but its name.
    let is_required = |name: &&str| object.get("required").is_some_and(|list| lists(list, name));
    let required: Vec<&str> = ["spec"].into_iter().filter(is_required).collect();
    let required = json!(required);
    if required.as_array().is_some_and(Vec::is_empty) {
        object.remove("required");
    } else {
        object.insert("required".to_owned(), required);
    }
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("apiVersion".to_owned(), json!({"type": "string", "description": API_VERSION}));
        properties.insert("kind".to_owned(), json!({"type": "string", "description": KIND}));
        properties.insert("metadata".to_owned(), json!({"type": "object"}));
        if let Some(default) = properties.get_mut("spec").and_then(|spec| spec.get_mut("default")) {
            // The fields have their own defaults; they need not be said twice.
            *default = json!({});
        }
    }
    schema.sort_all_objects();
    schema
}

const API_VERSION: &str = "Group and version of the schema that this object follows.";
const KIND: &str = "Name of the kind of this object.";

fn lists(list: &Value, name: &str) -> bool {
    list.as_array().is_some_and(|names| names.iter().any(|listed| listed == name))
}

/// The schema as schemars derives it, with everything inline.
pub(crate) fn raw<Object: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<Object>().to_value()
}
