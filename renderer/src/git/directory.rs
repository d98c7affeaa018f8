//! A bare repository on this machine: objects go straight into it, and the branch moves by compare-and-swap.

use std::path::Path;

use git2::{ErrorCode, Oid, Repository, RepositoryInitOptions};

use super::{GitError, Upstream, Verdict, reference};

pub(super) struct Directory {
    repository: Repository,
    reference: String,
}

impl Directory {
    /// Opens the repository, or makes it.
    pub(super) fn open(path: &Path, branch: &str) -> Result<Self, GitError> {
        let fault = |source| GitError::Open { location: path.display().to_string(), source };
        let repository = match Repository::open_bare(path) {
            Ok(repository) => repository,
            Err(error) if error.code() == ErrorCode::NotFound => {
                let mut options = RepositoryInitOptions::new();
                options.bare(true).no_reinit(true).mkpath(true).external_template(false).initial_head(branch);
                Repository::init_opts(path, &options).map_err(fault)?
            }
            Err(error) => return Err(fault(error)),
        };
        Ok(Self { repository, reference: reference(branch) })
    }
}

impl Upstream for Directory {
    fn repository(&self) -> &Repository {
        &self.repository
    }

    fn tip(&mut self) -> Result<Option<Oid>, GitError> {
        match self.repository.refname_to_id(&self.reference) {
            Ok(tip) => Ok(Some(tip)),
            Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::UnbornBranch) => Ok(None),
            Err(source) => Err(GitError::Fetch {
                location: self.repository.path().display().to_string(),
                reference: self.reference.clone(),
                source,
            }),
        }
    }

    fn publish(&mut self, from: Option<Oid>, to: Oid) -> Result<Verdict, GitError> {
        let log = "c5c3-renderer: commit";
        let moved = match from {
            Some(from) => self.repository.reference_matching(&self.reference, to, true, from, log),
            None => self.repository.reference(&self.reference, to, false, log),
        };
        match moved {
            Ok(_) => Ok(Verdict::Accepted),
            Err(error) if is_lost_race(&error) => Ok(Verdict::Lost),
            Err(source) => Err(GitError::Push {
                location: self.repository.path().display().to_string(),
                reference: self.reference.clone(),
                source,
            }),
        }
    }
}

fn is_lost_race(error: &git2::Error) -> bool {
    matches!(error.code(), ErrorCode::Modified | ErrorCode::Exists | ErrorCode::Locked | ErrorCode::NotFound)
}
