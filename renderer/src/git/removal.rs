//! Removal in stages: layers leave Git in the reverse of their order, each only when everything that needs it is gone from the cluster.
//!
//! ```text
//! topology without the entry ─commit─► announced: all stay in Git, and are remembered as leaving
//!                            ─commit─► the last wave leaves, once Flux is seen to know what becomes of its objects
//!                            ─commit─► the wave before it, once the last one is seen to be gone …
//! ```
//! Nothing is remembered but the names, in the ownership manifest; the rest is read from Git and from the cluster each time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use git2::{Repository, Tree};
use serde_json::Value;

use super::error::objects;
use super::manifest::Manifest;
use super::{GitError, Observed};
use crate::render::{Rendered, index_text};

/// A layer that the topology does not declare any more.
#[derive(Clone, Debug, Default)]
struct Leaving {
    name: String,
    file: String,
    folder: String,
    deletion: String,
    depends_on: Vec<String>,
}

/// What leaves now, and what stays a while.
#[derive(Debug, Default)]
pub(super) struct Removal {
    /// Names of layers that leave with this commit.
    pub(super) now: Vec<String>,
    /// Names of layers that leave later, with the reason.
    pub(super) waiting: BTreeMap<String, String>,
    /// Files that stay although they are not rendered any more.
    retained: BTreeSet<String>,
    retained_indexed: Vec<String>,
}

impl Removal {
    pub(super) fn plan(
        repository: &Repository,
        base: Option<&Tree<'_>>,
        manifest: &Manifest,
        rendered: &Rendered,
        observed: Option<&Observed>,
    ) -> Result<Self, GitError> {
        let leaving = leaving(repository, base, manifest, rendered)?;
        let mut removal = Self::default();
        for layer in &leaving {
            match blocked_by(layer, &leaving, observed) {
                None => removal.now.push(layer.name.clone()),
                Some(reason) => {
                    removal.waiting.insert(layer.name.clone(), reason);
                    removal.retain(layer, manifest, &rendered.root);
                }
            }
        }
        Ok(removal)
    }

    fn retain(&mut self, layer: &Leaving, manifest: &Manifest, root: &str) {
        self.retained.insert(layer.file.clone());
        self.retained_indexed.extend(layer.file.strip_prefix(&format!("{root}/")).map(str::to_owned));
        if !layer.folder.is_empty() {
            let prefix = format!("{}/", layer.folder);
            let files = manifest.paths().filter(|path| path.starts_with(&prefix));
            self.retained.extend(files.map(str::to_owned));
        }
    }

    /// Whether a file stays although it is not rendered.
    pub(super) fn retains(&self, path: &str) -> bool {
        self.retained.contains(path)
    }

    /// Files that stay although they are not rendered.
    pub(super) fn retained(&self) -> impl Iterator<Item = &String> {
        self.retained.iter()
    }

    /// All layers that are on their way out.
    pub(super) fn names(&self) -> BTreeSet<String> {
        self.now.iter().chain(self.waiting.keys()).cloned().collect()
    }

    /// The list of Kustomizations with those that stay a while; `None` when it is as rendered.
    pub(super) fn root_index(&self, rendered: &Rendered) -> Option<String> {
        if self.retained_indexed.is_empty() {
            return None;
        }
        let file = rendered.files.get(&rendered.root_index())?;
        let index: Value = serde_saphyr::from_str(&file.text).ok()?;
        let listed = index.get("resources").and_then(Value::as_array)?;
        let mut names: BTreeSet<&str> = listed.iter().filter_map(Value::as_str).collect();
        names.extend(self.retained_indexed.iter().map(String::as_str));
        Some(index_text(&rendered.topology, names.into_iter()))
    }
}

/// Why a layer cannot leave yet.
fn blocked_by(layer: &Leaving, leaving: &[Leaving], observed: Option<&Observed>) -> Option<String> {
    let name = layer.name.as_str();
    let waits = |other: &&Leaving| other.depends_on.iter().any(|dependency| dependency == name);
    if let Some(dependent) = leaving.iter().find(waits) {
        return Some(format!("{} needs it and leaves first", dependent.name));
    }
    let Some(observed) = observed else {
        return Some("nobody has looked at what Flux has: --observed".to_owned());
    };
    if let Some(dependent) = observed.dependent(name) {
        return Some(format!("{dependent} is still on the cluster and needs it"));
    }
    (!observed.has_policy(name, &layer.deletion))
        .then(|| format!("Flux does not know yet that its deletion policy is {:?}", layer.deletion))
}

fn leaving(
    repository: &Repository,
    base: Option<&Tree<'_>>,
    manifest: &Manifest,
    rendered: &Rendered,
) -> Result<Vec<Leaving>, GitError> {
    let folder = format!("{}/flux/", rendered.root);
    let gone =
        manifest.paths().filter(|path| path.starts_with(&folder) && !rendered.files.contains_key(*path));
    let mut all = Vec::new();
    for path in gone {
        let Some(entry) = base.and_then(|base| base.get_path(Path::new(path)).ok()) else {
            continue;
        };
        let blob = repository.find_blob(entry.id()).map_err(objects(format!("read {path}")))?;
        let text = String::from_utf8_lossy(blob.content()).into_owned();
        let object: Value = serde_saphyr::from_str(&text).unwrap_or_default();
        let field = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let fallback = path.strip_prefix(&folder).and_then(|file| file.strip_suffix(".yaml")).unwrap_or(path);
        let depends_on = object.pointer("/spec/dependsOn").and_then(Value::as_array).into_iter().flatten();
        let depends_on = depends_on.filter_map(|entry| entry.get("name").and_then(Value::as_str));
        all.push(Leaving {
            name: fallback.to_owned(),
            file: path.to_owned(),
            // Objects of another repository are not in a folder here.
            folder: field("/spec/path")
                .strip_prefix("./clusters/")
                .map_or_else(String::new, |rest| format!("clusters/{rest}")),
            deletion: field("/spec/deletionPolicy").to_owned(),
            depends_on: depends_on.map(str::to_owned).collect(),
        });
    }
    Ok(all)
}
