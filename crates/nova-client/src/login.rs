//! One login: credentials in, a session out.
//!
//! The SDK does the login. Two of its habits are switched off: it would keep tokens on disk, and it would ask Keystone's
//! version document first and lose the status when Keystone is away. So `/v3` is fixed, and a login is one POST.
//!
//! A session is not renewed but replaced: within one SDK session a second login would trade the old token for a new one
//! with the old expiry.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::HeaderValue;
use openstack_sdk::config::{Auth, CloudConfig};
use openstack_sdk::{AsyncOpenStack, AuthError, OpenStackError};
// The ways to log in register themselves when they are linked. The SDK names them only in a build script that does not
// understand the manifest of a published crate, so without these lines the linker leaves them out.
use openstack_sdk_auth_applicationcredential as _;
use openstack_sdk_auth_password as _;
use secrecy::ExposeSecret;
use tokio::time::{Instant, timeout};

use crate::catalog::{CatalogEndpoint, Endpoints};
use crate::failure::{Failure, LoginFailure};
use crate::fault::{self, Fault};
use crate::options::{CloudEntry, Limits};
use crate::transport::Transport;

/// Renewed at the latest this long before the token ends.
const LONGEST_MARGIN: Duration = Duration::from_secs(300);

/// How long a token counts as new.
const NEW: Duration = Duration::from_secs(5);

/// What a login gave, valid for a while.
pub(crate) struct Session {
    /// Counts logins, so that many who meet the same expired token log in once.
    pub(crate) generation: u64,
    pub(crate) endpoints: Endpoints,
    pub(crate) transport: Transport,
    began: Instant,
    /// From here on it should be replaced, though it still works.
    pub(crate) renew_at: Instant,
    /// From here on Keystone calls it expired.
    pub(crate) ends_at: Instant,
    /// Whether a service has taken the token.
    taken: AtomicBool,
}

impl Session {
    /// A service took the token.
    pub(crate) fn was_taken(&self) {
        self.taken.store(true, Ordering::Relaxed);
    }

    /// A new token that no service has taken yet: when it is refused, another one would be too.
    pub(crate) fn is_untried(&self) -> bool {
        self.began.elapsed() < NEW && !self.taken.load(Ordering::Relaxed)
    }
}

/// Logs in.
pub(crate) async fn login(entry: &CloudEntry, limits: &Limits, generation: u64) -> Result<Session, Failure> {
    let began = Instant::now();
    if entry.auth_url_has_user() {
        let message = "the URL of Keystone must not hold a user or a password".to_owned();
        return Err(LoginFailure::Configuration { message }.into());
    }
    let config = sdk_config(entry);
    let connect = AsyncOpenStack::builder(&config)
        .disable_auth_cache(true)
        .max_auth_retries(0)
        .http_timeout(limits.attempt)
        .http_connect_timeout(limits.connect)
        .connect();
    // Boxed: the SDK's login is a very large future, and every call may have to log in.
    let cloud = timeout(limits.attempt, Box::pin(connect))
        .await
        .map_err(|_| LoginFailure::Deadline { after: limits.attempt })?
        .map_err(|error| why(error, limits.attempt))?;
    session(&cloud, entry, limits, generation, began)
}

fn session(
    cloud: &AsyncOpenStack,
    entry: &CloudEntry,
    limits: &Limits,
    generation: u64,
    began: Instant,
) -> Result<Session, Failure> {
    let unusable = |message: &str| LoginFailure::Unusable { message: message.to_owned() };
    let token = cloud.get_auth_token().ok_or_else(|| unusable("it has no token"))?;
    let info = cloud.get_auth_info().ok_or_else(|| unusable("it says nothing about the token"))?.token;
    if info.project.is_none() {
        return Err(LoginFailure::Unscoped.into());
    }
    let catalog: Vec<CatalogEndpoint> = info
        .catalog
        .iter()
        .flatten()
        .flat_map(|service| service.endpoints.iter().map(|endpoint| (&service.service_type, endpoint)))
        .map(|(service_type, endpoint)| CatalogEndpoint {
            service_type: service_type.clone(),
            interface: endpoint.interface.clone(),
            region: endpoint.region.clone(),
            url: endpoint.url.clone(),
        })
        .collect();
    let mut header =
        HeaderValue::from_str(token.expose_secret()).map_err(|_| unusable("the token is no header value"))?;
    header.set_sensitive(true);
    // Keystone's clock against Keystone's clock: ours may differ.
    let issued =
        info.issued_at.map_or_else(|| jiff::Timestamp::now().as_millisecond(), |at| at.timestamp_millis());
    let life = u64::try_from(info.expires_at.timestamp_millis() - issued)
        .map_err(|_| unusable("the token has expired"))?;
    let life = Duration::from_millis(life);
    Ok(Session {
        generation,
        endpoints: Endpoints::choose(&catalog, entry)?,
        transport: Transport::new(entry, limits, header)?,
        began,
        renew_at: began + life - LONGEST_MARGIN.min(life / 5),
        ends_at: began + life,
        taken: AtomicBool::new(false),
    })
}

