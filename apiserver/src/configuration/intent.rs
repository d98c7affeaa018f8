//! Where intent is stored.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where intent is stored: in a file, in the hosting cluster, or, without either, in memory.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Intent {
    /// File of the embedded store: for one server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Custom resources of the hosting cluster: for any number of replicas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<IntentInKubernetes>,
}

/// Intent in the hosting cluster.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct IntentInKubernetes {
    /// Install CustomResourceDefinition `intents.storage.c5c3.io` at start, and bring it up to date.
    pub install: bool,
    /// Namespace of the Leases by which replicas hold their slots.
    pub namespace: String,
}

impl Default for IntentInKubernetes {
    fn default() -> Self {
        Self { install: true, namespace: "c5c3-system".to_owned() }
    }
}
