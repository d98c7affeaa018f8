//! How a read is carried out: version agreed, token renewed once, repeated while the service is away, all pages, all
//! within one deadline.
//!
//! ```text
//! list ─► page ─► get_again (503, broken: bounded, with jitter) ─► get_authorized (401: one login) ─► Transport
//! ```

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use http::StatusCode;
use reqwest::Url;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use crate::error::Error;
use crate::failure::Failure;
use crate::login::Session;
use crate::options::{CloudOptions, Limits};
use crate::service::Service;
use crate::sessions::Sessions;
use crate::transport::Answer;
use crate::version::{Microversion, VersionRange};

/// The first pause before a read is sent again.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The longest pause that we choose ourselves.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A GET of a path below a service's endpoint.
#[derive(Debug)]
pub(crate) struct Read {
    service: Service,
    path: String,
    query: Vec<(&'static str, String)>,
}

/// Carries reads out.
pub(crate) struct Requests {
    sessions: Sessions,
    limits: Limits,
    compute: Mutex<Option<Microversion>>,
    placement: Mutex<Option<Microversion>>,
}

impl Read {
    pub(crate) fn new(service: Service, path: impl Into<String>) -> Self {
        Self { service, path: path.into(), query: Vec::new() }
    }

    pub(crate) fn with(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.query.push((key, value.into()));
        self
    }

    /// The URL below `base`; `page` is the query that the service named for the next page.
    fn url(&self, base: &Url, page: Option<&str>) -> Url {
        let mut url = base.clone();
        url.set_path(&format!("{}{}", base.path().trim_end_matches('/'), self.path));
        match page {
            Some(query) => url.set_query(Some(query)),
            None if self.query.is_empty() => {}
            None => {
                url.query_pairs_mut()
                    .extend_pairs(self.query.iter().map(|(key, value)| (*key, value.as_str())));
            }
        }
        url
    }
}

impl Requests {
    pub(crate) async fn begin(options: CloudOptions) -> Result<Self, Error> {
        let limits = options.limits().clone();
        let sessions = Sessions::begin(options).await?;
        Ok(Self { sessions, limits, compute: Mutex::default(), placement: Mutex::default() })
    }

    /// The microversion agreed with a service; asked for when it is not known yet.
    pub(crate) async fn version(&self, service: Service) -> Result<Microversion, Failure> {
        self.in_time(service, self.agreed_version(service)).await
    }

    /// The whole body of a read.
    pub(crate) async fn one<T: DeserializeOwned>(&self, read: &Read) -> Result<T, Failure> {
        let answer = self.in_time(read.service, self.get_again(read, None)).await?;
        decode(read.service, &answer)
    }

