//! `metadata.managedFields` as JSON.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{Entry, Identity, Managers, Operation};
use crate::field_set::{FieldSet, FieldSetError};

/// Why an entry cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManagedFieldsError {
    /// It is not a list of objects, or a field of one has another type.
    #[error("metadata.managedFields[{index}].{field}: wrong type")]
    WrongType {
        /// Which entry.
        index: usize,
        /// Which field of it.
        field: &'static str,
    },
    /// Neither Apply nor Update.
    #[error("metadata.managedFields[{index}].operation: must be `Apply` or `Update`")]
    Operation {
        /// Which entry.
        index: usize,
    },
    /// No version.
    #[error("metadata.managedFields[{index}].apiVersion: must not be empty")]
    ApiVersion {
        /// Which entry.
        index: usize,
    },
    /// Not FieldsV1.
    #[error("metadata.managedFields[{index}].fieldsType: must be FieldsV1")]
    FieldsType {
        /// Which entry.
        index: usize,
    },
    /// Not a time.
    #[error("metadata.managedFields[{index}].time: not a time of RFC 3339")]
    Time {
        /// Which entry.
        index: usize,
    },
    /// Not a field set.
    #[error("metadata.managedFields[{index}].fieldsV1")]
    Fields {
        /// Which entry.
        index: usize,
        /// What is wrong with it.
        #[source]
        source: FieldSetError,
    },
}

impl Managers {
    /// Reads the entries; `None` and null are no entries.
    pub(crate) fn decode(managed_fields: Option<&Value>) -> Result<Self, ManagedFieldsError> {
        let entries = match managed_fields {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(Value::Array(entries)) => entries,
            Some(_) => return Err(ManagedFieldsError::WrongType { index: 0, field: "" }),
        };
        let entries = entries.iter().enumerate().map(|(index, entry)| decode_entry(index, entry));
        Ok(Self { entries: entries.collect::<Result<_, _>>()? })
    }

    /// Writes the entries in kube-apiserver's order.
    pub(crate) fn encode(&self) -> Vec<Value> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by(|(left, a), (right, b)| {
            let order = |identity: &Identity, entry: &Entry| {
                (identity.operation, entry.seconds(), identity.name.clone(), entry.api_version.clone())
            };
            order(left, a).cmp(&order(right, b)).then_with(|| left.subresource.cmp(&right.subresource))
        });
        entries.into_iter().map(|(identity, entry)| encode_entry(identity, entry)).collect()
    }
}

fn decode_entry(index: usize, entry: &Value) -> Result<(Identity, Entry), ManagedFieldsError> {
    let Value::Object(entry) = entry else { return Err(ManagedFieldsError::WrongType { index, field: "" }) };
    let text = |field: &'static str| match entry.get(field) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err(ManagedFieldsError::WrongType { index, field }),
    };
    let operation = match text("operation")? {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return Err(ManagedFieldsError::Operation { index }),
    };
    let api_version = text("apiVersion")?;
    if api_version.is_empty() {
        return Err(ManagedFieldsError::ApiVersion { index });
    }
    if text("fieldsType")? != "FieldsV1" {
        return Err(ManagedFieldsError::FieldsType { index });
    }
    let time = match text("time")? {
        "" => None,
        time => Some(time.parse::<Timestamp>().map_err(|_| ManagedFieldsError::Time { index })?),
    };
    let set = entry.get("fieldsV1").map_or_else(|| Ok(FieldSet::new()), FieldSet::parse);
    let set = set.map_err(|source| ManagedFieldsError::Fields { index, source })?;
    let identity = Identity::new(text("manager")?, operation, text("subresource")?, api_version);
    Ok((identity, Entry { api_version: api_version.to_owned(), set, time }))
}

fn encode_entry(identity: &Identity, entry: &Entry) -> Value {
    let mut json = Map::new();
    json.insert("apiVersion".into(), Value::from(entry.api_version.as_str()));
    json.insert("fieldsType".into(), Value::from("FieldsV1"));
    json.insert("fieldsV1".into(), entry.set.to_value());
    json.insert("manager".into(), Value::from(identity.name.as_str()));
    json.insert("operation".into(), Value::from(identity.operation.as_str()));
    if !identity.subresource.is_empty() {
        json.insert("subresource".into(), Value::from(identity.subresource.as_str()));
    }
    if let Some(time) = entry.time {
        json.insert("time".into(), Value::from(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()));
    }
    Value::Object(json)
}

/// Whether this asks to forget all managers: a list of one entry with nothing in it, or no entry where that counts.
pub(crate) fn is_reset(managed_fields: Option<&Value>, empty_list_resets: bool) -> bool {
    let nothing = |value: &Value| matches!(value, Value::Null) || value.as_str().is_some_and(str::is_empty);
    match managed_fields {
        Some(Value::Array(entries)) => match entries.as_slice() {
            [] => empty_list_resets,
            [Value::Object(only)] => only.values().all(nothing),
            _ => false,
        },
        _ => false,
    }
}
