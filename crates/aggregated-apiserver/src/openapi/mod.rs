//! OpenAPI documents: version 3 for kubectl and server-side validation, version 2 for older tools and Argo CD.
//!
//! Computed when the server is built, from the same definitions that everything else comes from. Model names begin with
//! the reversed group, and nothing but our own kinds carries a kind marker, so that the aggregator can merge them.

mod metadata;
mod operations;
mod v2;
mod v3;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::definition::ResourceDefinition;
use crate::discovery::Document;
use crate::server::{ServedResource, VersionInfo};

/// All OpenAPI documents by their path.
#[derive(Debug)]
pub(crate) struct OpenApi {
    documents: BTreeMap<String, Document>,
}

impl OpenApi {
    pub(crate) fn of(resources: &[ServedResource], version: &VersionInfo) -> Self {
        let mut by_version: BTreeMap<String, Vec<&ServedResource>> = BTreeMap::new();
        for resource in resources {
            by_version.entry(resource.collection.definition().api_version()).or_default().push(resource);
        }
        let mut documents = BTreeMap::new();
        let mut index = serde_json::Map::new();
        for (api_version, resources) in &by_version {
            let document = Document::of(&v3::document(api_version, resources, version));
            let path = format!("/openapi/v3/apis/{api_version}");
            let url = format!("{path}?hash={}", document.etag);
            index.insert(format!("apis/{api_version}"), json!({"serverRelativeURL": url}));
            documents.insert(path, document);
        }
        documents.insert("/openapi/v3".to_owned(), Document::of(&json!({"paths": index})));
        documents.insert("/openapi/v2".to_owned(), Document::of(&v2::document(resources, version)));
        Self { documents }
    }

    pub(crate) fn document(&self, path: &str) -> Option<&Document> {
        self.documents.get(path)
    }
}

/// `io.example.weather.v1.Station` for `weather.example.io/v1`.
fn model_name(definition: &ResourceDefinition, kind: &str) -> String {
    let mut parts: Vec<&str> = definition.group.split('.').rev().collect();
    parts.extend([definition.version.as_str(), kind]);
    parts.join(".")
}

fn kind_marker(definition: &ResourceDefinition, kind: &str) -> Value {
    json!({"group": definition.group, "version": definition.version, "kind": kind})
}

/// The models of a resource: one object, and a list. `reference` makes a reference to a model by name.
fn models(
    definition: &ResourceDefinition,
    object_meta: &str,
    list_meta: &str,
    reference: impl Fn(&str) -> Value,
) -> [(String, Value); 2] {
    let kind = &definition.kind;
    let name = model_name(definition, kind);
    let mut object = definition.schema.clone();
    if let Some(map) = object.as_object_mut() {
        map.entry("type").or_insert_with(|| json!("object"));
        if !definition.description.is_empty() {
            map.insert("description".to_owned(), json!(definition.description));
        }
        map.insert("x-kubernetes-group-version-kind".to_owned(), json!([kind_marker(definition, kind)]));
        let properties = map.entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            properties.insert("apiVersion".to_owned(), metadata::api_version());
            properties.insert("kind".to_owned(), metadata::kind());
            properties.insert(
                "metadata".to_owned(),
                described(&reference(object_meta), "Standard object metadata."),
            );
        }
    }
    let list = json!({
        "type": "object",
        "description": format!("{} is a list of {kind}.", definition.list_kind),
        "required": ["items"],
        "properties": {
            "apiVersion": metadata::api_version(),
            "kind": metadata::kind(),
            "metadata": described(&reference(list_meta), "Standard list metadata."),
            "items": {"type": "array", "description": format!("List of {}.", definition.plural), "items": reference(&name)},
        },
        "x-kubernetes-group-version-kind": [kind_marker(definition, &definition.list_kind)],
    });
    [(name, object), (model_name(definition, &definition.list_kind), list)]
}

/// A reference with a description beside it.
fn described(reference: &Value, description: &str) -> Value {
    json!({"allOf": [reference], "default": {}, "description": description})
}

/// The paths of a resource under which objects are listed, and under which one is.
fn paths(definition: &ResourceDefinition) -> Vec<(String, bool)> {
    let root = format!("/apis/{}", definition.api_version());
    let plural = &definition.plural;
    if definition.namespaced() {
        let inside = format!("{root}/namespaces/{{namespace}}/{plural}");
        vec![
            (format!("{root}/{plural}"), false),
            (inside.clone(), false),
            (format!("{inside}/{{name}}"), true),
        ]
    } else {
        vec![(format!("{root}/{plural}"), false), (format!("{root}/{plural}/{{name}}"), true)]
    }
}

fn info(version: &VersionInfo) -> Value {
    let version = if version.git_version.is_empty() { "unversioned" } else { &version.git_version };
    json!({"title": "Kubernetes", "version": version})
}
