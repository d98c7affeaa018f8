//! Which wish: kind and name, and the namespace of a namespaced kind.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which wish.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct IntentKey {
    /// Kind, e.g. `Eviction`.
    pub kind: String,
    /// Namespace; empty for a cluster-scoped kind.
    #[serde(default, skip_serializing_if = "String::is_empty")]
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