/// The SDK's configuration: Keystone is at a fixed place, and nothing else of the catalog is its business.
fn sdk_config(entry: &CloudEntry) -> CloudConfig {
    let keystone = keystone_v3(&entry.auth_url);
    let options = [
        ("identity_endpoint_override".to_owned(), keystone.as_str().into()),
        ("identity_skip_discovery".to_owned(), true.into()),
    ];
    CloudConfig {
        auth: Some(Auth { auth_url: Some(keystone), ..entry.credentials.to_auth() }),
        auth_type: Some(entry.credentials.auth_type().to_owned()),
        auth_cache: Some(false),
        interface: Some("public".to_owned()),
        cacert: entry.ca_file.as_ref().map(|path| path.to_string_lossy().into_owned()),
        verify: Some(entry.verify),
        options: options.into(),
        ..CloudConfig::default()
    }
}

/// The URL of Keystone's version 3, with a slash at its end, whichever way it was given.
fn keystone_v3(auth_url: &str) -> String {
    let base = auth_url.trim_end_matches('/');
    if base.ends_with("/v3") { format!("{base}/") } else { format!("{base}/v3/") }
}

/// The SDK's error as what it means. Its texts come from Keystone or the transport; none holds a credential.
fn why(error: OpenStackError, after: Duration) -> LoginFailure {
    match error {
        OpenStackError::AuthError { source } => why_refused(source, after),
        OpenStackError::Communication { source } => why_unreachable(source, after),
        OpenStackError::AuthHelperError { .. } | OpenStackError::ConfigError { .. } => {
            LoginFailure::Configuration { message: error.to_string() }
        }
        OpenStackError::IOWithPath { source, path } => {
            LoginFailure::Configuration { message: format!("read {path}: {source}") }
        }
        other => LoginFailure::Unusable { message: other.to_string() },
    }
}

fn why_refused(error: AuthError, after: Duration) -> LoginFailure {
    match error {
        AuthError::Identity(answer) => {
            answered(u16::try_from(answer.code).unwrap_or_default(), fault::one_line(&answer.message))
        }
        AuthError::UnknownAuth { code, message } => {
            answered(code, Fault::of_body(message.unwrap_or_default().as_bytes()).message)
        }
        AuthError::AuthReceipt(_) => {
            LoginFailure::Refused { status: 401, message: "it asks for more factors".to_owned() }
        }
        AuthError::Reqwest { source } => why_unreachable(source, after),
        AuthError::Plugin { source } => LoginFailure::Configuration { message: source.to_string() },
        other => LoginFailure::Unusable { message: other.to_string() },
    }
}

/// A deleted application credential is 404, a malformed one 400, a forbidden one 403: all of them mean "not with these".
fn answered(status: u16, message: String) -> LoginFailure {
    match status {
        400 | 401 | 403 | 404 => LoginFailure::Refused { status, message },
        _ => LoginFailure::Unavailable { status, message },
    }
}

fn why_unreachable(error: reqwest::Error, after: Duration) -> LoginFailure {
    if error.is_timeout() {
        return LoginFailure::Deadline { after };
    }
    let decode = error.is_decode();
    let mut message = String::new();
    let error = error.without_url();
    let mut next: Option<&dyn std::error::Error> = Some(&error);
    while let Some(part) = next {
        let text = part.to_string();
        if !message.is_empty() {
            message.push_str(": ");
        }
        message.push_str(&text);
        next = part.source();
    }
    if decode { LoginFailure::Unusable { message } } else { LoginFailure::Unreachable { message } }
}
