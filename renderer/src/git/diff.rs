//! What a commit would do, for a person to read: files by cluster, and what Flux would delete.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use git2::{Repository, Tree};
use serde::Serialize;
use serde_json::Value;

use super::changes::Changes;
use super::error::objects;
use super::manifest::Manifest;
use super::{CommitOptions, EditedFiles, GitError};
use crate::finding::Finding;
use crate::render::Rendered;

/// The difference between a branch and what was rendered.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// By cluster whose tree it is.
    pub clusters: BTreeMap<String, ClusterDiff>,
    /// Objects that Flux will delete.
    pub pruned: Vec<ObjectReference>,
    /// Objects that leave Git and stay on their cluster.
    pub left_behind: Vec<ObjectReference>,
    /// Flux Kustomizations that leave with the next commit.
    pub removed_layers: Vec<String>,
    /// Flux Kustomizations that leave later, each with what it waits for.
    pub leaving: BTreeMap<String, String>,
    /// Leaving ones that nobody has accepted; their number is what a commit asks for.
    pub unaccepted: Vec<String>,
    /// What may not change and would; it stops a commit.
    pub refused: Vec<Finding>,
}

/// Files of one cluster's tree.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct ClusterDiff {
    /// New.
    pub added: Vec<String>,
    /// Different.
    pub changed: Vec<String>,
    /// Gone.
    pub removed: Vec<String>,
}

/// An object on a cluster.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReference {
    /// Cluster.
    pub cluster: String,
    /// API version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Namespace; empty for objects without one.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl Diff {
    /// Nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.clusters.is_empty() && self.leaving.is_empty()
    }
}

pub(super) fn between(
    repository: &Repository,
    base: Option<&Tree<'_>>,
    manifest: &Manifest,
    rendered: &Rendered,
    options: &CommitOptions,
) -> Result<Diff, GitError> {
    let options = CommitOptions { edited: EditedFiles::Overwrite, ..options.clone() };
    let changes = Changes::between(repository, base, manifest, rendered, &options)?;
    let mut diff = Diff {
        removed_layers: changes.removal.now.clone(),
        leaving: changes.removal.waiting.clone(),
        unaccepted: changes.unaccepted.clone(),
        refused: changes.history.clone(),
        ..Diff::default()
    };
    for path in changes.writes.keys() {
        let Some(file) = rendered.files.get(path) else {
            continue;
        };
        let cluster = diff.clusters.entry(file.cluster.clone()).or_default();
        let exists = base.is_some_and(|base| base.get_path(Path::new(path)).is_ok());
        if exists { &mut cluster.changed } else { &mut cluster.added }.push(path.clone());
    }
    for path in &changes.removals {
        let cluster = manifest.cluster(path).unwrap_or_default().to_owned();
        diff.clusters.entry(cluster).or_default().removed.push(path.clone());
    }
    let old = Old::read(repository, base, manifest, &changes)?;
    old.removed_objects(&changes, rendered, &mut diff);
    Ok(diff)
}

/// The objects in Git today.
struct Old {
    objects: BTreeMap<String, Value>,
    clusters: BTreeMap<String, String>,
}

impl Old {
    /// Those that differ or go; the others are as they will be.
    fn read(
        repository: &Repository,
        base: Option<&Tree<'_>>,
        manifest: &Manifest,
        changes: &Changes,
    ) -> Result<Self, GitError> {
        let mut old = Self { objects: BTreeMap::new(), clusters: BTreeMap::new() };
        let differing = changes.writes.keys().chain(&changes.removals).map(String::as_str);
        for path in differing.filter(|path| manifest.owns(path) && path.ends_with(".yaml")) {
            let Some(entry) = base.and_then(|base| base.get_path(Path::new(path)).ok()) else {
                continue;
            };
            let blob = repository.find_blob(entry.id()).map_err(objects(format!("read {path}")))?;
            let text = String::from_utf8_lossy(blob.content()).into_owned();
            // A file that is no object any more prunes nothing that we could name.
            if let Ok(object) = serde_saphyr::from_str::<Value>(&text) {
                old.objects.insert(path.to_owned(), object);
                old.clusters.insert(path.to_owned(), manifest.cluster(path).unwrap_or_default().to_owned());
            }
        }
        Ok(old)
    }

