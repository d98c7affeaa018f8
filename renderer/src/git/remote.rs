//! A repository behind an address: read and written through a bare cache that holds objects only.
//!
//! The cache has no branches: what the tip is, only the server says, each time. So a cache can be old, shared, or lost, and never wrong.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use git2::{
    AutotagOption, Cred, CredentialType, Direction, ErrorClass, ErrorCode, FetchOptions, Oid, PushOptions,
    RemoteCallbacks, Repository,
};

use super::location::cache_name;
use super::{Credentials, GitError, Upstream, Verdict, reference};

/// How much of what a remote says is kept.
const MAXIMUM_REMOTE_TEXT: usize = 4096;

pub(super) struct Remote {
    repository: Repository,
    url: String,
    /// The address as it may be shown.
    location: String,
    reference: String,
    credentials: Credentials,
}

impl Remote {
    /// Opens the cache of an address, or makes it.
    pub(super) fn open(
        url: &str,
        location: String,
        cache: &Path,
        branch: &str,
        credentials: &Credentials,
    ) -> Result<Self, GitError> {
        let path = cache.join(cache_name(url));
        let fault = |source| GitError::Open { location: path.display().to_string(), source };
        let repository = match Repository::open_bare(&path) {
            Ok(repository) => repository,
            Err(_) => {
                let mut options = git2::RepositoryInitOptions::new();
                options.bare(true).mkpath(true).external_template(false);
                Repository::init_opts(&path, &options).map_err(fault)?
            }
        };
        Ok(Self {
            repository,
            url: url.to_owned(),
            location,
            reference: reference(branch),
            credentials: credentials.clone(),
        })
    }

    fn fetch_error(&self, source: git2::Error) -> GitError {
        if is_credentials_error(&source) {
            return GitError::Credentials { location: self.location.clone(), who: self.who() };
        }
        GitError::Fetch { location: self.location.clone(), reference: self.reference.clone(), source }
    }

    fn who(&self) -> String {
        match (&self.credentials.username, &self.credentials.ssh_key_file) {
            (Some(name), _) => format!("the user {name:?}"),
            (None, Some(_)) => "that key".to_owned(),
            (None, None) => "a visitor without credentials".to_owned(),
        }
    }

    /// The tip as the server says it now.
    fn advertised(&self) -> Result<Option<Oid>, GitError> {
        let mut remote =
            self.repository.remote_anonymous(&self.url).map_err(|source| self.fetch_error(source))?;
        let callbacks = callbacks(&self.credentials)?;
        let connection = remote
            .connect_auth(Direction::Fetch, Some(callbacks), None)
            .map_err(|source| self.fetch_error(source))?;
        let heads = connection.list().map_err(|source| self.fetch_error(source))?;
        Ok(heads.iter().find(|head| head.name() == self.reference).map(git2::RemoteHead::oid))
    }
}

impl Upstream for Remote {
    fn repository(&self) -> &Repository {
        &self.repository
    }

    fn tip(&mut self) -> Result<Option<Oid>, GitError> {
        let Some(tip) = self.advertised()? else {
            return Ok(None);
        };
        if self.repository.find_commit(tip).is_err() {
            let mut remote =
                self.repository.remote_anonymous(&self.url).map_err(|source| self.fetch_error(source))?;
            let mut options = FetchOptions::new();
            options
                .remote_callbacks(callbacks(&self.credentials)?)
                .download_tags(AutotagOption::None)
                .update_fetchhead(false);
            remote
                .download(&[self.reference.as_str()], Some(&mut options))
                .map_err(|source| self.fetch_error(source))?;
        }
        // The branch may have moved between the two; what we then have is newer than what we were told, and the push would show it.
        self.repository
            .find_commit(tip)
            .map(|commit| Some(commit.id()))
            .map_err(|source| self.fetch_error(source))
    }

