//! One stored wish with what the API needs to know about it.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Which wish: kind and name, and the namespace of a namespaced kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct IntentKey {
    /// Kind, e.g. `Eviction`.
    pub kind: String,
    /// Namespace; empty for a cluster-scoped kind.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl IntentKey {
    /// Key of a cluster-scoped object.
    pub fn cluster(kind: &str, name: &str) -> Self {
        Self { kind: kind.to_owned(), namespace: String::new(), name: name.to_owned() }
    }

    /// The key as the embedded store sorts it. `/` is in no kind, namespace or name.
    pub(super) fn encoded(&self) -> String {
        format!("{}/{}/{}", self.kind, self.namespace, self.name)
    }
}

impl fmt::Display for IntentKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            write!(formatter, "{} {}", self.kind, self.name)
        } else {
            write!(formatter, "{} {}/{}", self.kind, self.namespace, self.name)
        }
    }
}

/// What a writer may say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Wish {
    /// The spec, only the fields that were set.
    pub spec: serde_json::Value,
    /// Labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
}

/// A stored wish.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntentRecord {
    /// Which wish.
    pub key: IntentKey,
    /// Identity of this incarnation: a wish removed and made again has another.
    pub uid: Uuid,
    /// When it was first stored.
    pub created: Timestamp,
    /// Grows with every change of the spec.
    pub generation: i64,
    /// Grows with every write to the store.
    pub version: u64,
    /// What was said.
    pub wish: Wish,
}
