//! Writing: POST, PUT, PATCH, DELETE of one and of many.
//!
//! ```text
//!  body ─► decode ─► patch or apply ─► prune, default ─► metadata ─► managed fields ─► validate ─► Storage ─► published ─► answer
//! ```
//!
//! What a write starts from is the published object and the revision of the store that it shows. The store takes the new object only if it
//! still has that revision; if it has another, somebody else was faster: the write waits until that is shown here, and is done again
//! on it, or refused if it said what it was based on.

mod create;
mod decode;
mod delete;
mod delete_collection;
mod fields;
mod metadata;
mod names;
mod object;
mod options;
mod patch;
mod patches;
mod prepared;
mod reply;
mod seen;
mod update;
mod validation;

use http::Response;
use hyper::body::Incoming;
use serde_json::Value;

pub(crate) use self::patch::{APPLY_PATCH, JSON_PATCH, MERGE_PATCH};
pub use self::prepared::PrepareError;
pub(crate) use self::prepared::Prepared;

use self::options::{For, WriteOptions};
use super::ResourceRequest;
use super::body::Body;
use crate::collection::{ObjectKey, PublishedObject, Wanted};
use crate::definition::ResourceDefinition;
use crate::representation::Representation;
use crate::request::accept::{self, Format};
use crate::status::{ApiStatus, Cause};
use crate::storage::{StorageError, Writing};

/// How often a write that says not what it is based on is done again when another one was faster.
const ATTEMPTS: usize = 12;

/// One write on its way.
struct Write<'a> {
    request: &'a ResourceRequest<'a>,
    prepared: &'a Prepared,
    format: Format,
    representation: Representation,
    warnings: Vec<String>,
}

/// The answer to a writing verb.
pub(super) async fn answer(
    request: &ResourceRequest<'_>,
    verb: &str,
    body: Incoming,
) -> Result<Response<Body>, ApiStatus> {
    let prepared = request.resource.prepared.as_deref().ok_or_else(ApiStatus::method_not_allowed)?;
    // Whatever cannot be answered must not be done.
    let (format, representation) = accept::for_objects(request.headers, request.query)?;
    let mut write = Write { request, prepared, format, representation, warnings: Vec::new() };
    match verb {
        "create" => write.create(body).await,
        "update" => write.update(body).await,
        "patch" => write.patch(body).await,
        "delete" => write.delete(body).await,
        "deletecollection" => write.delete_collection(body).await,
        _ => Err(ApiStatus::method_not_allowed()),
    }
}

impl<'a> Write<'a> {
    fn definition(&self) -> &'a ResourceDefinition {
        self.request.resource.collection.definition()
    }

    fn writing(&self) -> &'a Writing {
        &self.prepared.writing
    }

    /// The options of a write, if its writer may have that name.
    fn options(&self, what: For) -> Result<WriteOptions, ApiStatus> {
        let options = WriteOptions::parse(self.request.query, self.request.headers, what)?;
        if options.manager != object::NOBODY && !self.writing().reserved_managers.contains(&options.manager) {
            return Ok(options);
        }
        let cause = Cause::invalid("fieldManager", options.manager, "is reserved");
        Err(ApiStatus::invalid_options(what.kind(), &[cause]))
    }

    async fn body(&self, body: Incoming) -> Result<bytes::Bytes, ApiStatus> {
        let bytes = decode::read(body, self.request.site.limits.body_bytes).await?;
        Ok(self.request.sent.get_or_init(|| bytes).clone())
    }

    fn key(&self) -> Result<ObjectKey, ApiStatus> {
        self.request.key().ok_or_else(|| ApiStatus::bad_request("name must be provided"))
    }

    /// What is shown of an object now.
    fn wanted(&self, key: &ObjectKey) -> Option<Wanted> {
        self.request.resource.collection.wanted(key)
    }

    fn not_found(&self, key: &ObjectKey) -> ApiStatus {
        let definition = self.definition();
        ApiStatus::object_not_found(&definition.group, &definition.plural, &key.name)
    }

    fn conflict(&self, key: &ObjectKey, why: &str) -> ApiStatus {
        let definition = self.definition();
        ApiStatus::conflict(&definition.group, &definition.plural, &key.name, why)
    }

    /// An object as it would be shown under a version.
    fn preview(&self, object: Value, version: crate::ResourceVersion) -> Result<PublishedObject, ApiStatus> {
        self.request.resource.collection.preview(object, version).map_err(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, "a checked object cannot be shown");
            ApiStatus::internal("the object cannot be shown")
        })
    }

    /// A fault of the store as the client sees it; a lost race is none.
    fn store_fault(&self, key: &ObjectKey, error: &StorageError) -> ApiStatus {
        match error {
            StorageError::Conflict => self.conflict(key, seen::MODIFIED),
            StorageError::Exists => {
                let definition = self.definition();
                ApiStatus::already_exists(&definition.group, &definition.plural, &key.name)
            }
            StorageError::Forbidden(why) => {
                let definition = self.definition();
                let resource = format!("{}.{}", definition.plural, definition.group);
                ApiStatus::forbidden(format!("{resource} {:?} is forbidden: {why}", key.name))
            }
            StorageError::TooLarge(why) => {
                let code = http::StatusCode::PAYLOAD_TOO_LARGE;
                ApiStatus::new(code, "RequestEntityTooLarge", format!("Request entity too large: {why}"))
            }
            StorageError::Full(why) => ApiStatus::no_room(why),
            StorageError::Unavailable(why) => ApiStatus::unavailable(why, 1),
            StorageError::Fault { operation, .. } => {
                tracing::error!(error = error as &dyn std::error::Error, object = %key, "write failed");
                ApiStatus::internal(operation)
            }
        }
    }

    /// Waits until something else than a revision is shown of an object: `None` if it is not there any more.
    async fn shown_after(
        &self,
        key: &ObjectKey,
        before: Option<&Wanted>,
        patience: std::time::Duration,
    ) -> Option<Option<Wanted>> {
        let mut changes = self.request.resource.collection.changes();
        let waiting = async {
            loop {
                changes.borrow_and_update();
                let now = self.wanted(key);
                let moved = match (before, &now) {
                    (None, None) => false,
                    (Some(before), Some(now)) => {
                        before.revision != now.revision || before.object.uid() != now.object.uid()
                    }
                    _ => true,
                };
                if moved {
                    return now;
                }
                // The collection lives at least as long as the request.
                if changes.changed().await.is_err() {
                    return now;
                }
            }
        };
        tokio::time::timeout(patience, waiting).await.ok()
    }

    /// The object after a write that the store has acknowledged.
    async fn acknowledged(
        &self,
        key: &ObjectKey,
        before: Option<&Wanted>,
    ) -> Result<Option<Wanted>, ApiStatus> {
        const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);
        self.shown_after(key, before, PATIENCE).await.ok_or_else(|| {
            tracing::warn!(object = %key, "a write is stored and not shown yet");
            ApiStatus::timeout("the write is stored, but not shown yet")
        })
    }

    /// Waits until the write that was faster than this one is shown.
    async fn outrun(&self, key: &ObjectKey, before: Option<&Wanted>) -> Result<(), ApiStatus> {
        const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3);
        let shown = self.shown_after(key, before, PATIENCE).await;
        shown.map(drop).ok_or_else(|| self.conflict(key, seen::MODIFIED))
    }
}