    fn publish(&mut self, _: Option<Oid>, to: Oid) -> Result<Verdict, GitError> {
        let answer: Rc<RefCell<Option<Option<String>>>> = Rc::default();
        let said: Rc<RefCell<Vec<u8>>> = Rc::default();
        let pushed = {
            let mut remote =
                self.repository.remote_anonymous(&self.url).map_err(|source| self.fetch_error(source))?;
            let mut callbacks = callbacks(&self.credentials)?;
            // What a hook says to a person comes beside the verdict, as text from the remote.
            let said = Rc::clone(&said);
            callbacks.sideband_progress(move |text| {
                let mut said = said.borrow_mut();
                let room = MAXIMUM_REMOTE_TEXT.saturating_sub(said.len());
                said.extend(text.iter().take(room));
                true
            });
            let (slot, wanted) = (Rc::clone(&answer), self.reference.clone());
            callbacks.push_update_reference(move |name, refusal| {
                if name == wanted {
                    *slot.borrow_mut() = Some(refusal.map(str::to_owned));
                }
                Ok(())
            });
            let mut options = PushOptions::new();
            options.remote_callbacks(callbacks);
            remote.push(&[format!("{to}:{}", self.reference)], Some(&mut options))
        };
        match pushed {
            // A server that says nothing about the branch has not accepted it; the caller looks at the tip.
            Ok(()) => match answer.take() {
                Some(None) => Ok(Verdict::Accepted),
                Some(Some(refusal)) => Ok(Verdict::Refused(with_remote_text(refusal, &said.borrow()))),
                None if self.advertised()? == Some(to) => Ok(Verdict::Accepted),
                None => Ok(Verdict::Refused("the server did not say what it did with the branch".to_owned())),
            },
            Err(error) if error.code() == ErrorCode::NotFastForward => Ok(Verdict::Lost),
            Err(error) if is_credentials_error(&error) => {
                Err(GitError::Credentials { location: self.location.clone(), who: self.who() })
            }
            Err(source) => Err(GitError::Push {
                location: self.location.clone(),
                reference: self.reference.clone(),
                source,
            }),
        }
    }
}

/// Puts the lines that the remote wrote beside its refusal.
fn with_remote_text(refusal: String, said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let lines: Vec<&str> = text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { refusal } else { format!("{refusal} ({})", lines.join("; ")) }
}

fn is_credentials_error(error: &git2::Error) -> bool {
    error.code() == ErrorCode::Auth
        || (error.class() == ErrorClass::Http && error.message().contains("authentication"))
        || (error.class() == ErrorClass::Http && error.message().contains("401"))
}

/// Callbacks that answer each kind of question once; a wrong password must not become a loop.
fn callbacks(credentials: &Credentials) -> Result<RemoteCallbacks<'static>, GitError> {
    let password = match &credentials.password_file {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|source| GitError::PasswordFile { path: path.clone(), source })?;
            Some(text.trim_end_matches(['\r', '\n']).to_owned())
        }
        None => None,
    };
    let credentials = credentials.clone();
    let mut asked = CredentialType::empty();
    let mut callbacks = RemoteCallbacks::new();
    callbacks.credentials(move |_, user_in_address, allowed| {
        let user = credentials.username.as_deref().or(user_in_address);
        let refuse =
            || git2::Error::new(ErrorCode::Auth, ErrorClass::Callback, "the credentials were not accepted");
        let answer = if allowed.contains(CredentialType::USERNAME) {
            (CredentialType::USERNAME, Cred::username(user.unwrap_or("git")))
        } else if let (true, Some(password)) =
            (allowed.contains(CredentialType::USER_PASS_PLAINTEXT), &password)
        {
            (CredentialType::USER_PASS_PLAINTEXT, Cred::userpass_plaintext(user.unwrap_or("git"), password))
        } else if let (true, Some(key)) =
            (allowed.contains(CredentialType::SSH_KEY), &credentials.ssh_key_file)
        {
            (CredentialType::SSH_KEY, Cred::ssh_key(user.unwrap_or("git"), None, key, None))
        } else {
            return Err(refuse());
        };
        if asked.contains(answer.0) {
            return Err(refuse());
        }
        asked |= answer.0;
        answer.1
    });
    Ok(callbacks)
}
