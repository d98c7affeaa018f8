//! How the verbs of a resource are served.
//!
//! Each verb is a function from a checked request to an answer.

pub(crate) mod body;
mod freshening;
mod get;
mod list;
mod pages;
mod subresource;
mod watch;
mod write;

use std::sync::OnceLock;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use hyper::body::Incoming;

pub(crate) use self::body::Body;
pub(crate) use self::freshening::Freshening;
pub(crate) use self::pages::{Page, Pages};
pub(crate) use self::subresource::Subresources;
pub use self::subresource::{ReadSubresource, SubresourceDefinition, SubresourceItem, SubresourceList};
pub use self::write::PrepareError;
pub(crate) use self::write::{APPLY_PATCH, JSON_PATCH, MERGE_PATCH, Prepared};

use crate::collection::{Collection, ObjectKey, Snapshot};
use crate::identity::User;
use crate::request::info::ResourcePath;
use crate::request::query::Query;
use crate::selector::{FieldSelector, Filter, LabelSelector};
use crate::server::{ServedResource, Site};
use crate::status::ApiStatus;

/// A request for objects of a resource that is served, by somebody who may.
pub(crate) struct ResourceRequest<'a> {
    pub(crate) site: &'a Site,
    pub(crate) user: &'a User,
    pub(crate) resource: &'a ServedResource,
    pub(crate) path: &'a ResourcePath,
    pub(crate) query: &'a Query,
    pub(crate) headers: &'a HeaderMap,
    /// What the client sent, once it has been read.
    pub(crate) sent: &'a OnceLock<Bytes>,
}

/// The answer, by verb.
pub(crate) async fn answer(
    request: ResourceRequest<'_>,
    verb: &str,
    body: Incoming,
) -> Result<Response<Body>, ApiStatus> {
    let definition = request.resource.collection.definition();
    let needs_namespace = definition.namespaced() && request.path.name.is_some();
    let has_namespace = request.path.namespace.is_some();
    if (has_namespace && !definition.namespaced()) || (needs_namespace && !has_namespace) {
        return Err(ApiStatus::path_not_found());
    }
    let subresource = request.resource.subresources.find(&request.path.subresource);
    if !request.path.subresource.is_empty() && subresource.is_none() {
        return Err(no_subresource(&request, verb));
    }
    if subresource.is_none() && !request.resource.verbs().contains(&verb) {
        return Err(ApiStatus::method_not_allowed());
    }
    if !request.resource.collection.is_complete() {
        let message = format!("{} are not known yet, please try again", definition.plural);
        return Err(ApiStatus::unavailable(message, 1));
    }
    if let Some(subresource) = subresource {
        return subresource::answer(&request, verb, subresource).await;
    }
    match verb {
        "get" => get::answer(&request).await,
        "list" => list::answer(&request).await,
        "watch" => watch::answer(&request).await,
        _ => write::answer(&request, verb, body).await,
    }
}

/// There is no such subresource. Who tries to write the status is told why that is not possible.
fn no_subresource(request: &ResourceRequest<'_>, verb: &str) -> ApiStatus {
    if request.path.subresource != "status" || !["update", "patch"].contains(&verb) {
        return ApiStatus::path_not_found();
    }
    let plural = &request.resource.collection.definition().plural;
    let message = format!("the status of {plural} is computed and cannot be written");
    ApiStatus::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
}

impl ResourceRequest<'_> {
    fn key(&self) -> Option<ObjectKey> {
        let name = self.path.name.clone()?;
        Some(ObjectKey { namespace: self.path.namespace.clone(), name })
    }

    fn filter(&self) -> Result<Filter, ApiStatus> {
        let refused = |error: &dyn std::error::Error| ApiStatus::bad_request(error.to_string());
        let labels = self.query.get("labelSelector").unwrap_or_default();
        let labels = LabelSelector::parse(labels).map_err(|error| refused(&error))?;
        let fields = self.query.get("fieldSelector").unwrap_or_default();
        let fields =
            FieldSelector::parse(fields, &self.resource.collection).map_err(|error| refused(&error))?;
        let fields = match &self.path.name {
            None => fields,
            Some(name) => match fields.name() {
                Some(other) if other != name => {
                    let message =
                        format!("fieldSelector metadata.name={other} does not match the name {name}");
                    return Err(ApiStatus::bad_request(message));
                }
                _ => fields.and_name(name),
            },
        };
        Ok(Filter { namespace: self.path.namespace.clone(), labels, fields })
    }
}

/// What there is now, perhaps more than matches: a list of one name looks at one object.
fn snapshot(collection: &Collection, filter: &Filter) -> Snapshot {
    let namespace = filter.namespace.clone();
    match filter.fields.name() {
        Some(name) if namespace.is_some() == collection.definition().namespaced() => {
            collection.list_one(&ObjectKey { namespace, name: name.to_owned() })
        }
        _ => collection.list(namespace.as_deref()),
    }
}

/// Waits until a version is not in the future any more, but not long: clocks of replicas differ a little.
async fn reach(request: &ResourceRequest<'_>, version: crate::ResourceVersion) -> Result<(), ApiStatus> {
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3);
    let clock = request.resource.collection.clock();
    let ahead = clock.ahead(version);
    if ahead > PATIENCE {
        return Err(ApiStatus::version_too_large(version, clock.read()));
    }
    if !ahead.is_zero() {
        tokio::time::sleep(ahead).await;
    }
    Ok(())
}
