//! Kubernetes API machinery for an aggregated API server whose resources are computed live.
//!
//! ```text
//!  your program                      this crate                                    clients
//!  ────────────                      ──────────                                    ───────
//!  Collection::publish ─► bytes ─► objects + ring of events ─► get list watch ─► kubectl
//!  Collection::amend                 discovery, OpenAPI, tables, selectors         client-go
//!  Collection::withdraw              who asks (front proxy, certificates)          kube-rs
//!  Freshener           ◄──────────── may they (SubjectAccessReview, groups)        …
//!  Readiness, Registry               /livez /readyz /metrics /version, drain
//! ```
//!
//! A [`ResourceDefinition`] says what a resource is. A [`Collection`] holds its objects as the bytes that clients get;
//! the program publishes an object whenever it means something new, and everything that Kubernetes' clients expect
//! of a list, a watch or a table follows. An [`ApiServer`] serves any number of collections.
//!
//! `examples/live_resource.rs` is a whole server in one file.
//!
//! What it promises, each promise with a test of its own:
//!
//! * A list says nothing of what a watch from its version would not tell later, also when the watch is at another replica
//!   ([`CollectionOptions::overlap`]) and when selectors make objects come and go.
//! * A watch from a version that is no longer known, or not yet, is a 410 event of a good answer; a list of one of the future is a
//!   504; "" and "0" always work. Versions grow whatever the wall clock does, and tell which process issued them.
//! * A streaming list ends with its bookmark, also without objects, as metadata and as a table.
//! * Readers never wait for each other, and a publisher for none of them. One that stops reading is cut off, alone.
//! * Discovery, OpenAPI and health depend on nothing but the program itself. When the cluster does not say who may do what,
//!   resources are 503 with `Retry-After`, and whatever is asked again later is answered.
//! * Headers of the front proxy are believed only with its certificate. Without identity one sees signs of life.
//! * Before everything is known ([`CollectionOptions::complete`]) resources are 503, never an empty list.
//! * To end: `/readyz` fails, requests are still served for a while, watches end cleanly, connections are told to go.
//! * A write is acknowledged when the program has stored it and this replica shows it. Live status never conflicts with a write of
//!   what is wanted; newer intent always does, also what another replica has not heard of.
//! * A dry run checks everything and touches nothing.
//!
//! Served: get, list (in pages), watch; JSON, YAML, Table, PartialObjectMetadata; and for a resource that plugs in a [`Storage`]: create,
//! update, patch (JSON, merge, apply), delete, deletecollection. Subresources are not served.
//!
//! ```
//! use aggregated_apiserver::{Collection, CollectionOptions, PublishOutcome, ResourceDefinition, Scope, VersionClock};
//! use serde_json::json;
//! use std::sync::Arc;
//!
//! let definition = ResourceDefinition {
//!     group: "weather.example.com".into(),
//!     version: "v1".into(),
//!     kind: "Station".into(),
//!     list_kind: "StationList".into(),
//!     plural: "stations".into(),
//!     singular: "station".into(),
//!     short_names: vec!["wst".into()],
//!     categories: vec![],
//!     scope: Scope::Cluster,
//!     columns: vec![],
//!     selectable_fields: vec![".spec.region".into()],
//!     schema: json!({"type": "object", "properties": {"spec": {"type": "object"}}}),
//!     description: "A weather station.".into(),
//! };
//! let clock = Arc::new(VersionClock::new(0));
//! let stations = Collection::new(definition, clock, CollectionOptions::default())?;
//! let object = json!({"metadata": {"name": "a", "uid": "7d0f…"}, "spec": {"region": "north"}});
//! assert!(matches!(stations.publish(object.clone())?, PublishOutcome::Added(_)));
//! assert!(matches!(stations.publish(object)?, PublishOutcome::Unchanged(_)));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod authorization;
mod collection;
mod definition;
mod discovery;
mod identity;
mod json_path;
mod openapi;
mod recall;
mod representation;
mod request;
mod selector;
mod serve;
mod server;
mod status;
mod storage;
mod together;
mod version;

#[cfg(test)]
mod testing;

pub use authorization::{
    AccessTarget, Attributes, AuthorizationError, Authorizer, Decision, GroupAuthorizer,
    SubjectAccessReviewAuthorizer,
};
pub use collection::{
    AmendOutcome, Collection, CollectionOptions, Event, EventKind, Expired, ObjectKey, PublishError,
    PublishOutcome, PublishedObject, Revision, Snapshot,
};
pub use definition::{CheckedPaths, Column, DefinitionError, ResourceDefinition, Scope};
pub use identity::{
    AuthenticationConfigMap, AuthenticationError, Authenticator, AuthorityFileError,
    CertificateAuthenticator, CertificateAuthority, ClientAuthorityFile, ConfigMapError, FrontProxy,
    FrontProxyHeaders, PeerCertificates, TokenReviewAuthenticator, Trust, TrustError, User,
};
pub use json_path::JsonPathError;
pub use serve::{PrepareError, ReadSubresource, SubresourceDefinition, SubresourceItem, SubresourceList};
pub use server::{
    ApiServer, AuditLevel, AuditLog, BuildError, Drain, Freshener, Latch, Limits, Readiness, ServeError,
    ServedResource, ServerBuilder, TlsConfig, TlsError, VersionInfo, Watching,
};
pub use status::{ApiStatus, Cause};
pub use storage::{NoReplicas, Replicas, SchemaOnly, Storage, StorageError, Strategy, WriteVerbs, Writing};
pub use version::{ParseVersionError, ResourceVersion, VersionClock};
