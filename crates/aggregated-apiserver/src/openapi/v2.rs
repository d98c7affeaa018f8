//! One swagger 2.0 document for everything, which the aggregator merges into that of the cluster.
//!
//! Models of metadata have names of our own group: a second definition of a built-in name that is not the same to the letter
//! makes the aggregator rename one of them.

use serde_json::{Map, Value, json};

use super::operations::{self, Operation, Payload};
use super::{info, metadata, model_name, models, paths};
use crate::definition::ResourceDefinition;
use crate::server::{ServedResource, VersionInfo};

/// How many verbs a resource has that is only read.
const READING: usize = 3;

pub(super) fn document(resources: &[ServedResource], version: &VersionInfo) -> Value {
    let mut definitions = Map::new();
    let mut all_paths = Map::new();
    for resource in resources {
        let definition = resource.collection.definition();
        let (object_meta, list_meta) = metadata_names(definition);
        for (name, mut model) in models(definition, &object_meta, &list_meta, reference) {
            as_swagger(&mut model);
            definitions.insert(name, model);
        }
        definitions.insert(object_meta, metadata::object_meta());
        definitions.insert(list_meta, metadata::list_meta());
        if resource.verbs().len() > READING {
            definitions.insert(model(definition, Payload::Patch), metadata::patch());
            definitions.insert(model(definition, Payload::DeleteOptions), metadata::delete_options());
            definitions.insert(model(definition, Payload::Status), metadata::status());
        }
        for (path, one) in paths(definition) {
            let item = path_item(resource, &path, one);
            all_paths.insert(path, item);
        }
    }
    json!({"swagger": "2.0", "info": info(version), "paths": all_paths, "definitions": definitions})
}

fn metadata_names(definition: &ResourceDefinition) -> (String, String) {
    (model_name(definition, "ObjectMeta"), model_name(definition, "ListMeta"))
}

fn reference(model: &str) -> Value {
    json!({"$ref": format!("#/definitions/{model}")})
}

/// Swagger 2 has no `nullable`, no `oneOf`, `anyOf` and `not`, and no `allOf` around a reference.
fn as_swagger(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else { return };
    if let Some(Value::Array(all)) = map.get("allOf")
        && let [Value::Object(only)] = all.as_slice()
        && let Some(target) = only.get("$ref").cloned()
    {
        map.retain(|key, _| key == "description");
        map.insert("$ref".to_owned(), target);
        return;
    }
    for word in ["nullable", "oneOf", "anyOf", "not"] {
        map.remove(word);
    }
    for (word, value) in map.iter_mut() {
        match (word.as_str(), value) {
            ("properties", Value::Object(properties)) => properties.values_mut().for_each(as_swagger),
            ("allOf", Value::Array(schemas)) => schemas.iter_mut().for_each(as_swagger),
            ("items" | "additionalProperties", schema) => as_swagger(schema),
            _ => {}
        }
    }
}

fn path_item(resource: &ServedResource, path: &str, one: bool) -> Value {
    let definition = resource.collection.definition();
    let parameters: Vec<_> = operations::path_parameters(path, &definition.kind)
        .into_iter()
        .map(|(name, description)| {
            json!({
                "name": name, "in": "path", "required": true, "type": "string", "uniqueItems": true,
                "description": description,
            })
        })
        .collect();
    let mut item = Map::from_iter([("parameters".to_owned(), Value::from(parameters))]);
    for operation in operations::all(resource, path, one) {
        item.insert(operation.method.to_owned(), written(definition, &operation));
    }
    item.into()
}

fn written(definition: &ResourceDefinition, operation: &Operation) -> Value {
    let in_query = operation.parameters.iter().map(|(name, type_, description)| {
        json!({"name": name, "in": "query", "type": type_, "uniqueItems": true, "description": description})
    });
    let body = operation.body.map(|body| {
        let required = body != Payload::DeleteOptions;
        json!({"name": "body", "in": "body", "required": required, "schema": reference(&model(definition, body))})
    });
    let mut responses = Map::from_iter([("401".to_owned(), json!({"description": "Unauthorized"}))]);
    for code in operation.codes {
        let schema = reference(&model(definition, operation.answer));
        let response = json!({"description": operations::phrase(*code), "schema": schema});
        responses.insert(code.to_string(), response);
    }
    let consumes = if operation.consumes.is_empty() { &["*/*"] } else { operation.consumes };
    let mut value = json!({
        "description": operation.description,
        "operationId": operation.id,
        "tags": [definition.api_version().replace(['/', '.', '-'], "_")],
        "schemes": ["https"],
        "consumes": consumes,
        "produces": ["application/json", "application/yaml"],
        "parameters": body.into_iter().chain(in_query).collect::<Vec<_>>(),
        "responses": responses,
    });
    if let Some(map) = value.as_object_mut() {
        let markers = operations::markers(definition, operation);
        map.extend(markers.map(|(name, value)| (name.to_owned(), value)));
    }
    value
}

fn model(definition: &ResourceDefinition, payload: Payload) -> String {
    let name = match payload {
        Payload::Object => &definition.kind,
        Payload::List => &definition.list_kind,
        Payload::Patch => "Patch",
        Payload::DeleteOptions => "DeleteOptions",
        Payload::Status => "Status",
    };
    model_name(definition, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_swagger_does_not_know_are_left_out_and_properties_of_that_name_are_not() {
        let mut schema = json!({
            "type": "object", "nullable": true, "oneOf": [{"required": ["not"]}],
            "properties": {
                "not": {"type": "string", "nullable": true},
                "nullable": {"type": "array", "items": {"anyOf": [{}], "type": "string"}},
            },
            "additionalProperties": {"not": {}},
        });
        as_swagger(&mut schema);
        let expected = json!({
            "type": "object",
            "properties": {"not": {"type": "string"}, "nullable": {"type": "array", "items": {"type": "string"}}},
            "additionalProperties": {},
        });
        assert_eq!(schema, expected);
    }
}
