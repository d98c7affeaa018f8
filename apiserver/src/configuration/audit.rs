//! Where the audit log goes, and how much is in it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The audit log: one JSON line for each request, in the form of `audit.k8s.io/v1`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Audit {
    /// File to append to, or `-` for standard output. It is begun anew when it has been moved away.
    pub file: PathBuf,
    /// How much is logged of get, list, watch and discovery.
    #[serde(default)]
    pub reads: Level,
    /// How much is logged of everything else.
    #[serde(default)]
    pub writes: Level,
}

/// How much of a request is logged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Level {
    /// Nothing.
    None,
    /// Who, what, when, from where, and the code of the answer.
    #[default]
    Metadata,
    /// The same, and the object or patch that the client sent.
    Request,
}

impl Audit {
    /// The file; none for standard output.
    pub fn path(&self) -> Option<&Path> {
        (self.file.as_os_str() != "-").then_some(&self.file)
    }
}
