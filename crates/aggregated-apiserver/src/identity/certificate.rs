//! Identity from the certificate of the connection.
//!
//! The handshake only proves that the peer owns its certificate. Which authority issued it, and so whether it is the front
//! proxy, a user, or nobody, is decided for each request, so that a change of authorities needs no new connection.
//! The verdict is remembered for a short time, since checking a chain costs more than a GET.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::HeaderMap;
use rustls_pki_types::CertificateDer;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::{AuthenticationError, Authenticator, FrontProxy, Trust, User};

/// How long a verdict on a certificate holds.
const VERDICT_LIFETIME: Duration = Duration::from_secs(30);

/// The certificates that the peer of a connection proved to own; empty if it has none.
#[derive(Debug, Default)]
pub struct PeerCertificates {
    chain: Vec<CertificateDer<'static>>,
    verdict: Mutex<Option<Remembered>>,
}

#[derive(Debug, Clone)]
struct Remembered {
    trust: Arc<Trust>,
    until: Instant,
    verdict: Verdict,
}

/// What a certificate is.
#[derive(Debug, Clone)]
enum Verdict {
    FrontProxy,
    User(User),
    /// Both a name that may speak for others and a user of its own.
    Either(User),
}

impl PeerCertificates {
    /// Leaf first.
    pub fn new(chain: Vec<CertificateDer<'static>>) -> Self {
        Self { chain, verdict: Mutex::new(None) }
    }

    fn verdict(&self, trust: &Arc<Trust>) -> Result<Verdict, AuthenticationError> {
        let now = Instant::now();
        let remembered = self.verdict.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = remembered
            && Arc::ptr_eq(&known.trust, trust)
            && known.until > now
        {
            return Ok(known.verdict);
        }
        let verdict = judge(&self.chain, trust)?;
        let known =
            Remembered { trust: trust.clone(), until: now + VERDICT_LIFETIME, verdict: verdict.clone() };
        *self.verdict.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok(verdict)
    }
}

/// Believes client certificates, and headers of the front proxy.
#[derive(Debug)]
pub struct CertificateAuthenticator {
    trust: Arc<ArcSwap<Trust>>,
}

impl CertificateAuthenticator {
    /// Believes what `trust` holds at the time of each request.
    pub fn new(trust: Arc<ArcSwap<Trust>>) -> Self {
        Self { trust }
    }

    fn decide(
        &self,
        headers: &HeaderMap,
        peer: &PeerCertificates,
    ) -> Result<Option<User>, AuthenticationError> {
        if peer.chain.is_empty() {
            return Ok(None);
        }
        let trust = self.trust.load_full();
        let spoken_for = || match &trust.front_proxy {
            Some(proxy) => proxy.headers.user(headers),
            None => Ok(None),
        };
        match peer.verdict(&trust)? {
            Verdict::FrontProxy => spoken_for(),
            Verdict::User(user) => Ok(Some(user)),
            Verdict::Either(user) => Ok(Some(spoken_for()?.unwrap_or(user))),
        }
    }
}

impl Authenticator for CertificateAuthenticator {
    fn authenticate<'a>(
        &'a self,
        headers: &'a HeaderMap,
        peer: &'a PeerCertificates,
    ) -> BoxFuture<'a, Result<Option<User>, AuthenticationError>> {
        std::future::ready(self.decide(headers, peer)).boxed()
    }
}

fn judge(chain: &[CertificateDer<'static>], trust: &Trust) -> Result<Verdict, AuthenticationError> {
    let proxy = trust.front_proxy.as_ref().map(|proxy| is_front_proxy(chain, proxy));
    let client = trust.clients.as_ref().map(|authority| {
        authority
            .vouches_for(chain)
            .map_err(|error| AuthenticationError::Certificate(error.to_string()))
            .and_then(|()| user_of(chain))
    });
    match (proxy, client) {
        (Some(Ok(())), Some(Ok(user))) => Ok(Verdict::Either(user)),
        (Some(Ok(())), _) => Ok(Verdict::FrontProxy),
        (_, Some(Ok(user))) => Ok(Verdict::User(user)),
        (Some(Err(refused @ AuthenticationError::FrontProxyName(_))), _) => Err(refused),
        (_, Some(Err(refused))) | (Some(Err(refused)), None) => Err(refused),
        (None, None) => Err(AuthenticationError::Certificate("no authority is known".to_owned())),
    }
}

fn is_front_proxy(chain: &[CertificateDer<'static>], proxy: &FrontProxy) -> Result<(), AuthenticationError> {
    proxy
        .authority
        .vouches_for(chain)
        .map_err(|error| AuthenticationError::Certificate(error.to_string()))?;
    let name = user_of(chain).map(|user| user.name).unwrap_or_default();
    if proxy.allowed_names.is_empty() || proxy.allowed_names.contains(&name) {
        Ok(())
    } else {
        Err(AuthenticationError::FrontProxyName(name))
    }
}

/// Common name as the user's, organisations as its groups.
fn user_of(chain: &[CertificateDer<'static>]) -> Result<User, AuthenticationError> {
    let leaf = chain.first().ok_or(AuthenticationError::NoName)?;
    let (_, certificate) = X509Certificate::from_der(leaf)
        .map_err(|error| AuthenticationError::Certificate(error.to_string()))?;
    let subject = certificate.subject();
    let name = subject.iter_common_name().next().and_then(|name| name.as_str().ok()).unwrap_or_default();
    if name.is_empty() {
        return Err(AuthenticationError::NoName);
    }
    let groups = subject.iter_organization().filter_map(|group| group.as_str().ok()).map(str::to_owned);
    Ok(User { name: name.to_owned(), groups: groups.collect(), ..User::default() })
}
