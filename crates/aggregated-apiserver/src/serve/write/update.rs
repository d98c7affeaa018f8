//! PUT, and what all changes of an object that is there have in common.

use http::{Response, StatusCode};
use hyper::body::Incoming;
use serde_json::Value;

use super::object::{Origin, metadata_mut, metadata_of, now, settle, tracked, without_nobody};
use super::options::{For, WriteOptions};
use super::{ATTEMPTS, Write, decode, metadata};
use crate::collection::{ObjectKey, Wanted};
use crate::serve::body::Body;
use crate::status::ApiStatus;
use crate::storage::StorageError;

/// How far a change has come.
pub(super) enum Change {
    /// It is answered.
    Done(Response<Body>),
    /// Another write was faster.
    Outrun,
}

impl Write<'_> {
    pub(super) async fn update(&mut self, body: Incoming) -> Result<Response<Body>, ApiStatus> {
        let key = self.key()?;
        let headers = self.request.headers;
        let syntax = decode::syntax(headers)?;
        let bytes = self.body(body).await?;
        let options = self.options(For::Update)?;
        let decoded = decode::decode(&bytes, syntax).map_err(|error| {
            ApiStatus::bad_request(format!(
                "the object provided is unrecognized (must be of type {}): {error}",
                self.definition().kind
            ))
        })?;
        let object = self.admit(decoded.value, &decoded.duplicates, &options, Origin::Body)?;
        self.check_name(&object, &key)?;
        let _turn = self.prepared.turn(&key).await;
        for _ in 0..ATTEMPTS {
            let wanted = self.wanted(&key).ok_or_else(|| self.not_found(&key))?;
            self.check_uid(&object, &key, &wanted)?;
            self.check_version(&object, &key, &wanted)?;
            let (old, status) = self.stored_form(&wanted.object)?;
            let mut new = object.clone();
            self.complete(&key, &mut new);
            let new = self.updated(&old, &wanted, new, &options);
            self.judge(Some(&old), &new)?;
            match self.store_change(&key, &wanted, &old, new, status, &options).await? {
                Change::Done(response) => return Ok(response),
                Change::Outrun => self.outrun(&key, Some(&wanted)).await?,
            }
        }
        Err(self.conflict(&key, super::seen::MODIFIED))
    }

    /// A PUT for another object of the same name is refused.
    fn check_uid(&self, object: &Value, key: &ObjectKey, wanted: &Wanted) -> Result<(), ApiStatus> {
        let uid = metadata_of(object).map(|metadata| metadata::text(metadata, "uid")).unwrap_or_default();
        let there = wanted.object.uid();
        if uid.is_empty() || uid == there {
            return Ok(());
        }
        let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {there}");
        Err(self.conflict(key, &why))
    }

    /// The version that an object names must show what is wanted now.
    pub(super) fn check_version(
        &self,
        object: &Value,
        key: &ObjectKey,
        wanted: &Wanted,
    ) -> Result<(), ApiStatus> {
        match metadata_of(object).map(|metadata| metadata::text(metadata, "resourceVersion")) {
            None | Some("" | "0") => Err(self.version_missing(key)),
            Some(version) => self.check_seen(version, key, wanted),
        }
    }

    /// The successor of an object, with its generation and the owners of its fields.
    pub(super) fn updated(
        &self,
        old: &Value,
        wanted: &Wanted,
        mut new: Value,
        options: &WriteOptions,
    ) -> Value {
        settle(old, &mut new);
        let manager = self.manager(options);
        let live = self.tracked(old, wanted);
        let mut new = server_side_apply::update(&self.prepared.ownership, Some(&live), &new, &manager, now());
        without_nobody(&mut new);
        server_side_apply::keep_times(old, &mut new);
        new
    }

    /// The object with owners, also if nobody has written it.
    pub(super) fn tracked(&self, old: &Value, wanted: &Wanted) -> Value {
        tracked(old, !wanted.revision.is_none(), &self.definition().api_version())
    }

    /// Stores the successor of an object, unless it is the same or only tried.
    pub(super) async fn store_change(
        &self,
        key: &ObjectKey,
        wanted: &Wanted,
        old: &Value,
        mut new: Value,
        status: Option<Value>,
        options: &WriteOptions,
    ) -> Result<Change, ApiStatus> {
        if let Some(metadata) = metadata_mut(&mut new) {
            metadata::tidy(metadata);
            if metadata.get("managedFields").and_then(Value::as_array).is_some_and(Vec::is_empty) {
                metadata.remove("managedFields");
            }
        }
        if *old == new {
            return self.object(StatusCode::OK, &wanted.object).map(Change::Done);
        }
        let leaves = metadata_of(&new).is_some_and(|metadata| {
            metadata.contains_key("deletionTimestamp") && metadata::finalizers(metadata).is_empty()
        });
        let storage = &self.writing().storage;
        let stored = if options.dry_run {
            Ok(())
        } else if leaves {
            storage.remove(key, &wanted.revision, &new).await
        } else {
            storage.replace(key, &wanted.revision, old, &new).await.map(drop)
        };
        match stored {
            Ok(()) => {}
            Err(StorageError::Conflict | StorageError::Exists) => return Ok(Change::Outrun),
            Err(error) => return Err(self.store_fault(key, &error)),
        }
        let shown = if options.dry_run { None } else { self.acknowledged(key, Some(wanted)).await? };
        if let Some(shown) = shown.filter(|shown| !leaves && shown.object.uid() == wanted.object.uid()) {
            return self.object(StatusCode::OK, &shown.object).map(Change::Done);
        }
        if let (Some(status), Some(map)) = (status, new.as_object_mut()) {
            map.insert("status".to_owned(), status);
        }
        let preview = self.preview(new, wanted.object.version())?;
        self.object(StatusCode::OK, &preview).map(Change::Done)
    }
}
