//! Why a request to Keystone, Nova or Placement failed.
//!
//! One variant for each kind of thing that a caller treats differently: an answer that is an error, no answer, an answer
//! that cannot be used, and the conditions under which we refuse to believe an answer.

use std::time::Duration;

use http::StatusCode;
use thiserror::Error;

use crate::service::Service;
use crate::version::{Microversion, VersionRange};

/// Why a request failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// The service answered with an error.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// Keystone gave no token.
    #[error(transparent)]
    Login(#[from] LoginFailure),
    /// No connection could be made.
    #[error("connect to {service} at {url}")]
    Connect {
        /// The service.
        service: Service,
        /// The URL without its query.
        url: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// The connection broke before the answer was complete.
    #[error("the connection to {service} at {url} broke")]
    Broken {
        /// The service.
        service: Service,
        /// The URL without its query.
        url: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// No complete answer came in time.
    #[error("{service} gave no complete answer within {} s", after.as_secs_f32())]
    Deadline {
        /// The service.
        service: Service,
        /// How long it had.
        after: Duration,
    },
    /// The answer is larger than we are willing to hold.
    #[error("the answer of {service} to {path} is larger than {limit} bytes")]
    TooLarge {
        /// The service.
        service: Service,
        /// The path that was asked for.
        path: String,
        /// The limit.
        limit: usize,
    },
    /// The answer is not what this call answers with.
    #[error("the answer of {service} to {path} cannot be read")]
    Decode {
        /// The service.
        service: Service,
        /// The path that was asked for.
        path: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The pages of a list do not end: the service named the same next page twice.
    #[error("the pages of {path} at {service} lead in a circle")]
    PagesRepeat {
        /// The service.
        service: Service,
        /// The path that was asked for.
        path: String,
    },
    /// The catalog of the token has no such endpoint.
    #[error("the catalog has no {interface} endpoint of type {} in region {}; it has {offered}", service.catalog_type(), region.as_deref().unwrap_or("(any)"))]
    NoEndpoint {
        /// The service.
        service: Service,
        /// The interface that is configured.
        interface: &'static str,
        /// The region that is configured.
        region: Option<String>,
        /// What the catalog has of this type.
        offered: String,
    },
    /// The service speaks no version that this crate speaks.
    #[error(
        "{service} at {url} offers {offered}, but this program needs {floor} or newer (it is written for {pinned})"
    )]
    Version {
        /// The service.
        service: Service,
        /// Where its versions were read.
        url: String,
        /// What it offers.
        offered: VersionRange,
        /// The oldest version that will do.
        floor: Microversion,
        /// The version that is asked for where offered.
        pinned: Microversion,
    },
    /// Nothing at or above the endpoint's URL says which versions the service offers.
    #[error("no version document of {service} at {url} or above")]
    NoVersionDocument {
        /// The service.
        service: Service,
        /// The endpoint's URL.
        url: String,
    },
    /// Servers are listed without their host: the user may not see hosts, so Nova ignored the filter.
    #[error(
        "server {server} is listed without its host: the user lacks the right to see the hosts of servers"
    )]
    HostNotShown {
        /// A server without host.
        server: String,
    },
    /// A server of another host is in the list of this host.
    #[error("server {server} is listed for this host, but is on `{host}`")]
    WrongHost {
        /// The server.
        server: String,
        /// Where it is.
        host: String,
    },
    /// The cell of a server does not answer, so the list is not complete.
    #[error("server {server} is in a cell that Nova cannot reach, so its servers cannot be told")]
    CellUnreachable {
        /// A server of that cell.
        server: String,
    },
}

