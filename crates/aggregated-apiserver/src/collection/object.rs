//! One published object: its bytes, and what is looked at without parsing them.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use jiff::Timestamp;

use super::ring::EventKind;
use crate::version::ResourceVersion;

/// Name of an object within its resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// Its namespace, if the resource is namespaced.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

impl ObjectKey {
    /// Key of a cluster-scoped object.
    pub fn cluster(name: impl Into<String>) -> Self {
        Self { namespace: None, name: name.into() }
    }

    /// Key of a namespaced object.
    pub fn namespaced(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: Some(namespace.into()), name: name.into() }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(formatter, "{namespace}/{}", self.name),
            None => self.name.fmt(formatter),
        }
    }
}

/// One cell of a table row. Ages are written when they are asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// JSON text.
    Fixed(String),
    /// Since when.
    Since(Timestamp),
}

/// An object as clients see it.
#[derive(Clone)]
pub struct PublishedObject {
    pub(super) key: ObjectKey,
    pub(super) uid: String,
    pub(super) version: ResourceVersion,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) fields: Box<[String]>,
    pub(super) cells: Box<[Cell]>,
    pub(super) json: Bytes,
    pub(super) metadata: Range<usize>,
    pub(super) version_digits: Range<usize>,
}

impl PublishedObject {
    /// Its name.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// Its UID.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// Its version.
    pub fn version(&self) -> ResourceVersion {
        self.version
    }

    /// Its labels.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// The object as JSON.
    pub fn json(&self) -> &Bytes {
        &self.json
    }

    /// Values of the definition's selectable fields, in their order.
    pub(crate) fn fields(&self) -> &[String] {
        &self.fields
    }

    /// Cells of the definition's columns, in their order.
    pub(crate) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The value of `metadata` as JSON.
    pub(crate) fn metadata_json(&self) -> &[u8] {
        self.json.get(self.metadata.clone()).unwrap_or_default()
    }

    /// True when every selector that matches the one matches the other.
    pub(super) fn selects_like(&self, other: &Self) -> bool {
        self.labels == other.labels && self.fields == other.fields
    }

    /// The same object under another version.
    pub(crate) fn reissued(&self, version: ResourceVersion, kind: EventKind) -> (Bytes, Self) {
        let head = self.json.get(..self.version_digits.start).unwrap_or_default();
        let tail = self.json.get(self.version_digits.end..).unwrap_or_default();
        let written = super::encode::frame(kind, head, version, tail);
        let grown = written.digits.len();
        let metadata = self.metadata.start..self.metadata.end - self.version_digits.len() + grown;
        let object =
            Self { version, json: written.json, metadata, version_digits: written.digits, ..self.clone() };
        (written.frame, object)
    }
}

impl PublishedObject {
    /// The same object without a version, as a creation that is only tried is answered.
    pub(crate) fn unversioned(mut self) -> Self {
        const NAME: &[u8] = b"\"resourceVersion\":\"";
        let (mut start, mut end) =
            (self.version_digits.start.saturating_sub(NAME.len()), self.version_digits.end + 1);
        match (self.json.get(end), start.checked_sub(1).and_then(|before| self.json.get(before))) {
            (Some(b','), _) => end += 1,
            (_, Some(b',')) => start -= 1,
            _ => {}
        }
        let mut json = self.json.get(..start).unwrap_or_default().to_vec();
        json.extend_from_slice(self.json.get(end..).unwrap_or_default());
        self.metadata.end -= end - start;
        self.version_digits = start..start;
        self.json = json.into();
        self
    }
}

impl fmt::Debug for PublishedObject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PublishedObject")
            .field("key", &self.key)
            .field("uid", &self.uid)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
