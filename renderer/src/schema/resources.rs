//! The schemas of custom resources, read from a folder of definitions.
//!
//! Two spellings are understood: a `CustomResourceDefinition`, and the bare facts of one (`group`, `names`, `versions[].openAPIV3Schema`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Schema, Violation};

/// Schemas by apiVersion and kind.
#[derive(Clone, Debug, Default)]
pub struct ResourceSchemas {
    schemas: BTreeMap<(String, String), Schema>,
}

/// A folder of definitions that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The folder or a file in it cannot be read.
    #[error("cannot read schemas from {}", path.display())]
    Read {
        /// What was read.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A file in the folder is not YAML.
    #[error("{} is not YAML", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: Box<serde_saphyr::Error>,
    },
}

impl ResourceSchemas {
    /// Reads every `.yaml` file of a folder; files that define no resource are passed over.
    ///
    /// # Errors
    /// When the folder cannot be read or a file in it is not YAML.
    pub fn read(folder: &Path) -> Result<Self, SchemaError> {
        let fault = |path: &Path| {
            let path = path.to_owned();
            move |source| SchemaError::Read { path, source }
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(fault(folder))? {
            let path = entry.map_err(fault(folder))?.path();
            if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
                files.push(path);
            }
        }
        files.sort();
        let mut schemas = Self::default();
        for path in files {
            let text = std::fs::read_to_string(&path).map_err(fault(&path))?;
            let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(&text, lenient())
                .map_err(|source| SchemaError::Parse { path: path.clone(), source: Box::new(source) })?;
            documents.iter().for_each(|document| schemas.add(document));
        }
        Ok(schemas)
    }

    /// Adds the definition in a document, if it is one.
    fn add(&mut self, document: &Value) {
        // What `kubectl get crds --output yaml` prints is one list of all.
        if let Some(items) = document.get("items").and_then(Value::as_array) {
            items.iter().for_each(|item| self.add(item));
            return;
        }
        let definition = document.get("spec").unwrap_or(document);
        let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str);
        let (Some(group), Some(kind)) = (text("/group"), text("/names/kind")) else {
            return;
        };
        for version in definition.get("versions").and_then(Value::as_array).into_iter().flatten() {
            let schema =
                version.get("openAPIV3Schema").or_else(|| version.pointer("/schema/openAPIV3Schema"));
            if let (Some(name), Some(schema)) = (version.get("name").and_then(Value::as_str), schema) {
                let key = (format!("{group}/{name}"), kind.to_owned());
                self.schemas.insert(key, Schema::structural(schema.clone()));
            }
        }
    }

    /// How many kinds are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.schemas.len()
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.schemas.is_empty()
    }

    /// Checks an object; `None` when its kind is not known here.
    #[must_use]
    pub fn check(&self, object: &Value) -> Option<Vec<Violation>> {
        let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        self.schemas.get(&(text("apiVersion"), text("kind"))).map(|schema| schema.check(object))
    }
}

/// Definitions are large and trusted: the limits for documents of strangers do not fit them.
fn lenient() -> serde_saphyr::Options {
    serde_saphyr::options! { budget: None }
}
