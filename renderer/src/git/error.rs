//! What can go wrong on the way into Git. No message holds a password: addresses are shown without user information.

use std::path::PathBuf;

use crate::finding::Findings;

/// Why nothing was committed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The repository cannot be opened or made.
    #[error("cannot open the repository {location}")]
    Open {
        /// Which one.
        location: String,
        /// Why.
        source: git2::Error,
    },
    /// The remote repository cannot be read.
    #[error("cannot read {reference} from {location}")]
    Fetch {
        /// Which repository.
        location: String,
        /// Which branch.
        reference: String,
        /// Why.
        source: git2::Error,
    },
    /// The remote repository cannot be written to; nobody refused, it failed.
    #[error("cannot push {reference} to {location}")]
    Push {
        /// Which repository.
        location: String,
        /// Which branch.
        reference: String,
        /// Why.
        source: git2::Error,
    },
    /// The repository refused the branch.
    #[error("{reference} was refused: {reason}")]
    Refused {
        /// Which branch.
        reference: String,
        /// In the words of the repository.
        reason: String,
    },
    /// Somebody else was faster each time.
    #[error("{reference} moved on in each of {attempts} attempts")]
    Contended {
        /// Which branch.
        reference: String,
        /// How many there were.
        attempts: u32,
    },
    /// A server rejected who we are, or we have nothing to say who we are.
    #[error("{location} did not accept {who}")]
    Credentials {
        /// Which repository.
        location: String,
        /// How we tried.
        who: String,
    },
    /// A password file cannot be read.
    #[error("cannot read the password file {}", path.display())]
    PasswordFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// This build does not speak the protocol of an address.
    #[error("this build cannot reach {location}: it was built without the feature `{feature}`")]
    Protocol {
        /// Which repository.
        location: String,
        /// Cargo feature that brings it.
        feature: &'static str,
    },
    /// A branch name that Git does not allow.
    #[error("{branch:?} cannot be a branch")]
    Branch {
        /// The name.
        branch: String,
    },
    /// The objects of the branch cannot be read or written.
    #[error("cannot {operation}")]
    Objects {
        /// What was tried.
        operation: String,
        /// Why.
        source: git2::Error,
    },
    /// The ownership manifest is there and cannot be understood; without it we do not know what is ours.
    #[error("the ownership manifest {path} cannot be understood")]
    Manifest {
        /// Its path.
        path: String,
        /// Why.
        source: serde_json::Error,
    },
    /// Somebody else's file is where ours must go.
    #[error("{} in the way that we did not render: {}", files(paths.len()), paths.join(", "))]
    Foreign {
        /// The files.
        paths: Vec<String>,
    },
    /// Our files were edited by somebody else.
    #[error("{} edited by hand since the last render: {}", files(paths.len()), paths.join(", "))]
    Edited {
        /// The files.
        paths: Vec<String>,
    },
    /// More or fewer Flux Kustomizations would disappear than were accepted.
    #[error("{} Flux Kustomization(s) would leave and {accepted} accepted: {}", layers.len(), layers.join(", "))]
    Removals {
        /// How many were accepted.
        accepted: usize,
        /// Which would be removed.
        layers: Vec<String>,
    },
    /// Something that was committed once would change although it cannot.
    #[error("the change cannot be made to what is already there")]
    History(#[source] Findings),
    /// What Flux has on the cluster cannot be understood.
    #[error("this is no list of Flux Kustomizations")]
    Observed {
        /// Why, when it is not JSON.
        source: Option<serde_json::Error>,
    },
    /// It took too long.
    #[error("gave up on {location} after {seconds} s")]
    Deadline {
        /// Which repository.
        location: String,
        /// How long we waited.
        seconds: u64,
    },
    /// The thread that talks to Git ended without an answer.
    #[error("the Git thread ended without an answer")]
    Thread,
}

impl GitError {
    /// What to do about it, where that is not plain from the message.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Foreign { .. } => {
                Some("move them away, or give the topology a repository or management name of its own")
            }
            Self::Edited { .. } => {
                Some("put the change into the topology, or commit with --overwrite-edited")
            }
            Self::Removals { .. } => Some(
                "look at `diff`; their objects may be deleted. Then commit with --accept-removals and that number",
            ),
            Self::Observed { .. } => Some(
                "kubectl get kustomizations.kustomize.toolkit.fluxcd.io --all-namespaces --output json prints it",
            ),
            Self::Manifest { .. } => Some("restore the file from the history of the branch"),
            Self::Credentials { .. } => Some("give --username and --password-file"),
            _ => None,
        }
    }
}

fn files(count: usize) -> String {
    if count == 1 { "a file was".to_owned() } else { format!("{count} files were") }
}

/// Wraps an object database error with what was tried.
pub(super) fn objects(operation: impl Into<String>) -> impl FnOnce(git2::Error) -> GitError {
    let operation = operation.into();
    move |source| GitError::Objects { operation, source }
}
