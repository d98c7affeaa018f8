//! The session in force, and its replacement: before the token ends, or when a service refuses it.
//!
//! Whoever needs a new session waits at one gate; the first logs in, the others find the new session there. Refused
//! credentials are not tried again for a while, because Keystone locks accounts after a few failures.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::error::Error;
use crate::failure::{Failure, LoginFailure};
use crate::login::{Session, login};
use crate::options::CloudOptions;

/// How long refused credentials are left alone.
const REFUSED_PAUSE: Duration = Duration::from_secs(30);

/// How long a failed early renewal is left alone while the old token still works.
const RENEWAL_PAUSE: Duration = Duration::from_secs(10);

/// Keeps a session, and one that works.
pub(crate) struct Sessions {
    options: CloudOptions,
    current: RwLock<Arc<Session>>,
    gate: Mutex<Gate>,
}

/// What the last logins taught.
#[derive(Default)]
struct Gate {
    refused: Option<(Instant, LoginFailure)>,
    no_renewal_before: Option<Instant>,
}

impl Sessions {
    /// Logs in for the first time.
    pub(crate) async fn begin(options: CloudOptions) -> Result<Self, Error> {
        let entry = options.resolve()?;
        let session = login(&entry, options.limits(), 0)
            .await
            .map_err(|source| Error::Login { auth_url: entry.auth_url_to_show(), source })?;
        tracing::info!(keystone = %entry.auth_url_to_show(), "logged in");
        Ok(Self { options, current: RwLock::new(Arc::new(session)), gate: Mutex::default() })
    }

    /// The session to use now; replaced first when its token is about to end.
    pub(crate) async fn current(&self) -> Result<Arc<Session>, Failure> {
        let session = self.look();
        let now = Instant::now();
        if now < session.renew_at {
            return Ok(session);
        }
        if now >= session.ends_at {
            return self.replace(&session).await;
        }
        self.renew_early(session).await
    }

    /// A session other than `refused`, whose token a service did not take; `None` when another login would not help.
    pub(crate) async fn after_refusal(&self, refused: &Session) -> Result<Option<Arc<Session>>, Failure> {
        let current = self.look();
        if current.generation != refused.generation {
            return Ok(Some(current));
        }
        if refused.is_untried() {
            return Ok(None);
        }
        self.replace(refused).await.map(Some)
    }

    fn look(&self) -> Arc<Session> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces a session that still works. One does it; the others go on with the old one.
    async fn renew_early(&self, session: Arc<Session>) -> Result<Arc<Session>, Failure> {
        let Ok(mut gate) = self.gate.try_lock() else { return Ok(session) };
        if gate.no_renewal_before.is_some_and(|moment| Instant::now() < moment) {
            return Ok(session);
        }
        match self.replace_locked(&mut gate, session.generation).await {
            Ok(renewed) => Ok(renewed),
            Err(error) => {
                gate.no_renewal_before = Some(Instant::now() + RENEWAL_PAUSE);
                tracing::warn!(%error, "the token could not be renewed early; the old one is used to its end");
                Ok(session)
            }
        }
    }

    async fn replace(&self, old: &Session) -> Result<Arc<Session>, Failure> {
        let mut gate = self.gate.lock().await;
        self.replace_locked(&mut gate, old.generation).await
    }

    async fn replace_locked(&self, gate: &mut Gate, old: u64) -> Result<Arc<Session>, Failure> {
        let current = self.look();
        if current.generation != old {
            return Ok(current);
        }
        if let Some((since, failure)) = &gate.refused
            && since.elapsed() < REFUSED_PAUSE
        {
            return Err(failure.clone().into());
        }
        match self.log_in_again(old).await {
            Ok(session) => {
                *gate = Gate::default();
                let session = Arc::new(session);
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&session);
                tracing::debug!(generation = session.generation, "logged in again");
                Ok(session)
            }
            Err(failure) => {
                if let Failure::Login(refused @ LoginFailure::Refused { .. }) = &failure {
                    gate.refused = Some((Instant::now(), refused.clone()));
                }
                Err(failure)
            }
        }
    }

    async fn log_in_again(&self, old: u64) -> Result<Session, Failure> {
        let entry = self
            .options
            .resolve()
            .map_err(|error| LoginFailure::Configuration { message: error.report() })?;
        login(&entry, self.options.limits(), old + 1).await
    }
}
