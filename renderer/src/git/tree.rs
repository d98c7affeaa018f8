//! Trees: the old one with some files written and some removed. Only what changes is written.

use std::collections::{BTreeMap, BTreeSet};

use git2::{ObjectType, Oid, Repository, Tree};

use super::GitError;
use super::error::objects;

const FILE: i32 = 0o100_644;
const FOLDER: i32 = 0o040_000;

/// The tree of a commit.
pub(super) fn of_commit(repository: &Repository, commit: Oid) -> Result<Tree<'_>, GitError> {
    let operation = || format!("read the tree of {commit}");
    repository.find_commit(commit).and_then(|commit| commit.tree()).map_err(objects(operation()))
}

/// One change below a folder.
#[derive(Debug)]
enum Change<'files> {
    Write(&'files [u8]),
    Remove,
    Below(BTreeMap<&'files str, Self>),
}

/// Applies the changes and returns the id of the new tree.
pub(super) fn apply(
    repository: &Repository,
    base: Option<&Tree<'_>>,
    writes: &BTreeMap<String, Vec<u8>>,
    removals: &BTreeSet<String>,
) -> Result<Oid, GitError> {
    let mut changes = BTreeMap::new();
    for (path, bytes) in writes {
        insert(&mut changes, path, Change::Write(bytes));
    }
    for path in removals {
        insert(&mut changes, path, Change::Remove);
    }
    let tree = build(repository, base, &changes)?;
    // A repository from which everything was removed still has a tree, an empty one.
    match tree {
        Some(tree) => Ok(tree),
        None => repository
            .treebuilder(None)
            .and_then(|builder| builder.write())
            .map_err(objects("write an empty tree")),
    }
}

fn insert<'files>(
    changes: &mut BTreeMap<&'files str, Change<'files>>,
    path: &'files str,
    change: Change<'files>,
) {
    match path.split_once('/') {
        None => {
            changes.insert(path, change);
        }
        Some((folder, rest)) => {
            let entry = changes.entry(folder).or_insert_with(|| Change::Below(BTreeMap::new()));
            if !matches!(entry, Change::Below(_)) {
                *entry = Change::Below(BTreeMap::new());
            }
            if let Change::Below(below) = entry {
                insert(below, rest, change);
            }
        }
    }
}

/// Writes the folder; `None` when nothing is left in it.
fn build(
    repository: &Repository,
    base: Option<&Tree<'_>>,
    changes: &BTreeMap<&str, Change<'_>>,
) -> Result<Option<Oid>, GitError> {
    let mut builder = repository.treebuilder(base).map_err(objects("begin a tree"))?;
    for (name, change) in changes {
        let existing = builder.get(name).map_err(objects(format!("look for {name}")))?;
        let existing = existing.map(|entry| (entry.id(), entry.kind()));
        match change {
            Change::Remove => {
                if existing.is_some() {
                    builder.remove(*name).map_err(objects(format!("remove {name}")))?;
                }
            }
            Change::Write(bytes) => {
                let blob = repository.blob(bytes).map_err(objects(format!("write {name}")))?;
                builder.insert(*name, blob, FILE).map_err(objects(format!("add {name}")))?;
            }
            Change::Below(below) => {
                let folder = match existing {
                    Some((id, Some(ObjectType::Tree))) => {
                        Some(repository.find_tree(id).map_err(objects(format!("read the folder {name}")))?)
                    }
                    _ => None,
                };
                match build(repository, folder.as_ref(), below)? {
                    Some(tree) => {
                        builder
                            .insert(*name, tree, FOLDER)
                            .map_err(objects(format!("add the folder {name}")))?;
                    }
                    None if existing.is_some() => {
                        builder.remove(*name).map_err(objects(format!("remove the folder {name}")))?;
                    }
                    None => {}
                }
            }
        }
    }
    if builder.is_empty() {
        return Ok(None);
    }
    builder.write().map(Some).map_err(objects("write a tree"))
}
