//! From a JSON value to the bytes that are sent, with the place of the version and of the metadata kept.
//!
//! Keys are written in sorted order, whatever order they came in: equal content is equal bytes, so that a digest
//! tells a change from a repetition. The version is left out of the digest and spliced in last. The bytes are laid out as the
//! watch event that announces the object; the object itself is a slice of them.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::error::PublishError;
use super::object::{ObjectKey, PublishedObject};
use super::ring::EventKind;
use crate::definition::{CheckedPaths, ResourceDefinition};
use crate::representation::cells;
use crate::version::ResourceVersion;

/// An object that is checked and written, but has no version yet.
pub(super) struct Draft {
    pub(super) key: ObjectKey,
    pub(super) uid: String,
    pub(super) digest: [u8; 32],
    /// Digest of everything but the status.
    pub(super) wanted: [u8; 32],
    labels: BTreeMap<String, String>,
    fields: Box<[String]>,
    cells: Box<[super::Cell]>,
    head: Vec<u8>,
    tail: Vec<u8>,
    metadata: Range<usize>,
}

impl Draft {
    pub(super) fn new(
        object: Value,
        definition: &ResourceDefinition,
        api_version: &str,
        paths: &CheckedPaths,
    ) -> Result<Self, PublishError> {
        let Value::Object(mut map) = object else {
            return Err(PublishError::NotAnObject { kind: definition.kind.clone() });
        };
        fill(&mut map, "apiVersion", api_version)?;
        fill(&mut map, "kind", &definition.kind)?;
        let object = Value::Object(map);
        let metadata = object.get("metadata").and_then(Value::as_object);
        let key = key(metadata, definition)?;
        let text =
            |name: &str| metadata.and_then(|m| m.get(name)).and_then(Value::as_str).unwrap_or_default();
        let uid = text("uid").to_owned();
        if uid.is_empty() {
            return Err(PublishError::Uid { key });
        }
        let labels = labels(metadata, &key)?;
        let cells = cells::of(&object, definition, paths);
        let fields =
            paths.fields.iter().map(|(_, path)| scalar(path.find(&object).first().copied())).collect();
        let written = write_object(&object, metadata);
        let wanted = wanted(&object, metadata);
        let mut hasher = Sha256::new();
        hasher.update(&written.head);
        hasher.update([0]);
        hasher.update(&written.tail);
        Ok(Self {
            key,
            uid,
            digest: hasher.finalize().into(),
            wanted,
            labels,
            fields,
            cells,
            head: written.head,
            tail: written.tail,
            metadata: written.metadata,
        })
    }

    /// True when no selector can tell the two apart.
    pub(super) fn selects_like(&self, object: &PublishedObject) -> bool {
        self.labels == object.labels && self.fields == object.fields
    }

    /// The object of a version, and the event that announces it.
    pub(super) fn finish(self, version: ResourceVersion, kind: EventKind) -> (Bytes, PublishedObject) {
        let written = frame(kind, &self.head, version, &self.tail);
        let object = PublishedObject {
            key: self.key,
            uid: self.uid,
            version,
            labels: self.labels,
            fields: self.fields,
            cells: self.cells,
            metadata: self.metadata.start..self.metadata.end + written.digits.len(),
            version_digits: written.digits,
            json: written.json,
        };
        (written.frame, object)
    }
}

/// A watch event and the object in it.
pub(super) struct Frame {
    pub(super) frame: Bytes,
    pub(super) json: Bytes,
    pub(super) digits: Range<usize>,
}

pub(super) fn frame(kind: EventKind, head: &[u8], version: ResourceVersion, tail: &[u8]) -> Frame {
    let before = kind.prefix().as_bytes();
    let digits = version.to_string();
    let mut bytes = Vec::with_capacity(before.len() + head.len() + digits.len() + tail.len() + 2);
    bytes.extend_from_slice(before);
    bytes.extend_from_slice(head);
    bytes.extend_from_slice(digits.as_bytes());
    bytes.extend_from_slice(tail);
    let end = bytes.len();
    bytes.extend_from_slice(b"}\n");
    let frame = Bytes::from(bytes);
    let json = frame.slice(before.len()..end);
    Frame { frame, json, digits: head.len()..head.len() + digits.len() }
}

struct Written {
    head: Vec<u8>,
    tail: Vec<u8>,
    metadata: Range<usize>,
}

