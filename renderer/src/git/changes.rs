//! What a commit would change: compared blob by blob, with everything that is not ours left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use git2::{ObjectType, Oid, Repository, Tree};

use super::error::objects;
use super::history::{self, New, Old};
use super::manifest::{self, Manifest};
use super::removal::Removal;
use super::{CommitOptions, EditedFiles, GitError};
use crate::finding::{Finding, Findings};
use crate::render::Rendered;

/// The difference between a tree and what was rendered.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Files to write, with their bytes.
    pub(super) writes: BTreeMap<String, Vec<u8>>,
    /// Files to remove.
    pub(super) removals: BTreeSet<String>,
    /// How many rendered files are new.
    pub(super) added: usize,
    /// How many differ.
    pub(super) changed: usize,
    /// How many are gone.
    pub(super) removed: usize,
    /// Layers that leave, now or later.
    pub(super) removal: Removal,
    /// Those of them whose removal nobody has accepted yet.
    pub(super) unaccepted: Vec<String>,
    /// What may not change and would.
    pub(super) history: Vec<Finding>,
}

/// What stands at a path of a tree.
enum Standing {
    Nothing,
    File(Oid),
    /// A folder, a link, a submodule, an executable: never ours.
    Other,
}

impl Changes {
    pub(super) fn between(
        repository: &Repository,
        base: Option<&Tree<'_>>,
        manifest: &Manifest,
        rendered: &Rendered,
        options: &CommitOptions,
    ) -> Result<Self, GitError> {
        let removal = Removal::plan(repository, base, manifest, rendered, options.observed.as_ref())?;
        let mut changes = Self { removal, ..Self::default() };
        let (mut foreign, mut edited) = (Vec::new(), Vec::new());
        let mut blobs = BTreeMap::new();
        let root_index = changes.removal.root_index(rendered);
        for (path, file) in &rendered.files {
            let bytes = match &root_index {
                Some(text) if *path == rendered.root_index() => text.as_bytes(),
                _ => file.text.as_bytes(),
            };
            let blob = hash(bytes)?;
            blobs.insert(path.as_str(), blob);
            match standing(repository, base, path)? {
                Standing::Nothing => changes.added += 1,
                Standing::File(found) if found == blob => continue,
                Standing::File(found) if manifest.owns(path) => {
                    if !manifest.wrote(path, found) {
                        edited.push(path.clone());
                    }
                    changes.changed += 1;
                }
                Standing::File(_) | Standing::Other => foreign.push(path.clone()),
            }
            changes.writes.insert(path.clone(), bytes.to_vec());
        }
        let gone = manifest.paths().filter(|path| !rendered.files.contains_key(*path));
        let gone: Vec<&str> = gone.filter(|path| !changes.removal.retains(path)).collect();
        for path in gone {
            match standing(repository, base, path)? {
                Standing::Nothing => {}
                Standing::File(found) => {
                    if !manifest.wrote(path, found) {
                        edited.push(path.to_owned());
                    }
                    changes.removals.insert(path.to_owned());
                    changes.removed += 1;
                }
                Standing::Other => foreign.push(path.to_owned()),
            }
        }
        if !foreign.is_empty() {
            return Err(GitError::Foreign { paths: foreign });
        }
        if !edited.is_empty() && options.edited == EditedFiles::Refuse {
            return Err(GitError::Edited { paths: edited });
        }
        changes.compare_with_history(repository, base, manifest, rendered)?;
        changes.write_manifest(repository, base, manifest, rendered, &blobs)?;
        changes.unaccepted =
            changes.removal.names().into_iter().filter(|name| !manifest.is_leaving(name)).collect();
        Ok(changes)
    }

