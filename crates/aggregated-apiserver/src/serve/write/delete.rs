//! DELETE of one object: at once, or when the last of its finalizers has been taken away.

use http::{Response, StatusCode};
use hyper::body::Incoming;
use serde_json::Value;

use super::metadata::{FOREGROUND, ORPHAN};
use super::object::{metadata_mut, now, raise_generation};
use super::options::{DeleteOptions, Propagation};
use super::{ATTEMPTS, Write, metadata};
use crate::collection::{ObjectKey, PublishedObject, Wanted};
use crate::serve::body::Body;
use crate::status::ApiStatus;
use crate::storage::StorageError;

/// What a deletion led to.
pub(super) enum Deletion {
    /// The object is gone. This was its last state.
    Gone(Box<PublishedObject>),
    /// It waits for its finalizers.
    Waits(Box<PublishedObject>),
}

impl Write<'_> {
    pub(super) async fn delete(&mut self, body: Incoming) -> Result<Response<Body>, ApiStatus> {
        let key = self.key()?;
        let bytes = self.body(body).await?;
        let options = DeleteOptions::parse(self.request.query, self.request.headers, &bytes)?;
        match self.delete_one(&key, &options).await? {
            Deletion::Gone(object) => self.success(&object),
            Deletion::Waits(object) => {
                let code = if options.cascades { StatusCode::ACCEPTED } else { StatusCode::OK };
                self.object(code, &object)
            }
        }
    }

    pub(super) async fn delete_one(
        &self,
        key: &ObjectKey,
        options: &DeleteOptions,
    ) -> Result<Deletion, ApiStatus> {
        let _turn = self.prepared.turn(key).await;
        for _ in 0..ATTEMPTS {
            let wanted = self.wanted(key).ok_or_else(|| self.not_found(key))?;
            self.check_preconditions(key, &wanted, options)?;
            let (old, status) = self.stored_form(&wanted.object)?;
            let (new, waits) = self.leaving(&old, options);
            let storage = &self.writing().storage;
            let stored = if options.dry_run || (waits && new == old) {
                Ok(())
            } else if waits {
                storage.replace(key, &wanted.revision, &old, &new).await.map(drop)
            } else {
                storage.remove(key, &wanted.revision, &old).await
            };
            match stored {
                Ok(()) => {}
                Err(StorageError::Conflict | StorageError::Exists) => {
                    self.outrun(key, Some(&wanted)).await?;
                    continue;
                }
                Err(error) => return Err(self.store_fault(key, &error)),
            }
            if !options.dry_run && (!waits || new != old) {
                let shown = self.acknowledged(key, Some(&wanted)).await?;
                if let (true, Some(shown)) = (waits, shown) {
                    return Ok(Deletion::Waits(Box::new((*shown.object).clone())));
                }
            }
            let mut last = new;
            if let (Some(status), Some(map)) = (status, last.as_object_mut()) {
                map.insert("status".to_owned(), status);
            }
            let last = Box::new(self.preview(last, wanted.object.version())?);
            return Ok(if waits { Deletion::Waits(last) } else { Deletion::Gone(last) });
        }
        Err(self.conflict(key, super::seen::MODIFIED))
    }

    fn check_preconditions(
        &self,
        key: &ObjectKey,
        wanted: &Wanted,
        options: &DeleteOptions,
    ) -> Result<(), ApiStatus> {
        let conflict = |why: String| {
            let definition = self.definition();
            ApiStatus::conflict(&definition.group, &definition.kind, &key.name, &why)
        };
        let (uid, version) = (wanted.object.uid(), wanted.object.version());
        if let Some(expected) = options.uid.as_deref().filter(|expected| *expected != uid) {
            return Err(conflict(format!(
                "the UID in the precondition ({expected}) does not match the UID in record ({uid}). The object might \
                 have been deleted and then recreated"
            )));
        }
        if let Some(expected) = &options.resource_version {
            let seen = expected.parse().is_ok_and(|expected| self.has_seen(expected, key, wanted));
            if !seen {
                return Err(conflict(format!(
                    "the ResourceVersion in the precondition ({expected}) does not match the ResourceVersion in record \
                     ({version}). The object might have been modified"
                )));
            }
        }
        Ok(())
    }

    /// The object on its way out, and whether it has to wait for finalizers.
    fn leaving(&self, old: &Value, options: &DeleteOptions) -> (Value, bool) {
        let mut new = old.clone();
        let Some(fields) = metadata_mut(&mut new) else { return (new, false) };
        let mut finalizers: Vec<String> =
            metadata::finalizers(fields).into_iter().map(str::to_owned).collect();
        if self.writing().garbage_collected
            && let Some(propagation) = options.propagation
        {
            let wanted = match propagation {
                Propagation::Background => None,
                Propagation::Foreground => Some(FOREGROUND),
                Propagation::Orphan => Some(ORPHAN),
            };
            finalizers.retain(|finalizer| {
                Some(finalizer.as_str()) == wanted || ![ORPHAN, FOREGROUND].contains(&finalizer.as_str())
            });
            finalizers.extend(
                wanted
                    .filter(|wanted| !finalizers.iter().any(|finalizer| finalizer == wanted))
                    .map(str::to_owned),
            );
        }
        let waits = !finalizers.is_empty();
        if waits {
            fields.insert("finalizers".to_owned(), finalizers.into());
        } else {
            fields.remove("finalizers");
        }
        if waits && !fields.contains_key("deletionTimestamp") {
            fields.insert("deletionTimestamp".to_owned(), now().to_string().into());
            fields.insert("deletionGracePeriodSeconds".to_owned(), 0.into());
            raise_generation(fields);
        }
        (new, waits)
    }
}
