//! Commit: rendered files into Git, without a work tree, without touching what is not ours.
//!
//! ```text
//! tip of the branch ─► changes (what we own, what differs) ─► new tree ─► commit ─► publish ─┬► accepted
//!        ▲                                                                                  ├► refused, tip unmoved: report
//!        └────────────────── somebody else was faster: everything again on the new tip ◄────┘
//! ```
//! Every attempt starts from the tip and from the ownership manifest *in* that tip; nothing is remembered between attempts, so a lost race
//! can never bring back an older state of anybody's file.

mod changes;
mod diff;
mod directory;
mod error;
mod history;
mod location;
mod manifest;
mod message;
mod observed;
mod remote;
mod removal;
mod tree;
mod worker;

use std::collections::BTreeMap;

use git2::{Oid, Repository};

use crate::render::Rendered;
use changes::Changes;
use manifest::Manifest;

pub use diff::{ClusterDiff, Diff, ObjectReference};
pub use error::GitError;
pub use history::{HISTORY_RULES, HistoryRule};
pub use location::{Credentials, Location};
pub use message::{Author, Provenance};
pub use observed::Observed;
pub use worker::{commit, diff};

/// What to do with our files that somebody edited.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum EditedFiles {
    /// Stop and name them.
    #[default]
    Refuse,
    /// Replace them by what was rendered.
    Overwrite,
}

/// How to commit.
#[derive(Clone, Debug)]
pub struct CommitOptions {
    /// Branch, without `refs/heads/`.
    pub branch: String,
    /// Who commits.
    pub author: Author,
    /// Our files that somebody edited.
    pub edited: EditedFiles,
    /// How many more Flux Kustomizations may leave. Any other number than the real one stops the commit.
    pub accepted_removals: usize,
    /// What Flux has on the cluster. Without it nothing leaves; it is only announced.
    pub observed: Option<Observed>,
    /// How often to start over when somebody else was faster.
    pub attempts: u32,
    /// How long everything may take.
    pub deadline: std::time::Duration,
}

impl Default for CommitOptions {
    fn default() -> Self {
        Self {
            branch: "main".to_owned(),
            author: Author::default(),
            edited: EditedFiles::Refuse,
            accepted_removals: 0,
            observed: None,
            attempts: 10,
            deadline: std::time::Duration::from_secs(300),
        }
    }
}

/// How it ended.
#[derive(Clone, Debug, Eq, PartialEq, serde::Serialize)]
#[serde(tag = "outcome", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Outcome {
    /// The branch already held exactly this; nothing was written.
    Unchanged {
        /// The commit that holds it.
        commit: String,
        /// Layers that are on their way out, each with what it waits for.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        leaving: BTreeMap<String, String>,
    },
    /// A commit was published.
    Committed {
        /// The commit.
        commit: String,
        /// Files that are new.
        added: usize,
        /// Files that differ.
        changed: usize,
        /// Files that are gone.
        removed: usize,
        /// How often somebody else was faster.
        lost_races: u32,
        /// Layers that are on their way out, each with what it waits for.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        leaving: BTreeMap<String, String>,
    },
}

/// Where commits go: one repository and one branch of it.
trait Upstream {
    /// The repository that objects are written to.
    fn repository(&self) -> &Repository;
    /// The newest commit of the branch, with all its objects at hand.
    fn tip(&mut self) -> Result<Option<Oid>, GitError>;
    /// Moves the branch from `from` to `to`.
    fn publish(&mut self, from: Option<Oid>, to: Oid) -> Result<Verdict, GitError>;
}

/// What became of an attempt to move a branch.
enum Verdict {
    /// It moved.
    Accepted,
    /// Somebody else moved it, or is about to.
    Lost,
    /// It did not move; whether by a race or on purpose, the text does not tell reliably.
    Refused(String),
}

/// A commit that is written and not yet published.
struct Prepared {
    commit: Oid,
    added: usize,
    changed: usize,
    removed: usize,
    leaving: BTreeMap<String, String>,
}

/// The loop of the picture above.
fn commit_to(
    upstream: &mut dyn Upstream,
    rendered: &Rendered,
    provenance: &Provenance,
    options: &CommitOptions,
) -> Result<Outcome, GitError> {
    for lost_races in 0..options.attempts.max(1) {
        let tip = upstream.tip()?;
        let prepared = prepare(upstream.repository(), tip, rendered, provenance, options)?;
        let Prepared { commit, added, changed, removed, leaving } = match prepared {
            Ok(prepared) => prepared,
            Err(leaving) => {
                let commit = tip.map(|tip| tip.to_string()).unwrap_or_default();
                return Ok(Outcome::Unchanged { commit, leaving });
            }
        };
        match upstream.publish(tip, commit)? {
            Verdict::Accepted => {
                return Ok(Outcome::Committed {
                    commit: commit.to_string(),
                    added,
                    changed,
                    removed,
                    lost_races,
                    leaving,
                });
            }
            Verdict::Lost => {}
            Verdict::Refused(reason) => {
                if !moved_on(upstream, tip, pause(lost_races))? {
                    return Err(GitError::Refused { reference: reference(&options.branch), reason });
                }
            }
        }
        tracing::info!(branch = %options.branch, lost_races = lost_races + 1, "somebody else was faster, starting over");
        std::thread::sleep(pause(lost_races));
    }
    Err(GitError::Contended { reference: reference(&options.branch), attempts: options.attempts.max(1) })
}

/// Servers phrase a lost race in many ways; whether the branch moved says it in one. Another writer may hold the branch's lock and not have
/// moved it yet, so a branch that stands still is looked at twice.
fn moved_on(
    upstream: &mut dyn Upstream,
    tip: Option<Oid>,
    pause: std::time::Duration,
) -> Result<bool, GitError> {
    if upstream.tip()? != tip {
        return Ok(true);
    }
    std::thread::sleep(pause);
    Ok(upstream.tip()? != tip)
}

/// Writes the commit on top of the tip. When the tip already holds it all, only what is still on its way out is left to say.
fn prepare(
    repository: &Repository,
    tip: Option<Oid>,
    rendered: &Rendered,
    provenance: &Provenance,
    options: &CommitOptions,
) -> Result<Result<Prepared, BTreeMap<String, String>>, GitError> {
    let base = tip.map(|tip| tree::of_commit(repository, tip)).transpose()?;
    let manifest = Manifest::read(repository, base.as_ref(), &rendered.topology)?;
    let changes = Changes::between(repository, base.as_ref(), &manifest, rendered, options)?;
    changes.check(options.accepted_removals)?;
    if changes.is_empty() {
        return Ok(Err(changes.removal.waiting));
    }
    let new_tree = tree::apply(repository, base.as_ref(), &changes.writes, &changes.removals)?;
    let commit = message::write(repository, new_tree, tip, &changes, provenance, options)?;
    let Changes { added, changed, removed, removal, .. } = changes;
    Ok(Ok(Prepared { commit, added, changed, removed, leaving: removal.waiting }))
}

fn reference(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

/// Longer each time, and different between processes, so that two writers do not keep step.
fn pause(lost_races: u32) -> std::time::Duration {
    let base = 50_u64.saturating_mul(1 << lost_races.min(6));
    std::time::Duration::from_millis(base + u64::from(std::process::id() % 50))
}
