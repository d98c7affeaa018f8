//! The ownership manifest: which files in the repository are ours, and what we last wrote into each.
//!
//! It lives in the repository beside the files, so that it always fits the tip that it is read from. A file that it does not list is
//! somebody else's; a file whose blob differs from the recorded one was edited by somebody else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use git2::{Oid, Repository, Tree};
use serde::{Deserialize, Serialize};

use super::GitError;
use super::error::objects;

/// Folder of manifests; one per topology.
const FOLDER: &str = ".c5c3-renderer";

/// What we own.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Manifest {
    /// Format of this file.
    version: u32,
    /// Name of the topology.
    topology: String,
    /// Layers that are on their way out, whose removal was accepted.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    leaving: BTreeSet<String>,
    /// Our files.
    files: BTreeMap<String, Entry>,
}

/// One of our files.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Entry {
    /// Blob that we wrote.
    blob: String,
    /// Cluster whose tree it belongs to.
    cluster: String,
}

/// Path of the manifest of a topology.
pub(super) fn path(topology: &str) -> String {
    format!("{FOLDER}/{topology}.json")
}

impl Manifest {
    /// Reads the manifest out of a tree; an absent one owns nothing.
    pub(super) fn read(
        repository: &Repository,
        base: Option<&Tree<'_>>,
        topology: &str,
    ) -> Result<Self, GitError> {
        let path = path(topology);
        let Some(entry) = base.and_then(|base| base.get_path(Path::new(&path)).ok()) else {
            return Ok(Self { version: 1, topology: topology.to_owned(), ..Self::default() });
        };
        let blob = repository.find_blob(entry.id()).map_err(objects(format!("read {path}")))?;
        serde_json::from_slice(blob.content()).map_err(|source| GitError::Manifest { path, source })
    }

    /// A manifest of the given files.
    pub(super) fn of<'file>(
        topology: &str,
        files: impl Iterator<Item = (&'file str, Oid, &'file str)>,
        leaving: BTreeSet<String>,
    ) -> Self {
        let files = files
            .map(|(path, blob, cluster)| {
                (path.to_owned(), Entry { blob: blob.to_string(), cluster: cluster.to_owned() })
            })
            .collect();
        Self { version: 1, topology: topology.to_owned(), leaving, files }
    }

    /// Its text: sorted, one file per line group, ends in a newline.
    pub(super) fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Takes over what an older manifest says of a file that stays.
    pub(super) fn keep(&mut self, old: &Self, path: &str) {
        if let Some(entry) = old.files.get(path) {
            self.files.insert(path.to_owned(), entry.clone());
        }
    }

    /// Whether the removal of a layer was accepted before.
    pub(super) fn is_leaving(&self, layer: &str) -> bool {
        self.leaving.contains(layer)
    }

    /// Paths of our files.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Whether a file is ours.
    pub(super) fn owns(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether a blob is what we last wrote to a path.
    pub(super) fn wrote(&self, path: &str, blob: Oid) -> bool {
        self.files.get(path).is_some_and(|entry| entry.blob == blob.to_string())
    }

    /// Cluster of one of our files.
    pub(super) fn cluster(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|entry| entry.cluster.as_str())
    }
}
