//! Putting a server together.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

use super::audit::AuditLog;
use super::flow::Flow;
use super::health::{Health, Readiness};
use super::metrics::Metrics;
use super::settings::{Drain, Limits, VersionInfo, Watching};
use crate::authorization::{Authorizer, GroupAuthorizer};
use crate::collection::{Collection, ObjectKey};
use crate::discovery::Discovery;
use crate::identity::Authenticator;
use crate::openapi::OpenApi;
use crate::serve::{Freshening, Pages, PrepareError, Prepared, ReadSubresource, Subresources};
use crate::storage::Writing;

/// Brings one object up to date before somebody reads it.
///
/// It is given a bounded time (see [`Limits::freshen`]) and publishes or amends what it finds. Readers who come meanwhile
/// share one run.
pub trait Freshener: Send + Sync {
    /// Refreshes one object. What it cannot find out in time stays as it is.
    fn freshen<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, ()>;
}

/// A collection, and how its verbs are served.
#[derive(Clone)]
pub struct ServedResource {
    pub(crate) collection: Arc<Collection>,
    pub(crate) freshening: Option<Arc<Freshening>>,
    pub(crate) pages: Arc<Pages>,
    pub(crate) prepared: Option<Arc<Prepared>>,
    pub(crate) subresources: Subresources,
    writing: Option<Writing>,
    verbs: Vec<&'static str>,
    freshener: Option<Arc<dyn Freshener>>,
}

impl ServedResource {
    /// Served for reading: get, list, watch.
    pub fn new(collection: Arc<Collection>) -> Self {
        Self {
            collection,
            freshening: None,
            pages: Arc::default(),
            prepared: None,
            subresources: Subresources::default(),
            writing: None,
            verbs: vec!["get", "list", "watch"],
            freshener: None,
        }
    }

    /// The same, and written.
    #[must_use]
    pub fn written(mut self, writing: Writing) -> Self {
        self.verbs.extend(writing.verbs.names());
        self.verbs.sort_unstable();
        self.writing = Some(writing);
        self
    }

    /// The same, brought up to date before a GET of one object.
    #[must_use]
    pub fn freshened_by(mut self, freshener: Arc<dyn Freshener>) -> Self {
        self.freshener = Some(freshener);
        self
    }

    /// The same, with a subresource that is read.
    #[must_use]
    pub fn with_subresource(mut self, subresource: Arc<dyn ReadSubresource>) -> Self {
        self.subresources.add(subresource);
        self
    }

    /// The verbs that discovery promises.
    pub(crate) fn verbs(&self) -> &[&'static str] {
        &self.verbs
    }

    /// True if objects can be changed.
    pub(crate) fn has(&self, verb: &str) -> bool {
        self.verbs.contains(&verb)
    }
}

impl fmt::Debug for ServedResource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ServedResource")
            .field("collection", &self.collection)
            .field("freshened", &self.freshener.is_some())
            .field("verbs", &self.verbs)
            .finish_non_exhaustive()
    }
}

/// Why a server cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Two resources of a group and version have the same plural or kind.
    #[error("{api_version}: {name} is served twice")]
    Duplicate {
        /// Group and version.
        api_version: String,
        /// Plural or kind.
        name: String,
    },
    /// A resource cannot be written by the schema that it has.
    #[error("{plural} cannot be written")]
    Writing {
        /// The resource.
        plural: String,
        /// Why.
        #[source]
        source: PrepareError,
    },
}

/// Collects what a server is made of. See [`ApiServer::builder`].
#[derive(Default)]
pub struct ServerBuilder {
    resources: Vec<ServedResource>,
    authenticators: Vec<Arc<dyn Authenticator>>,
    authorizer: Option<Arc<dyn Authorizer>>,
    readiness: Readiness,
    registry: Registry,
    version: VersionInfo,
    limits: Limits,
    watching: Watching,
    drain: Drain,
    audit: Option<AuditLog>,
}

impl ServerBuilder {
    /// Serves a collection for reading.
    #[must_use]
    pub fn collection(self, collection: Arc<Collection>) -> Self {
        self.resource(ServedResource::new(collection))
    }

    /// Serves a resource.
    #[must_use]
    pub fn resource(mut self, resource: ServedResource) -> Self {
        self.resources.push(resource);
        self
    }

    /// Adds a way to find out who asks. Those added first are asked first; without any, everybody is anonymous.
    #[must_use]
    pub fn authenticator(mut self, authenticator: Arc<dyn Authenticator>) -> Self {
        self.authenticators.push(authenticator);
        self
    }