    /// The body of a read of one thing, or `None` when the service itself says that there is no such thing.
    pub(crate) async fn one_if_there<T: DeserializeOwned>(&self, read: &Read) -> Result<Option<T>, Failure> {
        match self.one(read).await {
            Ok(found) => Ok(Some(found)),
            // A 404 without message is not the service's: a proxy or a wrong endpoint must not look like "no such thing".
            Err(Failure::Refused(refusal))
                if is_no_such_thing(refusal.status, refusal.request_id.as_deref()) =>
            {
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }

    /// All rows under `key`, over all pages.
    pub(crate) async fn list<T: DeserializeOwned>(&self, read: &Read, key: &str) -> Result<Vec<T>, Failure> {
        self.in_time(read.service, self.all_pages(read, key)).await
    }

    async fn in_time<T>(
        &self,
        service: Service,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let after = self.limits.operation;
        timeout(after, work).await.map_err(|_| Failure::Deadline { service, after })?
    }

    async fn all_pages<T: DeserializeOwned>(&self, read: &Read, key: &str) -> Result<Vec<T>, Failure> {
        let mut rows = Vec::new();
        let mut page: Option<String> = None;
        let mut seen = BTreeSet::new();
        loop {
            let answer = self.get_again(read, page.as_deref()).await?;
            let mut body: Value = decode(read.service, &answer)?;
            let part: Vec<T> = body
                .get_mut(key)
                .map(Value::take)
                .ok_or_else(|| serde_json::Error::custom(format!("it has no `{key}`")))
                .and_then(serde_json::from_value)
                .map_err(|source| Failure::Decode {
                    service: read.service,
                    path: answer.path.clone(),
                    source,
                })?;
            rows.extend(part);
            let Some(next) = next_query(&body, key) else { return Ok(rows) };
            if !seen.insert(next.clone()) {
                return Err(Failure::PagesRepeat { service: read.service, path: answer.path });
            }
            page = Some(next);
        }
    }

    /// Repeats while the service is away, a bounded number of times.
    async fn get_again(&self, read: &Read, page: Option<&str>) -> Result<Answer, Failure> {
        let began = Instant::now();
        let repetitions = usize::try_from(self.limits.attempts.saturating_sub(1)).unwrap_or(usize::MAX);
        let mut pauses = ExponentialBuilder::default()
            .with_min_delay(FIRST_PAUSE)
            .with_max_delay(LONGEST_PAUSE)
            .with_max_times(repetitions)
            .with_jitter()
            .build();
        loop {
            let failure = match self.get_authorized(read, page).await {
                Ok(answer) => return Ok(answer),
                Err(failure) if failure.may_pass() => failure,
                Err(failure) => return Err(failure),
            };
            let Some(pause) = pauses.next() else { return Err(failure) };
            let pause = failure.retry_after().map_or(pause, |asked| asked.max(pause));
            // A pause that the deadline would cut short tells less than the failure itself.
            if began.elapsed() + pause >= self.limits.operation {
                return Err(failure);
            }
            tracing::debug!(service = %read.service, path = %read.path, %failure, ?pause, "read failed, trying again");
            sleep(pause).await;
        }
    }

    /// Logs in again and repeats once when the token is refused.
    async fn get_authorized(&self, read: &Read, page: Option<&str>) -> Result<Answer, Failure> {
        let session = self.sessions.current().await?;
        let failure = match self.get(&session, read, page).await {
            Err(failure) if failure.status() == Some(StatusCode::UNAUTHORIZED) => failure,
            other => return other,
        };
        match self.sessions.after_refusal(&session).await? {
            Some(renewed) => self.get(&renewed, read, page).await,
            None => Err(failure),
        }
    }

    async fn get(&self, session: &Session, read: &Read, page: Option<&str>) -> Result<Answer, Failure> {
        let version = self.agreed_version_in(session, read.service).await?;
        let url = read.url(session.endpoints.of(read.service)?, page);
        let answer = session.transport.get(read.service, url, Some(version)).await;
        if answer.is_ok() {
            session.was_taken();
        }
        // The service was replaced by another version of itself: agree anew next time.
        if answer.as_ref().is_err_and(|failure| failure.status() == Some(StatusCode::NOT_ACCEPTABLE)) {
            self.remember(read.service, None);
        }
        answer
    }

    async fn agreed_version(&self, service: Service) -> Result<Microversion, Failure> {
        let session = self.sessions.current().await?;
        self.agreed_version_in(&session, service).await
    }

    async fn agreed_version_in(&self, session: &Session, service: Service) -> Result<Microversion, Failure> {
        if let Some(version) = *self.slot(service).lock().unwrap_or_else(PoisonError::into_inner) {
            return Ok(version);
        }
        let (url, offered) = offered(session, service).await?;
        let version = offered.choose(service).ok_or_else(|| Failure::Version {
            service,
            url: url.to_string(),
            offered,
            floor: service.floor(),
            pinned: service.pinned(),
        })?;
        tracing::info!(%service, %url, %offered, %version, "agreed on an API version");
        self.remember(service, Some(version));
        Ok(version)
    }

    fn remember(&self, service: Service, version: Option<Microversion>) {
        *self.slot(service).lock().unwrap_or_else(PoisonError::into_inner) = version;
    }

    fn slot(&self, service: Service) -> &Mutex<Option<Microversion>> {
        match service {
            Service::Compute => &self.compute,
            Service::Placement => &self.placement,
        }
    }
}

/// What a service offers, by its version document: at its endpoint, or above it where the endpoint has more in its path
/// (a project id, in older clouds).
async fn offered(session: &Session, service: Service) -> Result<(Url, VersionRange), Failure> {
    let endpoint = session.endpoints.of(service)?;
    let mut url = endpoint.clone();
    loop {
        match session.transport.get(service, url.clone(), None).await {
            Ok(answer) => {
                if let Some(range) =
                    serde_json::from_slice(&answer.body).ok().as_ref().and_then(VersionRange::of_document)
                {
                    return Ok((url, range));
                }
            }
            Err(failure) if failure.may_pass() => return Err(failure),
            Err(Failure::Refused(_)) => {}
            Err(failure) => return Err(failure),
        }
        let path = url.path().trim_end_matches('/').to_owned();
        let Some((parent, _)) = path.rsplit_once('/') else {
            return Err(Failure::NoVersionDocument { service, url: endpoint.to_string() });
        };
        url.set_path(&format!("{parent}/"));
    }
}

/// The query of the link to the next page. Its host is not used: services behind a proxy name themselves.
fn next_query(body: &Value, key: &str) -> Option<String> {
    let links = body.get(format!("{key}_links"))?.as_array()?;
    let next = links.iter().find(|link| link.get("rel").and_then(Value::as_str) == Some("next"))?;
    let (_, query) = next.get("href")?.as_str()?.split_once('?')?;
    Some(query.to_owned())
}

fn is_no_such_thing(status: StatusCode, request_id: Option<&str>) -> bool {
    status == StatusCode::NOT_FOUND && request_id.is_some()
}

fn decode<T: DeserializeOwned>(service: Service, answer: &Answer) -> Result<T, Failure> {
    serde_json::from_slice(&answer.body).map_err(|source| Failure::Decode {
        service,
        path: answer.path.clone(),
        source,
    })
}
