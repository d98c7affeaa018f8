//! One stored wish: the object as its writers left it, without status, and the store's token to compare the next write with.
//!
//! The store does not look into the object. Who made it computed its meaning (UID, generation, managed fields); the
//! accessors here read it leniently, so that one odd field never hides the rest.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, OwnerReference};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{IntentError, IntentKey, Trouble};

/// Largest record, as JSON: what a custom resource can hold beside what the cluster adds.
pub(super) const LARGEST: usize = 1 << 20;

/// The store's name for one state of one record. Only equality means something to whoever is not the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoreVersion(String);

impl StoreVersion {
    /// The version of that number.
    pub fn of(revision: u64) -> Self {
        Self(revision.to_string())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The version as a number that grows with every write to the store, whatever the key.
    pub fn revision(&self) -> Option<u64> {
        self.0.parse().ok()
    }
}

impl fmt::Display for StoreVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for StoreVersion {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

/// A stored wish.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntentRecord {
    /// Which wish.
    #[serde(flatten)]
    pub key: IntentKey,
    /// To be given back with the next write.
    pub version: StoreVersion,
    /// `{metadata, spec}`. Without a `spec` it wants nothing: it only says as whom the object exists from now on.
    pub object: Value,
}

impl IntentRecord {
    /// What is wanted: only the fields that were set. Null when nothing is.
    pub fn spec(&self) -> &Value {
        self.object.get("spec").unwrap_or(&Value::Null)
    }

    /// Whether it wants something: without, it does not make a host exist.
    pub fn is_declaration(&self) -> bool {
        self.object.get("spec").is_some()
    }

    /// UID of the object, as it is shown.
    pub fn uid(&self) -> Option<&str> {
        self.text("uid")
    }

    /// When the object was made.
    pub fn created(&self) -> Option<Timestamp> {
        self.text("creationTimestamp")?.parse().ok()
    }

    /// What its name was made from.
    pub fn generate_name(&self) -> Option<&str> {
        self.text("generateName")
    }

    /// Grows with every change of the spec.
    pub fn generation(&self) -> Option<i64> {
        self.field("generation")?.as_i64()
    }

    /// Labels.
    pub fn labels(&self) -> BTreeMap<String, String> {
        self.typed("labels").unwrap_or_default()
    }

    /// Annotations.
    pub fn annotations(&self) -> BTreeMap<String, String> {
        self.typed("annotations").unwrap_or_default()
    }

    /// Who has to agree before the object goes.
    pub fn finalizers(&self) -> Option<Vec<String>> {
        self.typed("finalizers")
    }

    /// What the object goes with.
    pub fn owner_references(&self) -> Vec<OwnerReference> {
        self.typed("ownerReferences").unwrap_or_default()
    }

    /// Since when it is to go.
    pub fn deletion_timestamp(&self) -> Option<Timestamp> {
        self.text("deletionTimestamp")?.parse().ok()
    }

    /// How long its deletion may take.
    pub fn deletion_grace_period_seconds(&self) -> Option<i64> {
        self.field("deletionGracePeriodSeconds")?.as_i64()
    }

    /// Who set which field.
    pub fn managed_fields(&self) -> Vec<ManagedFieldsEntry> {
        self.typed("managedFields").unwrap_or_default()
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.object.get("metadata")?.get(name)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.field(name)?.as_str()
    }

    fn typed<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        T::deserialize(self.field(name)?).ok()
    }
}

/// The record as it is stored, unless it is too large for any store.
pub(super) fn encoded(record: &IntentRecord) -> Result<Vec<u8>, IntentError> {
    let bytes = serde_json::to_vec(record)
        .map_err(|source| IntentError::Record { key: record.key.to_string(), source })?;
    if bytes.len() > LARGEST {
        let source = format!("{} bytes; the limit is {LARGEST}", bytes.len()).into();
        return Err(IntentError::Write { key: record.key.clone(), trouble: Trouble::TooLarge, source });
    }
    Ok(bytes)
}

/// An object that is made now, by this program itself: with a new UID and that spec.
pub fn declaration(key: &IntentKey, spec: &Value) -> Value {
    let mut object = identity(key);
    if let (Some(object), false) = (object.as_object_mut(), spec.is_null()) {
        object.insert("spec".to_owned(), spec.clone());
    }
    object
}

/// An object that wants nothing, and exists from now on as somebody new.
pub fn identity(key: &IntentKey) -> Value {
    let now = Timestamp::from_second(Timestamp::now().as_second()).unwrap_or_default();
    let mut metadata = json!({
        "name": key.name, "uid": Uuid::new_v4().to_string(), "creationTimestamp": now.to_string(), "generation": 1,
    });
    if let (Some(metadata), false) = (metadata.as_object_mut(), key.namespace.is_empty()) {
        metadata.insert("namespace".to_owned(), Value::from(key.namespace.clone()));
    }
    json!({ "metadata": metadata })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(object: Value) -> IntentRecord {
        IntentRecord { key: IntentKey::cluster("Eviction", "e"), version: StoreVersion::of(7), object }
    }

    #[test]
    fn one_odd_field_does_not_hide_the_others() {
        let record = record(json!({"metadata": {
            "uid": "u", "labels": 7, "annotations": {"a": "b"}, "creationTimestamp": "2026-11-30T10:00:00Z",
            "finalizers": ["f"], "managedFields": [{"manager": "kubectl"}],
        }}));
        assert_eq!((record.uid(), record.labels().len(), record.annotations().len()), (Some("u"), 0, 1));
        assert_eq!(record.created().unwrap().to_string(), "2026-11-30T10:00:00Z");
        assert_eq!(record.managed_fields().len(), 1);
        assert!(!record.is_declaration() && record.spec().is_null());
    }

    #[test]
    fn a_record_reads_as_it_was_written() {
        let key = IntentKey { kind: "K".to_owned(), namespace: "ns".to_owned(), name: "n".to_owned() };
        let object = declaration(&key, &json!({"a": 1}));
        let record = IntentRecord { key, version: StoreVersion::of(3), object };
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<IntentRecord>(&text).unwrap(), record);
        assert!(record.is_declaration());
    }
}
