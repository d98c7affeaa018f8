//! The OpenAPI v3 schema of a kind, from its Rust type.
//!
//! ```text
//! Rust type ──schemars──► JSON Schema ──structural──► OpenAPI v3, as a CRD may have it ──► CRD, OpenAPI document, page
//! ```

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema as schemars derives it, with everything inline.
pub(crate) fn raw<Object: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<Object>().to_value()
}
