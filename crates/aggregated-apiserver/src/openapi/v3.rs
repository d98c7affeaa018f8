//! One OpenAPI 3 document for each group and version.

use serde_json::{Map, Value, json};

use super::operations::{self, LIST_PARAMETERS, Operation, WATCH_PARAMETER};
use super::{info, metadata, model_name, models, paths};
use crate::definition::ResourceDefinition;
use crate::server::{ServedResource, VersionInfo};

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";

pub(super) fn document(api_version: &str, resources: &[&ServedResource], version: &VersionInfo) -> Value {
    let mut schemas = Map::from_iter([
        (OBJECT_META.to_owned(), metadata::object_meta()),
        (LIST_META.to_owned(), metadata::list_meta()),
        (STATUS.to_owned(), metadata::status()),
    ]);
    let mut all_paths = Map::new();
    let root = format!("/apis/{api_version}/");
    all_paths.insert(
        root,
        json!({"get": {
            "description": "get available resources",
            "operationId": format!("getAPIResources{}", api_version.replace(['/', '.', '-'], "_")),
            "tags": [tag(api_version)],
            "responses": {"200": {"description": "OK"}, "401": {"description": "Unauthorized"}},
        }}),
    );
    for resource in resources {
        let definition = resource.collection.definition();
        schemas.extend(models(definition, OBJECT_META, LIST_META, reference));
        for (path, one) in paths(definition) {
            let item = path_item(definition, &path, one);
            all_paths.insert(path, item);
        }
    }
    json!({"openapi": "3.0.0", "info": info(version), "paths": all_paths, "components": {"schemas": schemas}})
}

fn reference(model: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{model}")})
}

fn tag(api_version: &str) -> String {
    api_version.replace(['/', '.', '-'], "_")
}

fn path_item(definition: &ResourceDefinition, path: &str, one: bool) -> Value {
    let parameters: Vec<_> = operations::path_parameters(path, &definition.kind)
        .into_iter()
        .map(|(name, description)| {
            json!({
                "name": name, "in": "path", "required": true, "description": description,
                "schema": {"type": "string", "uniqueItems": true},
            })
        })
        .collect();
    let operation = operations::get(definition, path, one);
    json!({"get": written(definition, &operation, one), "parameters": parameters})
}

fn written(definition: &ResourceDefinition, operation: &Operation, one: bool) -> Value {
    let kind = if one { &definition.kind } else { &definition.list_kind };
    let model = reference(&model_name(definition, kind));
    let mut content = Map::new();
    for media_type in ["application/json", "application/yaml"] {
        content.insert(media_type.to_owned(), json!({"schema": model}));
    }
    let parameters: Vec<_> = LIST_PARAMETERS
        .iter()
        .chain([&WATCH_PARAMETER])
        .filter(|_| !one)
        .map(|(name, type_, description)| {
            json!({
                "name": name, "in": "query", "description": description,
                "schema": {"type": type_, "uniqueItems": true},
            })
        })
        .collect();
    let mut value = json!({
        "description": operation.description,
        "operationId": operation.id,
        "tags": [tag(&definition.api_version())],
        "parameters": parameters,
        "responses": {"200": {"description": "OK", "content": content}, "401": {"description": "Unauthorized"}},
    });
    if let Some(map) = value.as_object_mut() {
        let markers = operations::markers(definition, operation);
        map.extend(markers.map(|(name, value)| (name.to_owned(), value)));
    }
    value
}