    /// Says who decides what is allowed. Without one, only members of `system:masters` may do anything.
    #[must_use]
    pub fn authorizer(mut self, authorizer: Arc<dyn Authorizer>) -> Self {
        self.authorizer = Some(authorizer);
        self
    }

    /// What `/readyz` waits for.
    #[must_use]
    pub fn readiness(mut self, readiness: Readiness) -> Self {
        self.readiness = readiness;
        self
    }

    /// What else `/metrics` shows. The server adds its own metrics under `aggregated_apiserver_`.
    #[must_use]
    pub fn metrics(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// What `/version` shows.
    #[must_use]
    pub fn version_info(mut self, version: VersionInfo) -> Self {
        self.version = version;
        self
    }

    /// Other bounds than the default ones.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Other times of watches than the default ones.
    #[must_use]
    pub fn watching(mut self, watching: Watching) -> Self {
        self.watching = watching;
        self
    }

    /// Other times of ending than the default ones.
    #[must_use]
    pub fn drain(mut self, drain: Drain) -> Self {
        self.drain = drain;
        self
    }

    /// Logs every request but probes of health.
    #[must_use]
    pub fn audit(mut self, log: AuditLog) -> Self {
        self.audit = Some(log);
        self
    }

    /// The server.
    pub fn build(mut self) -> Result<ApiServer, BuildError> {
        let mut names = BTreeSet::new();
        for resource in &mut self.resources {
            let definition = resource.collection.definition();
            for name in [&definition.plural, &definition.kind] {
                if !names.insert((definition.api_version(), name.clone())) {
                    let api_version = definition.api_version();
                    return Err(BuildError::Duplicate { api_version, name: name.clone() });
                }
            }
            if let Some(writing) = resource.writing.take() {
                let plural = definition.plural.clone();
                let prepared = Prepared::new(writing, definition)
                    .map_err(|source| BuildError::Writing { plural, source })?;
                resource.prepared = Some(Arc::new(prepared));
            }
            let time = self.limits.freshen;
            resource.freshening = resource.freshener.take().map(|by| Arc::new(Freshening::new(by, time)));
        }
        let collections: Vec<_> = self.resources.iter().map(|resource| resource.collection.clone()).collect();
        let metrics = Metrics::register(&mut self.registry, &collections, self.audit.clone());
        let site = Site {
            discovery: Discovery::of(&self.resources),
            openapi: OpenApi::of(&self.resources, &self.version),
            resources: self
                .resources
                .into_iter()
                .map(|resource| {
                    let d = resource.collection.definition();
                    ((d.group.clone(), d.version.clone(), d.plural.clone()), resource)
                })
                .collect(),
            authenticators: self.authenticators,
            authorizer: self
                .authorizer
                .unwrap_or_else(|| Arc::new(GroupAuthorizer::new("system:masters", "system:masters"))),
            health: Health::new(self.readiness),
            registry: self.registry,
            metrics,
            version: self.version,
            requests: Flow::new(self.limits.requests, self.limits.requests_per_user),
            watches: Flow::new(self.limits.watches, self.limits.watches_per_user),
            audit: self.audit,
            limits: self.limits,
            watching: self.watching,
            drain: self.drain,
            end_of_watches: CancellationToken::new(),
        };
        Ok(ApiServer { site: Arc::new(site) })
    }
}

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ServerBuilder").field("resources", &self.resources).finish_non_exhaustive()
    }
}

/// An API server, ready to [`serve`](ApiServer::serve). Clones are the same server.
#[derive(Clone)]
pub struct ApiServer {
    pub(super) site: Arc<Site>,
}

impl ApiServer {
    /// Starts building.
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }
}

impl fmt::Debug for ApiServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ApiServer").field("resources", &self.site.resources).finish_non_exhaustive()
    }
}

/// Everything that requests are answered from.
pub(crate) struct Site {
    pub(crate) resources: BTreeMap<(String, String, String), ServedResource>,
    pub(crate) discovery: Discovery,
    pub(crate) openapi: OpenApi,
    pub(crate) authenticators: Vec<Arc<dyn Authenticator>>,
    pub(crate) authorizer: Arc<dyn Authorizer>,
    pub(crate) health: Health,
    pub(crate) registry: Registry,
    pub(crate) metrics: Metrics,
    pub(crate) version: VersionInfo,
    pub(super) requests: Arc<Flow>,
    pub(super) watches: Arc<Flow>,
    pub(super) audit: Option<AuditLog>,
    pub(crate) limits: Limits,
    pub(crate) watching: Watching,
    pub(crate) drain: Drain,
    /// Ends every watch.
    pub(crate) end_of_watches: CancellationToken,
}
