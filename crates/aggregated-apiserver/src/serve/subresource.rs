//! GET of a read-only subresource: a list about one object that is found out when it is asked for.
//!
//! It is permitted by its own name (`RESOURCE/SUBRESOURCE`), is not stored and not watched, and comes as JSON, YAML or a Table.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};

use super::ResourceRequest;
use super::body::{self, Body, JSON, YAML};
use crate::collection::ObjectKey;
use crate::definition::Column;
use crate::representation::Representation;
use crate::request::accept::{self, Format};
use crate::status::ApiStatus;

/// What a subresource is called, and its columns in a Table. Cells are told by whoever answers, in this order.
#[derive(Debug, Clone)]
pub struct SubresourceDefinition {
    /// As in paths: `domains`.
    pub name: String,
    /// Kind of the list: `DomainList`.
    pub list_kind: String,
    /// Columns after the name; their `json_path`s are not used.
    pub columns: Vec<Column>,
}

/// One item of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct SubresourceItem {
    /// Its name, unique within the list.
    pub name: String,
    /// The item as JSON.
    pub item: Value,
    /// Its cells.
    pub cells: Vec<Value>,
}

/// What there is to say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SubresourceList {
    /// Fields of the list besides its items.
    pub fields: Map<String, Value>,
    /// The items.
    pub items: Vec<SubresourceItem>,
}

/// Answers for a subresource of every object of a resource.
pub trait ReadSubresource: Send + Sync {
    /// How it is called.
    fn definition(&self) -> &SubresourceDefinition;

    /// What there is to say of an object that exists.
    fn read<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, Result<SubresourceList, ApiStatus>>;
}

/// Subresources by name.
#[derive(Clone, Default)]
pub(crate) struct Subresources(Vec<Arc<dyn ReadSubresource>>);

impl Subresources {
    pub(crate) fn add(&mut self, subresource: Arc<dyn ReadSubresource>) {
        self.0.push(subresource);
    }

    pub(crate) fn definitions(&self) -> impl Iterator<Item = &SubresourceDefinition> {
        self.0.iter().map(|subresource| subresource.definition())
    }

    pub(super) fn find(&self, name: &str) -> Option<&dyn ReadSubresource> {
        self.0.iter().find(|subresource| subresource.definition().name == name).map(AsRef::as_ref)
    }
}

impl fmt::Debug for Subresources {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.definitions().map(|definition| &definition.name)).finish()
    }
}

pub(super) async fn answer(
    request: &ResourceRequest<'_>,
    verb: &str,
    subresource: &dyn ReadSubresource,
) -> Result<Response<Body>, ApiStatus> {
    if verb != "get" {
        return Err(ApiStatus::method_not_allowed());
    }
    let (format, representation) = accept::for_objects(request.headers, request.query)?;
    let key = request.key().ok_or_else(ApiStatus::path_not_found)?;
    let collection = &request.resource.collection;
    let parent = collection.definition();
    if collection.get(&key).is_none() {
        return Err(ApiStatus::object_not_found(&parent.group, &parent.plural, &key.name));
    }
    let list = subresource.read(&key).await?;
    let definition = subresource.definition();
    let document = match representation {
        Representation::Whole => whole(list, definition, &parent.api_version()),
        Representation::Table(version, _) => table(list, definition, version.api_version()),
        Representation::Metadata(_) => {
            return Err(ApiStatus::not_acceptable(&["application/json", "application/yaml"]));
        }
    };
    let bytes = document.to_string().into_bytes();
    Ok(match format {
        Format::Json => body::whole(StatusCode::OK, JSON, bytes),
        Format::Yaml => body::whole(StatusCode::OK, YAML, body::yaml(&bytes)?),
    })
}

fn whole(list: SubresourceList, definition: &SubresourceDefinition, api_version: &str) -> Value {
    let mut document = list.fields;
    let items: Vec<Value> = list.items.into_iter().map(|item| item.item).collect();
    document.insert("kind".to_owned(), json!(definition.list_kind));
    document.insert("apiVersion".to_owned(), json!(api_version));
    document.insert("metadata".to_owned(), json!({}));
    document.insert("items".to_owned(), Value::Array(items));
    Value::Object(document)
}

fn table(list: SubresourceList, definition: &SubresourceDefinition, api_version: &str) -> Value {
    let column = |column: &Column| {
        json!({
            "name": column.name, "type": column.type_, "format": column.format,
            "description": column.description, "priority": column.priority,
        })
    };
    let name = json!({
        "name": "Name", "type": "string", "format": "name", "description": "Unique within the list.", "priority": 0,
    });
    let columns: Vec<Value> = std::iter::once(name).chain(definition.columns.iter().map(column)).collect();
    let row = |item: SubresourceItem| {
        let cells: Vec<Value> = std::iter::once(json!(item.name)).chain(item.cells).collect();
        let metadata = json!({"name": item.name, "creationTimestamp": null});
        let object =
            json!({"kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": metadata});
        json!({"cells": cells, "object": object})
    };
    json!({
        "kind": "Table", "apiVersion": api_version, "metadata": {},
        "columnDefinitions": columns,
        "rows": list.items.into_iter().map(row).collect::<Vec<_>>(),
    })
}