/// Everything before the digits of the version, and everything after them.
fn write_object(object: &Value, metadata: Option<&Map<String, Value>>) -> Written {
    const VERSION: &str = "resourceVersion";
    let mut head = b"{".to_vec();
    let mut entries: Vec<_> = object.as_object().into_iter().flatten().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    let (before, after): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|(key, _)| key.as_str() < "metadata");
    write_entries(&before, &mut head);
    if !before.is_empty() {
        head.push(b',');
    }
    head.extend_from_slice(b"\"metadata\":");
    let start = head.len();
    head.push(b'{');
    let mut entries: Vec<_> = metadata.into_iter().flatten().filter(|(key, _)| *key != VERSION).collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    let (above, below): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(key, _)| key.as_str() < VERSION);
    write_entries(&above, &mut head);
    if !above.is_empty() {
        head.push(b',');
    }
    head.extend_from_slice(b"\"resourceVersion\":\"");
    let mut tail = b"\"".to_vec();
    if !below.is_empty() {
        tail.push(b',');
    }
    write_entries(&below, &mut tail);
    tail.push(b'}');
    let end = head.len() + tail.len();
    let rest: Vec<_> = after.into_iter().filter(|(key, _)| *key != "metadata").collect();
    if !rest.is_empty() {
        tail.push(b',');
    }
    write_entries(&rest, &mut tail);
    tail.push(b'}');
    Written { head, tail, metadata: start..end }
}

/// Digest of what is wanted: without the version and without the status, which moves by itself.
fn wanted(object: &Value, metadata: Option<&Map<String, Value>>) -> [u8; 32] {
    let mut bytes = Vec::new();
    for (map, skipped) in [(metadata, "resourceVersion"), (object.as_object(), "status")] {
        let mut entries: Vec<_> = map.into_iter().flatten().collect();
        entries.retain(|(key, _)| *key != skipped && *key != "metadata");
        entries.sort_unstable_by_key(|(key, _)| *key);
        write_entries(&entries, &mut bytes);
        bytes.push(0);
    }
    Sha256::digest(&bytes).into()
}

fn write_entries(entries: &[(&String, &Value)], out: &mut Vec<u8>) {
    for (index, (key, value)) in entries.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_text(key, out);
        out.push(b':');
        write_value(value, out);
    }
}

fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            if !entries.is_sorted_by_key(|(key, _)| *key) {
                entries.sort_unstable_by_key(|(key, _)| *key);
            }
            out.push(b'{');
            write_entries(&entries, out);
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_value(item, out);
            }
            out.push(b']');
        }
        Value::String(text) => write_text(text, out),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            out.extend_from_slice(value.to_string().as_bytes())
        }
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    let plain = text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\');
    if plain {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        out.extend_from_slice(Value::from(text).to_string().as_bytes());
    }
}

fn fill(map: &mut Map<String, Value>, field: &'static str, expected: &str) -> Result<(), PublishError> {
    match map.get(field) {
        None => {
            map.insert(field.to_owned(), Value::from(expected));
            Ok(())
        }
        Some(Value::String(found)) if found == expected => Ok(()),
        Some(found) => {
            let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
            Err(PublishError::OtherKind { field, found, expected: expected.to_owned() })
        }
    }
}

fn key(
    metadata: Option<&Map<String, Value>>,
    definition: &ResourceDefinition,
) -> Result<ObjectKey, PublishError> {
    let text = |name: &str| metadata.and_then(|m| m.get(name)).and_then(Value::as_str).unwrap_or_default();
    let name = text("name");
    if !is_path_segment(name) {
        return Err(PublishError::Name { kind: definition.kind.clone(), found: name.to_owned() });
    }
    let namespace = text("namespace");
    let namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
    let key = ObjectKey { namespace, name: name.to_owned() };
    let fits = match &key.namespace {
        None => !definition.namespaced(),
        Some(namespace) => definition.namespaced() && is_path_segment(namespace),
    };
    if fits { Ok(key) } else { Err(PublishError::Namespace { key }) }
}

fn is_path_segment(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '%']) && name.len() <= 253
}

fn labels(
    metadata: Option<&Map<String, Value>>,
    key: &ObjectKey,
) -> Result<BTreeMap<String, String>, PublishError> {
    match metadata.and_then(|metadata| metadata.get("labels")) {
        None | Some(Value::Null) => Ok(BTreeMap::new()),
        Some(Value::Object(labels)) => labels
            .iter()
            .map(|(label, value)| value.as_str().map(|value| (label.clone(), value.to_owned())))
            .collect::<Option<_>>()
            .ok_or_else(|| PublishError::Labels { key: key.clone() }),
        Some(_) => Err(PublishError::Labels { key: key.clone() }),
    }
}

/// A selectable field's value as selectors compare it.
fn scalar(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
        _ => String::new(),
    }
}
