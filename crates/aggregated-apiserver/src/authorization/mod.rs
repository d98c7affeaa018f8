//! Who may do what.
//!
//! Two rules come before any authorizer. In a cluster, members of `system:masters` may do everything. What shows that the server
//! is alive is for everybody, and discovery is for everybody who is known: neither must depend on another server's mood,
//! because an aggregator that cannot read discovery declares the whole group dead.

mod groups;
mod review;

use futures::future::BoxFuture;

pub use self::groups::GroupAuthorizer;
pub use self::review::SubjectAccessReviewAuthorizer;

use crate::identity::{AUTHENTICATED, User};

/// What somebody wants to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attributes {
    /// `get`, `list`, `watch`, `create` … or the HTTP method in lower case.
    pub verb: String,
    /// To what.
    pub target: AccessTarget,
}

/// What an action is done to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AccessTarget {
    /// Objects of a resource.
    Resource {
        /// API group.
        group: String,
        /// API version.
        version: String,
        /// Plural.
        resource: String,
        /// Subresource, or empty.
        subresource: String,
        /// Namespace, or empty.
        namespace: String,
        /// Name, or empty.
        name: String,
    },
    /// Any other path.
    Path(String),
}

impl Attributes {
    /// `stations.weather.example.com "a"`, for messages.
    pub(crate) fn refusal(&self, user: &User, why: &str) -> String {
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        match &self.target {
            AccessTarget::Path(path) => {
                format!("forbidden: User {:?} cannot {} path {path:?}{why}", user.name, self.verb)
            }
            AccessTarget::Resource { group, resource, subresource, namespace, name, .. } => {
                let slash = if subresource.is_empty() { "" } else { "/" };
                let scope = if namespace.is_empty() {
                    "at the cluster scope".to_owned()
                } else {
                    format!("in the namespace {namespace:?}")
                };
                let name = if name.is_empty() { String::new() } else { format!(" {name:?}") };
                format!(
                    "{resource}.{group}{name} is forbidden: User {:?} cannot {} resource \"{resource}{slash}{subresource}\" \
                     in API group {group:?} {scope}{why}",
                    user.name, self.verb
                )
            }
        }
    }
}

/// An authorizer's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Go ahead.
    Allowed,
    /// No, and perhaps why.
    Denied(String),
}

/// Why an authorizer has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AuthorizationError {
    /// The review could not be asked for.
    #[error("asking for a SubjectAccessReview")]
    Review {
        /// What is wrong.
        #[source]
        source: Box<kube::Error>,
    },
    /// The review took too long.
    #[error("SubjectAccessReview was not answered within {seconds} s")]
    Timeout {
        /// How long was waited.
        seconds: u64,
    },
    /// The same question was asked for somebody else at that moment, and failed.
    #[error("the question was shared")]
    Shared(#[source] std::sync::Arc<Self>),
    /// Another authorizer failed.
    #[error("{0}")]
    Other(String),
}

/// Decides.
pub trait Authorizer: Send + Sync {
    /// Whether members of `system:masters` may do everything without being decided about, as in a cluster.
    fn knows_masters(&self) -> bool {
        true
    }

    /// Whether a user may do something.
    fn authorize<'a>(
        &'a self,
        user: &'a User,
        attributes: &'a Attributes,
    ) -> BoxFuture<'a, Result<Decision, AuthorizationError>>;
}

/// What is allowed without asking any authorizer.
pub(crate) fn always_allowed(user: &User, attributes: &Attributes, knows_masters: bool) -> bool {
    if knows_masters && user.is_in("system:masters") {
        return true;
    }
    match &attributes.target {
        AccessTarget::Path(path) if attributes.verb == "get" => {
            is_public(path) || (user.is_in(AUTHENTICATED) && is_discovery(path))
        }
        _ => false,
    }
}

/// Paths that need no identity.
pub(crate) fn is_public(path: &str) -> bool {
    ["/healthz", "/livez", "/readyz", "/version", "/version/"].contains(&path)
}

/// Probes of health.
pub(crate) fn is_health(path: &str) -> bool {
    ["/healthz", "/livez", "/readyz"].iter().any(|root| path.starts_with(root))
}

fn is_discovery(path: &str) -> bool {
    let below =
        |root: &str| path == root || path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
    path == "/" || ["/api", "/apis", "/openapi", "/healthz", "/livez", "/readyz"].into_iter().any(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(path: &str) -> Attributes {
        Attributes { verb: "get".into(), target: AccessTarget::Path(path.into()) }
    }

    #[test]
    fn only_signs_of_life_are_for_everybody() {
        let nobody = User::anonymous();
        for path in ["/healthz", "/livez", "/readyz", "/version"] {
            assert!(always_allowed(&nobody, &get(path), true), "{path}");
        }
        for path in ["/", "/apis", "/metrics", "/livez/ping", "/openapi/v3", "/versions"] {
            assert!(!always_allowed(&nobody, &get(path), true), "{path}");
        }
        let post = Attributes { verb: "post".into(), ..get("/healthz") };
        assert!(!always_allowed(&nobody, &post, true));
    }

    #[test]
    fn masters_are_masters_where_the_authorizer_knows_them() {
        let master = User { groups: vec!["system:masters".into()], ..User::default() };
        assert!(always_allowed(&master, &get("/metrics"), true));
        assert!(!always_allowed(&master, &get("/metrics"), false));
    }

    // covers: A2
    #[test]
    fn discovery_is_for_everybody_who_is_known() {
        let known = User { name: "a".into(), ..User::default() }.authenticated();
        for path in ["/", "/api", "/apis", "/apis/g/v1", "/openapi/v3/apis/g/v1", "/livez/ping"] {
            assert!(always_allowed(&known, &get(path), true), "{path}");
        }
        for path in ["/metrics", "/apisx", "/debug"] {
            assert!(!always_allowed(&known, &get(path), true), "{path}");
        }
    }
}
