//! An object on its way into the store: taken from a body, settled against what it replaces, judged.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::options::{FieldValidation, WriteOptions};
use super::{Write, fields, metadata};
use crate::collection::{ObjectKey, PublishedObject};
use crate::status::{ApiStatus, Cause};

/// Where an object came from: the words of some refusals depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The body is the object.
    Body,
    /// A patch made it.
    Patch,
}

impl Write<'_> {
    /// Brings a decoded object into the form of its schema. Without status: that is not for clients to write.
    pub(super) fn admit(
        &mut self,
        mut object: Value,
        duplicates: &[String],
        options: &WriteOptions,
        origin: Origin,
    ) -> Result<Value, ApiStatus> {
        self.check_type(&object, origin)?;
        let refuse = |write: &Self, message: &str, object: &Value| write.undecodable(message, object, origin);
        let mut unknown = fields::prune(&self.prepared.checked.schema, &mut object);
        let untouched = object.clone();
        if let Some(map) = object.as_object_mut() {
            map.remove("status");
            let metadata = map.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
            if metadata.is_null() {
                *metadata = Value::Object(Map::new());
            }
            metadata::prune(metadata, &mut unknown).map_err(|message| refuse(self, &message, &untouched))?;
            if let Some(metadata) = metadata.as_object_mut() {
                metadata::tidy(metadata);
            }
        }
        self.report(duplicates, &unknown, options, |message| refuse(self, message, &untouched))?
            .into_iter()
            .for_each(|warning| self.warnings.push(warning));
        fields::drop_nulls(&self.prepared.checked.schema, &mut object);
        Ok(object)
    }

    fn check_type(&self, object: &Value, origin: Origin) -> Result<(), ApiStatus> {
        let definition = self.definition();
        let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
        let (kind, version) = (text("kind"), text("apiVersion"));
        if !object.is_object() || kind.is_empty() {
            let message = format!("Object 'Kind' is missing in '{}'", shortened(object));
            return Err(match origin {
                Origin::Patch => self.undecodable(&message, object, origin),
                Origin::Body => ApiStatus::bad_request(format!(
                    "the object provided is unrecognized (must be of type {}): {message}",
                    definition.kind
                )),
            });
        }
        let expected = definition.api_version();
        let mut causes = Vec::new();
        if version != expected {
            if origin == Origin::Body {
                return Err(ApiStatus::bad_request(format!(
                    "the API version in the data ({version}) does not match the expected API version ({expected})"
                )));
            }
            causes.push(Cause::invalid("apiVersion", version, &format!("must be {expected}")));
        }
        if kind != definition.kind {
            causes.push(Cause::invalid("kind", kind, &format!("must be {}", definition.kind)));
        }
        if causes.is_empty() {
            return Ok(());
        }
        let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        Err(ApiStatus::invalid(&definition.group, kind, name, &causes))
    }

    fn undecodable(&self, message: &str, object: &Value, origin: Origin) -> ApiStatus {
        let definition = self.definition();
        match origin {
            Origin::Body => ApiStatus::bad_request(format!(
                "{kind} in version {:?} cannot be handled as a {kind}: {message}",
                definition.version,
                kind = definition.kind
            )),
            Origin::Patch => {
                ApiStatus::invalid("", "", "", &[Cause::invalid("patch", shortened(object), message)])
            }
        }
    }

    /// Warnings about fields that are unknown or there twice, or a refusal, as the writer wants it.
    fn report(
        &self,
        duplicates: &[String],
        unknown: &[String],
        options: &WriteOptions,
        refuse: impl Fn(&str) -> ApiStatus,
    ) -> Result<Vec<String>, ApiStatus> {
        let duplicates = duplicates.iter().map(|path| format!("duplicate field {path:?}"));
        let faults: Vec<_> =
            duplicates.chain(unknown.iter().map(|path| format!("unknown field {path:?}"))).collect();
        match options.field_validation {
            FieldValidation::Strict if !faults.is_empty() => {
                Err(refuse(&format!("strict decoding error: {}", faults.join(", "))))
            }
            FieldValidation::Ignore => Ok(Vec::new()),
            FieldValidation::Warn | FieldValidation::Strict => Ok(faults),
        }
    }

    /// The name in the object must be that of the request.
    pub(super) fn check_name(&self, object: &Value, key: &ObjectKey) -> Result<(), ApiStatus> {
        let text = |field: &str| {
            object.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Value::as_str)
        };
        let (name, url) = (text("name").unwrap_or_default(), &key.name);
        if name.is_empty() {
            return Err(ApiStatus::bad_request(format!(
                "the name of the object ({url} based on URL) was undeterminable: name must be provided"
            )));
        }
        if name != url {
            return Err(ApiStatus::bad_request(format!(
                "the name of the object ({name}) does not match the name on the URL ({url})"
            )));
        }
        self.check_namespace(object, key.namespace.as_deref())
    }

    /// The namespace in the object must be that of the request, or absent.
    pub(super) fn check_namespace(&self, object: &Value, namespace: Option<&str>) -> Result<(), ApiStatus> {
        let given = object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or_default();
        match namespace {
            Some(namespace) if !given.is_empty() && given != namespace => Err(ApiStatus::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            )),
            _ => Ok(()),
        }
    }

    /// Fills in what the writer left out: by the resource's own rules first, then by the schema.
    pub(super) fn complete(&self, key: &ObjectKey, object: &mut Value) {
        self.writing().strategy.fill(key, object);
        fields::fill_defaults(&self.prepared.checked.schema, object);
    }

    /// What is wrong with an object, by itself or as the successor of another.
    pub(super) fn judge(&mut self, old: Option<&Value>, new: &Value) -> Result<(), ApiStatus> {
        let mut causes = metadata_of(new).map(metadata::faults).unwrap_or_default();
        if let (Some(old), Some(new)) = (old.and_then(metadata_of), metadata_of(new)) {
            causes.extend(metadata::update_faults(old, new));
        }
        let by_schema = self.prepared.checked.faults(new);
        let has_form = by_schema.is_empty();
        causes.extend(by_schema);
        if has_form {
            // Rules beyond the schema may rely on it.
            let strategy = &self.writing().strategy;
            causes.extend(strategy.validate(new));
            causes.extend(old.map(|old| strategy.validate_update(old, new)).unwrap_or_default());
        }
        let mut seen = Vec::new();
        causes.retain(|cause| {
            let is_new = !seen.contains(cause);
            seen.push(cause.clone());
            is_new
        });
        if causes.is_empty() {
            self.warnings.extend(self.writing().strategy.warnings(new));
            self.warnings.extend(metadata_of(new).map(metadata::warnings).unwrap_or_default());
            return Ok(());
        }
        let definition = self.definition();
        let name = metadata_of(new).map(|metadata| metadata::text(metadata, "name")).unwrap_or_default();
        Err(ApiStatus::invalid(&definition.group, &definition.kind, name, &causes))
    }

    /// What is shown of an object, as it is stored: without status and version. And its status.
    pub(super) fn stored_form(&self, shown: &PublishedObject) -> Result<(Value, Option<Value>), ApiStatus> {
        let mut object = self.parsed(shown)?;
        let status = object.as_object_mut().and_then(|map| map.remove("status"));
        if let Some(metadata) = metadata_mut(&mut object) {
            metadata.remove("resourceVersion");
        }
        Ok((object, status))
    }

    /// What is shown of an object, with its numbers as they come from clients.
    pub(super) fn parsed(&self, shown: &PublishedObject) -> Result<Value, ApiStatus> {
        let decoded = super::decode::decode(shown.json(), super::decode::Syntax::Json);
        decoded.map(|decoded| decoded.value).map_err(|error| {
            tracing::error!(error, object = %shown.key(), "published object cannot be read");
            ApiStatus::internal("the object cannot be read")
        })
    }
}

