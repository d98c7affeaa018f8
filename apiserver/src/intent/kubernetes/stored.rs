//! A record as a custom resource, and back.

use kube::ResourceExt as _;
use kube::core::DynamicObject;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::{IntentKey, IntentRecord, StoreVersion};
use super::definition::StoreDefinition;
use super::name::resource_name;

/// Label by which records of one kind are listed.
const KIND_LABEL: &str = "storage.c5c3.io/kind";

#[derive(Debug, Serialize, Deserialize)]
struct Spec {
    #[serde(flatten)]
    key: IntentKey,
    #[serde(default)]
    write: String,
    object: Value,
}

/// Why a custom resource is no record.
#[derive(Debug, thiserror::Error)]
pub(super) enum DamagedError {
    #[error("its spec cannot be read")]
    Spec(#[source] serde_json::Error),
    #[error("it is named {found:?}, but its spec says it is {key}, whose name is {expected:?}")]
    Name { found: String, expected: String, key: IntentKey },
    #[error("its resourceVersion {0:?} is not a number")]
    Version(String),
}

/// The custom resource that stores an object, on top of the version that it replaces.
pub(super) fn resource(
    key: &IntentKey,
    expected: Option<&StoreVersion>,
    object: Value,
    write: &str,
) -> DynamicObject {
    let spec = Spec { key: key.clone(), write: write.to_owned(), object };
    let mut resource = DynamicObject::new(&resource_name(key), &StoreDefinition::resource());
    resource.metadata.labels = Some([(KIND_LABEL.to_owned(), key.kind.clone())].into());
    resource.metadata.resource_version = expected.map(ToString::to_string);
    resource.data = json!({ "spec": spec });
    resource
}

/// The record that a custom resource stores.
pub(super) fn record(resource: &DynamicObject) -> Result<IntentRecord, DamagedError> {
    let spec =
        Spec::deserialize(resource.data.get("spec").unwrap_or(&Value::Null)).map_err(DamagedError::Spec)?;
    let (found, expected) = (resource.name_any(), resource_name(&spec.key));
    if found != expected {
        return Err(DamagedError::Name { found, expected, key: spec.key });
    }
    let version = resource.resource_version().unwrap_or_default();
    let revision: u64 = version.parse().map_err(|_| DamagedError::Version(version))?;
    Ok(IntentRecord { key: spec.key, version: StoreVersion::of(revision), object: spec.object })
}

/// Which write stored it.
pub(super) fn write_of(resource: &DynamicObject) -> Option<&str> {
    resource.data.get("spec")?.get("write")?.as_str()
}
