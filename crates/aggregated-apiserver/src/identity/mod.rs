//! Who asks.
//!
//! Identity comes from the client certificate of the connection and, where that certificate belongs to the front proxy,
//! from headers. What was given but cannot be believed is a 401; what was not given at all is `system:anonymous`, who
//! may see only what shows that the server is alive.

mod certificate;
mod config_map;
mod front_proxy;
mod token;
mod trust;
mod trust_file;

use std::collections::BTreeMap;

use futures::future::BoxFuture;

pub use self::certificate::{CertificateAuthenticator, PeerCertificates};
pub use self::config_map::{AuthenticationConfigMap, ConfigMapError};
pub use self::front_proxy::FrontProxyHeaders;
pub use self::token::TokenReviewAuthenticator;
pub use self::trust::{CertificateAuthority, FrontProxy, Trust, TrustError};
pub use self::trust_file::{AuthorityFileError, ClientAuthorityFile};

/// Who asks, as Kubernetes names people and programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct User {
    /// User name.
    pub name: String,
    /// UID, or empty.
    pub uid: String,
    /// Groups.
    pub groups: Vec<String>,
    /// What else the authenticator said.
    pub extra: BTreeMap<String, Vec<String>>,
}

pub(crate) const AUTHENTICATED: &str = "system:authenticated";
pub(crate) const UNAUTHENTICATED: &str = "system:unauthenticated";

impl User {
    /// Nobody known.
    pub fn anonymous() -> Self {
        Self {
            name: "system:anonymous".to_owned(),
            groups: vec![UNAUTHENTICATED.to_owned()],
            ..Self::default()
        }
    }

    /// True for [`anonymous`](Self::anonymous).
    pub fn is_anonymous(&self) -> bool {
        self.is_in(UNAUTHENTICATED)
    }

    /// True when the user is in a group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|own| own == group)
    }

    /// The same user, known to be known.
    pub(crate) fn authenticated(mut self) -> Self {
        if !self.is_in(AUTHENTICATED) && !self.is_in(UNAUTHENTICATED) {
            self.groups.push(AUTHENTICATED.to_owned());
        }
        self
    }
}

/// Why what a client says about itself is not believed. The text is for the log; the client is told `Unauthorized`.
#[derive(Debug, thiserror::Error)]
pub enum AuthenticationError {
    /// The certificate was issued by none of the authorities, or is not valid now.
    #[error("client certificate is not trusted: {0}")]
    Certificate(String),
    /// The front proxy's certificate has a name that is not allowed.
    #[error("{0:?} is not an allowed name of the front proxy")]
    FrontProxyName(String),
    /// A header of the front proxy cannot be decoded.
    #[error("header {0} cannot be decoded")]
    Header(String),
    /// A certificate carries no name.
    #[error("client certificate has no common name")]
    NoName,
    /// Whoever knows gave no answer: the client may try again.
    #[error("{0}")]
    NoAnswer(String),
    /// Another authenticator refused.
    #[error("{0}")]
    Refused(String),
}

/// Finds out who asks.
pub trait Authenticator: Send + Sync {
    /// `None` when the request carries nothing that this authenticator knows.
    fn authenticate<'a>(
        &'a self,
        headers: &'a http::HeaderMap,
        peer: &'a PeerCertificates,
    ) -> BoxFuture<'a, Result<Option<User>, AuthenticationError>>;
}