/// Stands for the owner of what nobody has written.
pub(super) const NOBODY: &str = "unwritten";

/// An object that exists without having been written has no owners, which would be taken for one whose owners are not tracked:
/// nothing would be owned, or everything would conflict. It gets an entry that owns nothing that can be written.
pub(super) fn tracked(object: &Value, is_stored: bool, api_version: &str) -> Value {
    let mut object = object.clone();
    if let (false, Some(metadata)) = (is_stored, metadata_mut(&mut object))
        && !metadata.contains_key("managedFields")
    {
        let entry = json!({
            "manager": NOBODY, "operation": "Update", "apiVersion": api_version, "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:selfLink": {}}},
        });
        metadata.insert("managedFields".to_owned(), json!([entry]));
    }
    object
}

/// Takes that entry away again.
pub(super) fn without_nobody(object: &mut Value) {
    let Some(metadata) = metadata_mut(object) else { return };
    let Some(entries) = metadata.get_mut("managedFields").and_then(Value::as_array_mut) else { return };
    entries.retain(|entry| entry.get("manager").and_then(Value::as_str) != Some(NOBODY));
    if entries.is_empty() {
        metadata.remove("managedFields");
    }
}

/// Carries over what an update cannot change, and counts the generation.
pub(super) fn settle(old: &Value, new: &mut Value) {
    let changed = wanted_differs(old, new);
    let (Some(before), Some(after)) = (metadata_of(old), metadata_mut(new)) else { return };
    after.remove("resourceVersion");
    for field in ["creationTimestamp", "generation"] {
        match before.get(field) {
            Some(value) => after.insert(field.to_owned(), value.clone()),
            None => after.remove(field),
        };
    }
    for field in ["uid", "namespace", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        if let (Some(value), true) =
            (before.get(field), !after.contains_key(field) || field == "deletionTimestamp")
        {
            after.insert(field.to_owned(), value.clone());
        }
    }
    if changed {
        raise_generation(after);
    }
}

/// One more generation.
pub(super) fn raise_generation(metadata: &mut Map<String, Value>) {
    let generation = metadata.get("generation").and_then(Value::as_i64).unwrap_or_default();
    metadata.insert("generation".to_owned(), generation.saturating_add(1).into());
}

/// True if anything but the metadata differs.
fn wanted_differs(old: &Value, new: &Value) -> bool {
    let rest = |object: &Value| {
        let mut map = object.as_object().cloned().unwrap_or_default();
        map.remove("metadata");
        map
    };
    rest(old) != rest(new)
}

pub(super) fn metadata_of(object: &Value) -> Option<&Map<String, Value>> {
    object.get("metadata").and_then(Value::as_object)
}

pub(super) fn metadata_mut(object: &mut Value) -> Option<&mut Map<String, Value>> {
    object.get_mut("metadata").and_then(Value::as_object_mut)
}

/// Now, as Kubernetes writes it: in whole seconds.
pub(super) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// A document in a message, not all of a large one.
fn shortened(object: &Value) -> String {
    const LONGEST: usize = 2048;
    let text = object.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} ...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