    /// Looks at objects that change or go, beside those that come.
    fn compare_with_history(
        &mut self,
        repository: &Repository,
        base: Option<&Tree<'_>>,
        manifest: &Manifest,
        rendered: &Rendered,
    ) -> Result<(), GitError> {
        // What is announced to leave is as good as gone: later it is too late to ask.
        let announced = self.removal.retained();
        let differing =
            self.writes.keys().filter(|path| manifest.owns(path)).chain(&self.removals).chain(announced);
        let mut old = Vec::new();
        for path in differing.filter(|path| path.ends_with(".yaml")) {
            let Standing::File(id) = standing(repository, base, path)? else {
                continue;
            };
            let blob = repository.find_blob(id).map_err(objects(format!("read {path}")))?;
            // A file that somebody has broken says nothing about what was committed.
            if let Ok(object) = serde_saphyr::from_str(&String::from_utf8_lossy(blob.content())) {
                let cluster = manifest.cluster(path).unwrap_or_default().to_owned();
                old.push(Old { path: path.clone(), cluster, object });
            }
        }
        if old.is_empty() {
            return Ok(());
        }
        let mut new = Vec::new();
        for (path, file) in &rendered.files {
            if self.writes.contains_key(path)
                && path.ends_with(".yaml")
                && let Ok(object) = serde_saphyr::from_str(&file.text)
            {
                new.push(New { cluster: file.cluster.clone(), object, position: file.position.clone() });
            }
        }
        self.history = history::compare(&old, &new);
        Ok(())
    }

    fn write_manifest(
        &mut self,
        repository: &Repository,
        base: Option<&Tree<'_>>,
        old: &Manifest,
        rendered: &Rendered,
        blobs: &BTreeMap<&str, Oid>,
    ) -> Result<(), GitError> {
        let files = rendered.files.iter().filter_map(|(path, file)| {
            blobs.get(path.as_str()).map(|blob| (path.as_str(), *blob, file.cluster.as_str()))
        });
        let waiting = self.removal.waiting.keys().cloned().collect();
        let mut new = Manifest::of(&rendered.topology, files, waiting);
        for path in self.removal.retained() {
            new.keep(old, path);
        }
        let path = manifest::path(&rendered.topology);
        let exists = matches!(standing(repository, base, &path)?, Standing::File(_));
        if new != *old || !exists {
            self.writes.insert(path, new.text().into_bytes());
        }
        Ok(())
    }

    /// Nothing to commit.
    pub(super) fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.removals.is_empty()
    }

    /// A cluster that leaves, or a layer, is acknowledged by number, once: a mistake in the topology must not take down a cloud.
    pub(super) fn check(&self, accepted: usize) -> Result<(), GitError> {
        if !self.history.is_empty() {
            return Err(GitError::History(Findings(self.history.clone())));
        }
        if self.unaccepted.is_empty() || self.unaccepted.len() == accepted {
            Ok(())
        } else {
            Err(GitError::Removals { accepted, layers: self.unaccepted.clone() })
        }
    }
}

/// The id that a blob would have; nothing is written.
fn hash(bytes: &[u8]) -> Result<Oid, GitError> {
    Oid::hash_object(ObjectType::Blob, bytes).map_err(objects("hash a file"))
}

fn standing(repository: &Repository, base: Option<&Tree<'_>>, path: &str) -> Result<Standing, GitError> {
    let Some(base) = base else {
        return Ok(Standing::Nothing);
    };
    let entry = match base.get_path(Path::new(path)) {
        Ok(entry) => entry,
        Err(error) if error.code() == git2::ErrorCode::NotFound => return blocked(repository, base, path),
        Err(source) => return Err(objects(format!("look for {path}"))(source)),
    };
    Ok(if entry.kind() == Some(ObjectType::Blob) && entry.filemode() == 0o100_644 {
        Standing::File(entry.id())
    } else {
        Standing::Other
    })
}

/// Whether something that is no folder stands where one of the path's folders must be.
fn blocked(repository: &Repository, base: &Tree<'_>, path: &str) -> Result<Standing, GitError> {
    let mut tree = base.clone();
    for part in path.split('/') {
        let Some((id, kind)) = tree.get_name(part).map(|entry| (entry.id(), entry.kind())) else {
            return Ok(Standing::Nothing);
        };
        if kind != Some(ObjectType::Tree) {
            return Ok(Standing::Other);
        }
        tree = repository.find_tree(id).map_err(objects(format!("read the folder {part}")))?;
    }
    Ok(Standing::Other)
}
