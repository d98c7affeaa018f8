//! `schema`: the kinds, for editors and for comparison.

use std::process::ExitCode;

use serde_json::{Map, Value};

use super::{Failure, SchemaForm};

/// Prints the schemas of all kinds as one JSON document.
pub(super) fn print(form: SchemaForm) -> Result<ExitCode, Failure> {
    let kinds = c5c3_api::kinds();
    let document = match form {
        SchemaForm::Openapi => {
            let named = kinds.iter().map(|kind| (kind.kind.to_owned(), c5c3_api::schema::schema(kind)));
            Value::Object(Map::from_iter(named))
        }
        SchemaForm::Store => crate::intent::StoreDefinition::manifest(),
        SchemaForm::Crd => serde_json::json!({
            "apiVersion": "v1",
            "kind": "List",
            "items": kinds.iter().map(c5c3_api::schema::custom_resource_definition).collect::<Vec<_>>(),
        }),
    };
    let text = serde_json::to_string_pretty(&document).map_err(|error| Failure::other(&error))?;
    println!("{text}");
    Ok(ExitCode::SUCCESS)
}
