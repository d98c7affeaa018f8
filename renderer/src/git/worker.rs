//! The thread that talks to Git. libgit2 blocks, without limits of its own; here it gets one.

use std::sync::mpsc;
use std::time::Duration;

use super::diff::{self as difference, Diff};
use super::directory::Directory;
use super::manifest::Manifest;
use super::remote::Remote;
use super::{
    CommitOptions, Credentials, GitError, Location, Outcome, Provenance, Upstream, commit_to, reference, tree,
};
use crate::render::Rendered;

/// Commits rendered files to a branch of a repository.
///
/// # Errors
/// See [`GitError`]; in every case the branch is as it was, or moved on by others.
pub fn commit(
    rendered: &Rendered,
    provenance: &Provenance,
    location: &Location,
    credentials: &Credentials,
    options: &CommitOptions,
) -> Result<Outcome, GitError> {
    let (rendered, provenance, settings) = (rendered.clone(), provenance.clone(), options.clone());
    on_thread(location, credentials, &options.branch, options.deadline, move |upstream| {
        commit_to(upstream, &rendered, &provenance, &settings)
    })
}

/// Compares rendered files with a branch of a repository.
///
/// # Errors
/// See [`GitError`].
pub fn diff(
    rendered: &Rendered,
    location: &Location,
    credentials: &Credentials,
    options: &CommitOptions,
) -> Result<Diff, GitError> {
    let (rendered, settings) = (rendered.clone(), options.clone());
    on_thread(location, credentials, &options.branch, options.deadline, move |upstream| {
        let tip = upstream.tip()?;
        let base = tip.map(|tip| tree::of_commit(upstream.repository(), tip)).transpose()?;
        let manifest = Manifest::read(upstream.repository(), base.as_ref(), &rendered.topology)?;
        difference::between(upstream.repository(), base.as_ref(), &manifest, &rendered, &settings)
    })
}

fn on_thread<T: Send + 'static>(
    location: &Location,
    credentials: &Credentials,
    branch: &str,
    deadline: Duration,
    work: impl FnOnce(&mut dyn Upstream) -> Result<T, GitError> + Send + 'static,
) -> Result<T, GitError> {
    location.check_protocol()?;
    if !git2::Reference::is_valid_name(&reference(branch)) {
        return Err(GitError::Branch { branch: branch.to_owned() });
    }
    let (answer, result) = mpsc::sync_channel(1);
    let (place, who, name) = (location.clone(), credentials.clone(), branch.to_owned());
    let thread = std::thread::Builder::new().name("git".to_owned()).spawn(move || {
        let outcome = open(&place, &who, &name).and_then(|mut upstream| work(upstream.as_mut()));
        // The other side is gone only when it gave up waiting.
        let _nobody_listens = answer.send(outcome);
    });
    if thread.is_err() {
        return Err(GitError::Thread);
    }
    match result.recv_timeout(deadline) {
        Ok(outcome) => outcome,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            Err(GitError::Deadline { location: location.to_string(), seconds: deadline.as_secs() })
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(GitError::Thread),
    }
}

fn open(location: &Location, credentials: &Credentials, branch: &str) -> Result<Box<dyn Upstream>, GitError> {
    Ok(match location {
        Location::Directory(path) => Box::new(Directory::open(path, branch)?),
        Location::Remote { url, cache } => {
            Box::new(Remote::open(url, location.to_string(), cache, branch, credentials)?)
        }
    })
}
