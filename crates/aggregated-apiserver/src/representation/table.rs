//! `meta.k8s.io` Tables: what `kubectl get` prints.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::cells;
use super::items::MetaVersion;
use crate::collection::PublishedObject;
use crate::definition::ResourceDefinition;

/// What a row carries besides its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum IncludeObject {
    /// Nothing.
    None,
    /// `PartialObjectMetadata`.
    #[default]
    Metadata,
    /// The object.
    Object,
}

impl IncludeObject {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "" | "Metadata" => Some(Self::Metadata),
            "None" => Some(Self::None),
            "Object" => Some(Self::Object),
            _ => None,
        }
    }
}

/// `columnDefinitions` of a resource as JSON.
pub(crate) fn column_definitions(definition: &ResourceDefinition) -> Value {
    let column = |name: &str, type_: &str, format: &str, description: &str, priority: i32| json!({"name": name, "type": type_, "format": format, "description": description, "priority": priority});
    let mut columns =
        vec![column("Name", "string", "name", "Name, unique within the resource and the namespace.", 0)];
    for c in &definition.columns {
        columns.push(column(&c.name, &c.type_, &c.format, &c.description, c.priority));
    }
    if definition.columns.is_empty() {
        columns.push(column("Age", "date", "", "Time since creation.", 0));
    }
    Value::from(columns)
}

/// One row.
pub(crate) fn write_row(
    object: &PublishedObject,
    version: MetaVersion,
    include: IncludeObject,
    now: Timestamp,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"{\"cells\":[");
    out.extend_from_slice(Value::from(object.key().name.as_str()).to_string().as_bytes());
    for cell in object.cells() {
        out.push(b',');
        cells::write(cell, now, out);
    }
    out.extend_from_slice(b"],\"object\":");
    match include {
        IncludeObject::None => out.extend_from_slice(b"null"),
        IncludeObject::Metadata => write_metadata(object.metadata_json(), version, out),
        IncludeObject::Object => out.extend_from_slice(object.json()),
    }
    out.push(b'}');
}

/// A `PartialObjectMetadata`.
pub(crate) fn write_metadata(metadata: &[u8], version: MetaVersion, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"");
    out.extend_from_slice(version.api_version().as_bytes());
    out.extend_from_slice(b"\",\"metadata\":");
    out.extend_from_slice(metadata);
    out.push(b'}');
}