    fn reference(&self, path: &str, object: &Value) -> ObjectReference {
        let text =
            |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        ObjectReference {
            cluster: self.clusters.get(path).cloned().unwrap_or_default(),
            api_version: text("/apiVersion"),
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
        }
    }

    /// Objects whose identity is in Git today and will not be.
    fn removed_objects(&self, changes: &Changes, rendered: &Rendered, diff: &mut Diff) {
        let orphaned = self.orphaned_folders(changes);
        let mut kept: BTreeSet<ObjectReference> = BTreeSet::new();
        let coming = rendered.files.iter().filter(|(path, _)| changes.writes.contains_key(*path));
        for (path, file) in coming.filter(|(path, _)| path.ends_with(".yaml")) {
            if let Ok(object) = serde_saphyr::from_str::<Value>(&file.text) {
                let mut reference = self.reference(path, &object);
                reference.cluster.clone_from(&file.cluster);
                kept.insert(reference);
            }
        }
        for (path, object) in &self.objects {
            let reference = self.reference(path, object);
            if changes.removal.retains(path)
                || kept.contains(&reference)
                || reference.api_version.starts_with("kustomize.config.k8s.io/")
            {
                continue;
            }
            let annotation = object
                .pointer("/metadata/annotations")
                .and_then(|all| all.get(crate::plan::PRUNE_ANNOTATION));
            let protected = annotation.and_then(Value::as_str) == Some("disabled");
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let list =
                if protected || orphaned.contains(folder) { &mut diff.left_behind } else { &mut diff.pruned };
            list.push(reference);
        }
        diff.pruned.sort();
        diff.left_behind.sort();
    }

    /// Folders whose Flux Kustomization disappears and leaves its objects alone.
    fn orphaned_folders(&self, changes: &Changes) -> BTreeSet<String> {
        let removed = self.objects.iter().filter(|(path, _)| changes.removals.contains(*path));
        removed
            .filter(|(_, object)| {
                object.pointer("/spec/deletionPolicy").and_then(Value::as_str) == Some("Orphan")
            })
            .filter_map(|(_, object)| object.pointer("/spec/path").and_then(Value::as_str))
            .map(|path| path.trim_start_matches("./").to_owned())
            .collect()
    }
}

impl fmt::Display for ObjectReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.namespace.is_empty() { "" } else { "/" };
        write!(formatter, "{}: {} {}{separator}{}", self.cluster, self.kind, self.namespace, self.name)
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return writeln!(formatter, "no difference");
        }
        for (name, cluster) in &self.clusters {
            writeln!(formatter, "{name}:")?;
            for (sign, paths) in [('+', &cluster.added), ('~', &cluster.changed), ('-', &cluster.removed)] {
                for path in paths {
                    writeln!(formatter, "  {sign} {path}")?;
                }
            }
        }
        for (title, objects) in
            [("Flux will delete", &self.pruned), ("Flux will leave behind", &self.left_behind)]
        {
            if !objects.is_empty() {
                writeln!(formatter, "{title}:")?;
            }
            for object in objects {
                writeln!(formatter, "  {object}")?;
            }
        }
        for name in &self.removed_layers {
            writeln!(formatter, "leaves now: {name}")?;
        }
        for (name, reason) in &self.leaving {
            writeln!(formatter, "leaves later: {name}: {reason}")?;
        }
        for finding in &self.refused {
            writeln!(formatter, "{finding}")?;
        }
        if !self.unaccepted.is_empty() {
            let count = self.unaccepted.len();
            writeln!(
                formatter,
                "{count} Flux Kustomization(s) would leave: commit with --accept-removals {count}"
            )?;
        }
        Ok(())
    }
}
