//! Objects, lists and events in one of the three representations: whole, metadata only, table.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::table::{self, IncludeObject};
use crate::collection::{Event, EventKind, PublishedObject};
use crate::definition::ResourceDefinition;
use crate::serve::Page;
use crate::version::ResourceVersion;

/// Version of the `meta.k8s.io` group that a client asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetaVersion {
    V1,
    V1Beta1,
}

impl MetaVersion {
    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// How a client wants to see objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Representation {
    Whole,
    Metadata(MetaVersion),
    Table(MetaVersion, IncludeObject),
}

const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

impl Representation {
    /// One object as the answer to a GET.
    pub(crate) fn object(self, object: &PublishedObject, definition: &ResourceDefinition) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Whole => out.extend_from_slice(object.json()),
            Self::Metadata(version) => table::write_metadata(object.metadata_json(), version, &mut out),
            Self::Table(..) => {
                out.extend_from_slice(&self.head(definition, object.version(), None));
                self.write_item(object, &mut out);
                out.extend_from_slice(self.list_tail());
            }
        }
        out
    }

    /// Everything of a list before its items.
    pub(crate) fn list_head(self, definition: &ResourceDefinition, page: &Page) -> Vec<u8> {
        self.head(definition, page.version, page.rest.as_ref())
    }

    fn head(
        self,
        definition: &ResourceDefinition,
        version: ResourceVersion,
        rest: Option<&(String, usize)>,
    ) -> Vec<u8> {
        let (kind, api_version) = match self {
            Self::Whole => (definition.list_kind.as_str(), definition.api_version()),
            Self::Metadata(version) => ("PartialObjectMetadataList", version.api_version().to_owned()),
            Self::Table(version, _) => ("Table", version.api_version().to_owned()),
        };
        let rest = rest.map_or_else(String::new, |(token, left)| {
            format!(",\"continue\":{},\"remainingItemCount\":{left}", Value::from(token.as_str()))
        });
        let mut head = format!(
            "{{\"kind\":{},\"apiVersion\":{},\"metadata\":{{\"resourceVersion\":\"{version}\"{rest}}},",
            Value::from(kind),
            Value::from(api_version),
        );
        if matches!(self, Self::Table(..)) {
            head.push_str(&format!(
                "\"columnDefinitions\":{},\"rows\":[",
                table::column_definitions(definition)
            ));
        } else {
            head.push_str("\"items\":[");
        }
        head.into_bytes()
    }

    /// Everything of a list after its items.
    pub(crate) fn list_tail(self) -> &'static [u8] {
        b"]}\n"
    }

    /// One item of a list.
    pub(crate) fn write_item(self, object: &PublishedObject, out: &mut Vec<u8>) {
        match self {
            Self::Whole => out.extend_from_slice(object.json()),
            Self::Metadata(version) => table::write_metadata(object.metadata_json(), version, out),
            Self::Table(version, include) => {
                table::write_row(object, version, include, Timestamp::now(), out);
            }
        }
    }

    /// An event as it was published. Only that of a whole object is ready to be sent.
    pub(crate) fn ready_frame(self, event: &Event) -> Option<bytes::Bytes> {
        (self == Self::Whole).then(|| event.frame.clone())
    }

    /// A line of a watch. `headings` is true for the first event of a stream.
    pub(crate) fn write_event(
        self,
        kind: EventKind,
        object: &PublishedObject,
        definition: &ResourceDefinition,
        headings: bool,
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(kind.prefix().as_bytes());
        match self {
            Self::Table(version, _) => {
                out.extend_from_slice(&table_head(definition, version, object.version(), headings));
                self.write_item(object, out);
                out.extend_from_slice(b"]}");
            }
            Self::Whole | Self::Metadata(_) => self.write_item(object, out),
        }
        out.extend_from_slice(b"}\n");
    }

    /// A bookmark: everything up to the version has been sent.
    pub(crate) fn write_bookmark(
        self,
        definition: &ResourceDefinition,
        version: ResourceVersion,
        initial_events_end: bool,
        headings: bool,
        out: &mut Vec<u8>,
    ) {
        let mut metadata = json!({"resourceVersion": version.to_string(), "creationTimestamp": null});
        if initial_events_end && let Some(metadata) = metadata.as_object_mut() {
            metadata.insert("annotations".to_owned(), json!({INITIAL_EVENTS_END: "true"}));
        }
        out.extend_from_slice(b"{\"type\":\"BOOKMARK\",\"object\":");
        let partial = |version: MetaVersion| {
            let api_version = version.api_version();
            json!({"kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": metadata})
        };
        let whole =
            || json!({"kind": definition.kind, "apiVersion": definition.api_version(), "metadata": metadata});
        match self {
            Self::Whole => out.extend_from_slice(whole().to_string().as_bytes()),
            Self::Metadata(version) => out.extend_from_slice(partial(version).to_string().as_bytes()),
            Self::Table(meta, include) => {
                out.extend_from_slice(&table_head(definition, meta, version, headings));
                let object = match include {
                    IncludeObject::None => Value::Null,
                    IncludeObject::Metadata => partial(meta),
                    IncludeObject::Object => whole(),
                };
                let mut cells = vec![Value::from("")];
                cells.resize(definition.columns.len().max(1) + 1, Value::Null);
                out.extend_from_slice(json!({"cells": cells, "object": object}).to_string().as_bytes());
                out.extend_from_slice(b"]}");
            }
        }
        out.extend_from_slice(b"}\n");
    }
}

/// A watch sends the headings once: later tables have none.
fn table_head(
    definition: &ResourceDefinition,
    meta: MetaVersion,
    version: ResourceVersion,
    headings: bool,
) -> Vec<u8> {
    let columns = if headings { table::column_definitions(definition) } else { Value::Null };
    format!(
        "{{\"kind\":\"Table\",\"apiVersion\":\"{}\",\"metadata\":{{\"resourceVersion\":\"{version}\"}},\
         \"columnDefinitions\":{columns},\"rows\":[",
        meta.api_version()
    )
    .into_bytes()
}
