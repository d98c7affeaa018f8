//! The commit: who, what, and from what it was rendered.

use git2::{Oid, Repository, Signature, Time};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::changes::Changes;
use super::error::objects;
use super::{CommitOptions, GitError};

/// Who commits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Author {
    /// Name.
    pub name: String,
    /// E-mail address.
    pub email: String,
}

impl Default for Author {
    fn default() -> Self {
        Self { name: "c5c3-renderer".to_owned(), email: "c5c3-renderer@localhost".to_owned() }
    }
}

/// From what was rendered: the commit says it, so that anybody can render the same again.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Provenance {
    /// Name of the topology.
    pub topology: String,
    /// Digest of the topology as declared, whatever its layout and comments.
    pub digest: String,
    /// Version of the renderer.
    pub version: String,
    /// Time of the commit in seconds since 1970; now, when absent.
    pub time: Option<i64>,
}

impl Provenance {
    /// Of a declared topology, rendered by this version.
    #[must_use]
    pub fn of(topology: &c5c3_api::topology::Topology) -> Self {
        // Through a JSON value, whose fields are sorted: the digest does not depend on the order of declaration in the types.
        let canonical = serde_json::to_value(topology).unwrap_or(Value::Null).to_string();
        let digest: String = Sha256::digest(canonical).iter().map(|byte| format!("{byte:02x}")).collect();
        Self {
            topology: topology.metadata.name.clone(),
            digest: format!("sha256:{digest}"),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            time: None,
        }
    }
}

/// Writes the commit object; the branch does not move yet.
pub(super) fn write(
    repository: &Repository,
    tree: Oid,
    parent: Option<Oid>,
    changes: &Changes,
    provenance: &Provenance,
    options: &CommitOptions,
) -> Result<Oid, GitError> {
    let author = &options.author;
    let signature = match provenance.time {
        Some(seconds) => Signature::new(&author.name, &author.email, &Time::new(seconds, 0)),
        None => Signature::now(&author.name, &author.email),
    };
    let signature = signature.map_err(objects("use that author"))?;
    let tree = repository.find_tree(tree).map_err(objects("read the new tree"))?;
    let parent = parent.map(|id| repository.find_commit(id)).transpose().map_err(objects("read the tip"))?;
    let parents: Vec<_> = parent.iter().collect();
    let text = text(changes, provenance);
    repository
        .commit(None, &signature, &signature, &text, &tree, &parents)
        .map_err(objects("write the commit"))
}

fn text(changes: &Changes, provenance: &Provenance) -> String {
    let Provenance { topology, digest, version, .. } = provenance;
    let Changes { added, changed, removed, .. } = changes;
    let mut text =
        format!("Render topology {topology}\n\n{added} added, {changed} changed, {removed} removed.\n");
    let now = &changes.removal.now;
    if !now.is_empty() {
        text.push_str(&format!("Flux Kustomizations removed: {}.\n", now.join(", ")));
    }
    let later: Vec<&str> = changes.removal.waiting.keys().map(String::as_str).collect();
    if !later.is_empty() {
        text.push_str(&format!("Flux Kustomizations that will leave: {}.\n", later.join(", ")));
    }
    text.push_str(&format!("\nTopology-Digest: {digest}\nRendered-By: c5c3-renderer {version}\n"));
    text
}
