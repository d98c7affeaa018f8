//! PATCH: JSON patch, merge patch, and server-side apply.

use http::{Response, StatusCode};
use hyper::body::Incoming;
use serde_json::Value;
use server_side_apply::ApplyError;

use super::decode::{Decoded, Syntax};
use super::object::{Origin, metadata_of, now, settle, without_nobody};
use super::options::{FieldValidation, For, WriteOptions};
use super::patches::Patch;
use super::update::Change;
use super::{ATTEMPTS, Write, decode, metadata};
use crate::authorization::{AccessTarget, Attributes};
use crate::collection::ObjectKey;
use crate::serve::body::Body;
use crate::status::{ApiStatus, Cause};

pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
pub(crate) const MERGE_PATCH: &str = "application/merge-patch+json";
pub(crate) const APPLY_PATCH: &str = "application/apply-patch+yaml";

impl Write<'_> {
    pub(super) async fn patch(&mut self, body: Incoming) -> Result<Response<Body>, ApiStatus> {
        let key = self.key()?;
        let headers = self.request.headers;
        let media_type = decode::media_type(headers);
        if ![JSON_PATCH, MERGE_PATCH, APPLY_PATCH].contains(&media_type.as_str()) {
            return Err(ApiStatus::unsupported_media_type(&[JSON_PATCH, MERGE_PATCH, APPLY_PATCH]));
        }
        let apply = media_type == APPLY_PATCH;
        let bytes = self.body(body).await?;
        let options = self.options(For::Patch { apply })?;
        if apply {
            let decoded = if bytes.trim_ascii().is_empty() {
                Decoded::default()
            } else {
                decode::decode(&bytes, Syntax::Yaml)
                    .map_err(|error| ApiStatus::bad_request(format!("error decoding YAML: {error}")))?
            };
            return self.apply(&key, decoded, &options).await;
        }
        let decoded = decode::decode(&bytes, Syntax::Json)
            .map_err(|error| ApiStatus::bad_request(format!("error decoding patch: {error}")))?;
        let patch = if media_type == JSON_PATCH { Patch::json } else { Patch::merge }(decoded.value)?;
        self.change(&key, &patch, &decoded.duplicates, &options).await
    }

    async fn change(
        &mut self,
        key: &ObjectKey,
        patch: &Patch,
        duplicates: &[String],
        options: &WriteOptions,
    ) -> Result<Response<Body>, ApiStatus> {
        let _turn = self.prepared.turn(key).await;
        for _ in 0..ATTEMPTS {
            self.warnings.clear();
            let wanted = self.wanted(key).ok_or_else(|| self.not_found(key))?;
            let patched = patch.apply(&self.parsed(&wanted.object)?)?;
            let object = self.admit(patched, duplicates, options, Origin::Patch)?;
            self.check_name(&object, key)?;
            self.check_version(&object, key, &wanted)?;
            let (old, status) = self.stored_form(&wanted.object)?;
            let mut new = object;
            self.complete(key, &mut new);
            let new = self.updated(&old, &wanted, new, options);
            self.judge(Some(&old), &new)?;
            match self.store_change(key, &wanted, &old, new, status, options).await? {
                Change::Done(response) => return Ok(response),
                Change::Outrun => self.outrun(key, Some(&wanted)).await?,
            }
        }
        Err(self.conflict(key, super::seen::MODIFIED))
    }

    async fn apply(
        &mut self,
        key: &ObjectKey,
        decoded: Decoded,
        options: &WriteOptions,
    ) -> Result<Response<Body>, ApiStatus> {
        let mut applied = decoded.value;
        if applied.is_null() {
            applied = Value::Object(serde_json::Map::new());
        }
        if !applied.is_object() {
            return Err(ApiStatus::bad_request("error decoding YAML: the body must be an object"));
        }
        self.check_applied_type(&applied)?;
        self.check_name(&applied, key)?;
        let _turn = self.prepared.turn(key).await;
        for _ in 0..ATTEMPTS {
            self.warnings.clear();
            let Some(wanted) = self.wanted(key) else {
                let created = self.apply_new(key, &applied, &decoded.duplicates, options).await;
                match created {
                    Err(status) if status.reason() == "AlreadyExists" => {
                        self.outrun(key, None).await?;
                        continue;
                    }
                    other => return other,
                }
            };
            let (old, status) = self.stored_form(&wanted.object)?;
            let mut new = self.merged(Some(&self.tracked(&old, &wanted)), &applied, options)?;
            without_nobody(&mut new);
            if let Some(version) =
                metadata_of(&new).map(|metadata| metadata::text(metadata, "resourceVersion"))
                && !version.is_empty()
            {
                self.check_seen(version, key, &wanted)?;
            }
            self.report_applied(&decoded.duplicates, options)?;
            self.complete(key, &mut new);
            settle(&old, &mut new);
            server_side_apply::keep_times(&old, &mut new);
            self.judge(Some(&old), &new)?;
            match self.store_change(key, &wanted, &old, new, status, options).await? {
                Change::Done(response) => return Ok(response),
                Change::Outrun => self.outrun(key, Some(&wanted)).await?,
            }
        }
        Err(self.conflict(key, super::seen::MODIFIED))
    }

    /// An apply to a name that is not there creates, for whoever may.
    async fn apply_new(
        &mut self,
        key: &ObjectKey,
        applied: &Value,
        duplicates: &[String],
        options: &WriteOptions,
    ) -> Result<Response<Body>, ApiStatus> {
        if !self.writing().verbs.create {
            return Err(self.not_found(key));
        }
        self.may_create(key).await?;
        let merged = self.merged(None, applied, options)?;
        self.report_applied(duplicates, options)?;
        if let Some(uid) = metadata_of(&merged).map(|metadata| metadata::text(metadata, "uid"))
            && !uid.is_empty()
        {
            let why = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            );
            return Err(self.conflict(key, &why));
        }
        let object = self.newborn(key, merged, None);
        self.judge(None, &object)?;
        self.store_new(key, object, options).await
    }

    async fn may_create(&self, key: &ObjectKey) -> Result<(), ApiStatus> {
        let path = self.request.path;
        let target = AccessTarget::Resource {
            group: path.group.clone(),
            version: path.version.clone(),
            resource: path.resource.clone(),
            subresource: String::new(),
            namespace: key.namespace.clone().unwrap_or_default(),
            name: key.name.clone(),
        };
        let attributes = Attributes { verb: "create".to_owned(), target };
        self.request.site.authorize(self.request.user, &attributes).await
    }

    fn check_applied_type(&self, applied: &Value) -> Result<(), ApiStatus> {
        let text = |field: &str| applied.get(field).and_then(Value::as_str).unwrap_or_default();
        let definition = self.definition();
        if text("apiVersion") == definition.api_version() && text("kind") == definition.kind {
            return Ok(());
        }
        let version = text("apiVersion");
        let slash = if version.contains('/') { "" } else { "/" };
        Err(ApiStatus::bad_request(format!("invalid object type: {slash}{version}, Kind={}", text("kind"))))
    }

    /// The applied fields in the object, with their owners.
    fn merged(
        &self,
        old: Option<&Value>,
        applied: &Value,
        options: &WriteOptions,
    ) -> Result<Value, ApiStatus> {
        let manager = self.manager(options);
        let (ownership, force) = (&self.prepared.ownership, options.force);
        let merged = server_side_apply::apply(ownership, old, applied, &manager, force, now());
        let mut object = merged.map_err(|error| refusal(&error))?.object;
        if let Some(map) = object.as_object_mut() {
            map.remove("status");
        }
        Ok(object)
    }

    fn report_applied(&mut self, duplicates: &[String], options: &WriteOptions) -> Result<(), ApiStatus> {
        let faults: Vec<_> = duplicates.iter().map(|path| format!("duplicate field {path:?}")).collect();
        match options.field_validation {
            FieldValidation::Strict if !faults.is_empty() => {
                Err(ApiStatus::bad_request(format!("error strict decoding YAML: {}", faults.join(", "))))
            }
            FieldValidation::Ignore => Ok(()),
            FieldValidation::Warn | FieldValidation::Strict => {
                self.warnings.extend(faults);
                Ok(())
            }
        }
    }
}

fn refusal(error: &ApplyError) -> ApiStatus {
    match error {
        ApplyError::Conflicts(conflicts) => {
            let causes: Vec<_> = conflicts
                .causes()
                .into_iter()
                .map(|cause| Cause {
                    reason: "FieldManagerConflict",
                    message: cause.message,
                    field: cause.field,
                })
                .collect();
            ApiStatus::new(StatusCode::CONFLICT, "Conflict", error.to_string()).causes(&causes)
        }
        ApplyError::ManagedFieldsInBody | ApplyError::OtherType(_) => {
            ApiStatus::bad_request(error.to_string())
        }
        // As in kube-apiserver, where this is an error and not a Status; clients print its message.
        _ => ApiStatus::new(StatusCode::INTERNAL_SERVER_ERROR, "", error.to_string()),
    }
}
