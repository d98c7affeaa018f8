//! One OpenAPI 3 document for each group and version.

use serde_json::{Map, Value, json};

use super::operations::{self, Operation, Payload};
use super::{info, metadata, model_name, models, paths};
use crate::definition::ResourceDefinition;
use crate::server::{ServedResource, VersionInfo};

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

pub(super) fn document(api_version: &str, resources: &[&ServedResource], version: &VersionInfo) -> Value {
    let mut schemas = Map::from_iter([
        (OBJECT_META.to_owned(), metadata::object_meta()),
        (LIST_META.to_owned(), metadata::list_meta()),
        (STATUS.to_owned(), metadata::status()),
        (PATCH.to_owned(), metadata::patch()),
        (DELETE_OPTIONS.to_owned(), metadata::delete_options()),
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
            let item = path_item(resource, &path, one);
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

fn path_item(resource: &ServedResource, path: &str, one: bool) -> Value {
    let definition = resource.collection.definition();
    let parameters: Vec<_> = operations::path_parameters(path, &definition.kind)
        .into_iter()
        .map(|(name, description)| {
            json!({
                "name": name, "in": "path", "required": true, "description": description,
                "schema": {"type": "string", "uniqueItems": true},
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
    let content = |media_types: &[&str], payload: Payload| {
        let schema = reference(&model(definition, payload));
        let content = media_types.iter().map(|name| ((*name).to_owned(), json!({"schema": schema})));
        Value::Object(content.collect())
    };
    let parameters: Vec<_> = operation
        .parameters
        .iter()
        .map(|(name, type_, description)| {
            json!({
                "name": name, "in": "query", "description": description,
                "schema": {"type": type_, "uniqueItems": true},
            })
        })
        .collect();
    let answer = content(&["application/json", "application/yaml"], operation.answer);
    let mut responses = Map::from_iter([("401".to_owned(), json!({"description": "Unauthorized"}))]);
    for code in operation.codes {
        let response = json!({"description": operations::phrase(*code), "content": answer});
        responses.insert(code.to_string(), response);
    }
    let mut value = json!({
        "description": operation.description,
        "operationId": operation.id,
        "tags": [tag(&definition.api_version())],
        "parameters": parameters,
        "responses": responses,
    });
    if let Some(map) = value.as_object_mut() {
        if let Some(body) = operation.body {
            let mut request = json!({"content": content(operation.consumes, body)});
            if let (true, Some(request)) = (body != Payload::DeleteOptions, request.as_object_mut()) {
                request.insert("required".to_owned(), true.into());
            }
            map.insert("requestBody".to_owned(), request);
        }
        let markers = operations::markers(definition, operation);
        map.extend(markers.map(|(name, value)| (name.to_owned(), value)));
    }
    value
}

fn model(definition: &ResourceDefinition, payload: Payload) -> String {
    match payload {
        Payload::Object => model_name(definition, &definition.kind),
        Payload::List => model_name(definition, &definition.list_kind),
        Payload::Patch => PATCH.to_owned(),
        Payload::DeleteOptions => DELETE_OPTIONS.to_owned(),
        Payload::Status => STATUS.to_owned(),
    }
}