/// An answer that is an error, of any of the three services and shapes.
#[derive(Debug, Error)]
#[error(
    "{service} answered {status} to {method} {path}: {}{}",
    message_or_nothing(message),
    request(request_id)
)]
pub struct Refusal {
    /// The service.
    pub service: Service,
    /// The HTTP method.
    pub method: &'static str,
    /// The path that was asked for.
    pub path: String,
    /// The HTTP status.
    pub status: StatusCode,
    /// What the service says, without boiler plate; empty when it says nothing readable.
    pub message: String,
    /// Placement's error code, e.g. `placement.concurrent_update`.
    pub code: Option<String>,
    /// The request id to look for in the service's log.
    pub request_id: Option<String>,
    /// How long the service asks to be left alone.
    pub retry_after: Option<Duration>,
}

/// Why Keystone gave no usable token.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum LoginFailure {
    /// Keystone refused. It does not tell a wrong secret from an unknown user or project.
    #[error("Keystone refused the credentials or their scope ({status}): {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What Keystone says.
        message: String,
    },
    /// Keystone answered with an error that says nothing about the credentials.
    #[error("Keystone answered {status}: {message}")]
    Unavailable {
        /// The HTTP status.
        status: u16,
        /// What Keystone says.
        message: String,
    },
    /// Keystone cannot be reached.
    #[error("Keystone cannot be reached: {message}")]
    Unreachable {
        /// The transport's words.
        message: String,
    },
    /// Keystone did not answer in time.
    #[error("Keystone gave no answer within {} s", after.as_secs_f32())]
    Deadline {
        /// How long it had.
        after: Duration,
    },
    /// The token has no project and therefore no rights.
    #[error(
        "Keystone gave a token without a project: set `project_name` or `project_id`, or use an application credential"
    )]
    Unscoped,
    /// The configuration does not suffice to log in.
    #[error("{message}")]
    Configuration {
        /// What is missing.
        message: String,
    },
    /// Keystone's answer makes no sense.
    #[error("Keystone's answer to the login cannot be used: {message}")]
    Unusable {
        /// Why.
        message: String,
    },
}

impl Failure {
    /// Credentials or token were refused, or lack the right.
    pub fn is_unauthorized(&self) -> bool {
        match self {
            Self::Refused(refusal) => {
                matches!(refusal.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
            }
            Self::Login(LoginFailure::Refused { .. } | LoginFailure::Unscoped)
            | Self::HostNotShown { .. } => true,
            _ => false,
        }
    }

    /// The service cannot be reached, or says that it is unavailable.
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Refused(refusal) => is_passing(refusal.status),
            Self::Connect { .. }
            | Self::Broken { .. }
            | Self::Deadline { .. }
            | Self::CellUnreachable { .. } => true,
            Self::Login(login) => login.is_unavailable(),
            _ => false,
        }
    }

    /// How long the service asked to be left alone.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused(refusal) => refusal.retry_after,
            _ => None,
        }
    }

    /// The HTTP status, when there was an answer.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Refused(refusal) => Some(refusal.status),
            Self::Login(LoginFailure::Refused { status, .. } | LoginFailure::Unavailable { status, .. }) => {
                StatusCode::from_u16(*status).ok()
            }
            _ => None,
        }
    }

    /// The request id to look for in the service's log.
    pub fn request_id(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => refusal.request_id.as_deref(),
            _ => None,
        }
    }

    /// Whether an idempotent request may be tried again within its deadline.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Refused(refusal) => is_passing(refusal.status),
            Self::Connect { .. } | Self::Broken { .. } | Self::Deadline { .. } => true,
            Self::Login(login) => login.is_unavailable(),
            _ => false,
        }
    }
}

impl LoginFailure {
    /// Keystone is away, rather than of another opinion.
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Unavailable { status, .. } => StatusCode::from_u16(*status).is_ok_and(is_passing),
            Self::Unreachable { .. } | Self::Deadline { .. } => true,
            _ => false,
        }
    }
}

/// Statuses that say "not now" rather than "no".
fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}

fn message_or_nothing(message: &str) -> &str {
    if message.is_empty() { "(no message)" } else { message }
}

fn request(id: &Option<String>) -> String {
    id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default()
}
