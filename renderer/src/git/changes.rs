//! What a commit would change: compared blob by blob, with everything that is not ours left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use git2::{ObjectType, Oid, Repository, Tree};

use super::error::objects;
use super::manifest::{self, Manifest};
use super::{EditedFiles, GitError};
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
        edited_files: EditedFiles,
    ) -> Result<Self, GitError> {
        let mut changes = Self::default();
        let (mut foreign, mut edited) = (Vec::new(), Vec::new());
        let mut blobs = BTreeMap::new();
        for (path, file) in &rendered.files {
            let blob = hash(file.text.as_bytes())?;
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
            changes.writes.insert(path.clone(), file.text.clone().into_bytes());
        }
        for path in manifest.paths().filter(|path| !rendered.files.contains_key(*path)) {
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
        if !edited.is_empty() && edited_files == EditedFiles::Refuse {
            return Err(GitError::Edited { paths: edited });
        }
        changes.write_manifest(repository, base, manifest, rendered, &blobs)?;
        Ok(changes)
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
        let new = Manifest::of(&rendered.topology, files);
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

    /// Names of the Flux Kustomizations that would disappear.
    pub(super) fn removed_layers(&self) -> Vec<String> {
        let files = self.removals.iter().filter_map(|path| path.split_once("/flux/"));
        files.filter_map(|(_, file)| file.strip_suffix(".yaml")).map(str::to_owned).collect()
    }

    /// A cluster that leaves, or a layer, is acknowledged by number: a mistake in the topology must not delete a cloud.
    pub(super) fn check_removals(&self, accepted: usize) -> Result<(), GitError> {
        let layers = self.removed_layers();
        if layers.len() == accepted || (layers.is_empty() && self.removed == 0) {
            Ok(())
        } else {
            Err(GitError::Removals { accepted, layers })
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
