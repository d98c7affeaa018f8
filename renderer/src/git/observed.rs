//! What Flux has on the cluster: the other half of a removal. What leaves Git too early leaves its objects without whoever would tidy them up.

use std::collections::BTreeMap;

use serde_json::Value;

use super::GitError;

/// Flux Kustomizations as they are on the management cluster.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Observed {
    kustomizations: BTreeMap<String, Kustomization>,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Kustomization {
    deletion: String,
    depends_on: Vec<String>,
}

impl Observed {
    /// A cluster on which nothing was ever applied.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Reads what `kubectl get kustomizations.kustomize.toolkit.fluxcd.io --all-namespaces --output json` prints.
    ///
    /// # Errors
    /// When the text is no such list. A list that was cut short, or of other objects, is not taken for an empty cluster.
    ///
    /// # Examples
    /// ```
    /// let list = r#"{"kind": "List", "items": [{"kind": "Kustomization", "metadata": {"name": "a1-pools"}, "spec": {}}]}"#;
    /// assert!(c5c3_renderer::Observed::parse(list).unwrap().has("a1-pools"));
    /// assert!(c5c3_renderer::Observed::parse(r#"{"kind": "List", "ite"#).is_err());
    /// assert!(c5c3_renderer::Observed::parse("{}").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, GitError> {
        let list: Value =
            serde_json::from_str(text).map_err(|source| GitError::Observed { source: Some(source) })?;
        let items = list.get("items").and_then(Value::as_array).ok_or(GitError::Observed { source: None })?;
        let mut kustomizations = BTreeMap::new();
        for item in items {
            let field = |pointer: &str| item.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            if field("/kind") != "Kustomization" || field("/metadata/name").is_empty() {
                return Err(GitError::Observed { source: None });
            }
            let depends_on = item.pointer("/spec/dependsOn").and_then(Value::as_array).into_iter().flatten();
            let depends_on = depends_on.filter_map(|entry| entry.get("name").and_then(Value::as_str));
            let kustomization = Kustomization {
                deletion: field("/spec/deletionPolicy").to_owned(),
                depends_on: depends_on.map(str::to_owned).collect(),
            };
            kustomizations.insert(field("/metadata/name").to_owned(), kustomization);
        }
        Ok(Self { kustomizations })
    }

    /// Whether the cluster has a Kustomization of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.kustomizations.contains_key(name)
    }

    /// A Kustomization that still waits for the named one, and so must be gone first.
    pub(super) fn dependent(&self, name: &str) -> Option<&str> {
        let waits =
            |kustomization: &Kustomization| kustomization.depends_on.iter().any(|other| other == name);
        self.kustomizations.iter().find(|(_, entry)| waits(entry)).map(|(dependent, _)| dependent.as_str())
    }

    /// Whether the cluster knows what is to become of the objects: an absent Kustomization has none.
    pub(super) fn has_policy(&self, name: &str, deletion: &str) -> bool {
        self.kustomizations.get(name).is_none_or(|entry| entry.deletion == deletion)
    }
}
