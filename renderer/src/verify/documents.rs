//! The documents in the files: each is one object, the planned one, only once, and nothing that belongs to a running cluster.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{report, report_path};
use crate::finding::Findings;
use crate::plan::{Plan, Planned, SUBSTITUTE_ANNOTATION, mentions_variable};
use crate::render::{Rendered, Templates, indexes};

/// One object as it was read back from a file.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) path: String,
    pub(super) cluster: String,
    pub(super) template: String,
    pub(super) object: Value,
}

impl Document {
    pub(super) fn text(&self, pointer: &str) -> &str {
        self.object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn kind(&self) -> (&str, &str) {
        let group = self.text("/apiVersion").split_once('/').map_or("", |(group, _)| group);
        (group, self.text("/kind"))
    }

    pub(super) fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    pub(super) fn namespace(&self) -> &str {
        self.text("/metadata/namespace")
    }

    /// A file that kustomize reads, rather than an object that is applied.
    pub(super) fn is_index(&self) -> bool {
        self.kind().0 == "kustomize.config.k8s.io"
    }
}

/// Parses every file; each must be one document.
pub(super) fn read(rendered: &Rendered, findings: &mut Findings) -> Vec<Document> {
    let mut documents = Vec::new();
    for (path, file) in rendered.files.iter().filter(|(path, _)| path.ends_with(".yaml")) {
        let options = serde_saphyr::options! { strict_booleans: true };
        match serde_saphyr::from_multiple_with_options::<Value>(&file.text, options) {
            Ok(mut objects) if objects.len() == 1 => documents.extend(objects.pop().map(|object| Document {
                path: path.clone(),
                cluster: file.cluster.clone(),
                template: file.template.to_string(),
                object,
            })),
            Ok(objects) => {
                report_path(
                    findings,
                    "file-document",
                    path,
                    format!("holds {} documents, not one", objects.len()),
                );
            }
            Err(error) => report_path(
                findings,
                "file-document",
                path,
                format!("is not YAML: {}", error.without_snippet()),
            ),
        }
        if file.text.contains('\r') || file.text.starts_with('\u{feff}') || !file.text.ends_with('\n') {
            report_path(
                findings,
                "file-document",
                path,
                "has other line ends than one LF, or a byte order mark",
            );
        }
    }
    documents
}

/// Built-in templates give exactly what was planned; a user's may add fields, never drop or change one.
pub(super) fn compare(plan: &Plan, documents: &[Document], templates: &Templates, findings: &mut Findings) {
    let mut planned: BTreeMap<&str, &Planned> = BTreeMap::new();
    let indexes = indexes(plan);
    for object in plan.objects().chain(&indexes) {
        planned.insert(&object.path, object);
    }
    for document in documents {
        let Some(expected) = planned.remove(document.path.as_str()) else {
            report(findings, "file-planned", document, "was rendered without being planned");
            continue;
        };
        let may_add = templates.is_replaced(&document.template);
        if let Some(field) = difference("", &expected.object, &document.object, may_add) {
            let message = format!("{field} is not what was planned (template {})", document.template);
            report(findings, "file-planned", document, message);
        }
    }
    for path in planned.into_keys() {
        report_path(findings, "file-planned", path, "was planned and not rendered");
    }
}

/// The first field in which the two differ.
fn difference(path: &str, expected: &Value, found: &Value, may_add: bool) -> Option<String> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let unexpected = found.keys().find(|key| !may_add && !expected.contains_key(*key));
            unexpected.map(|key| format!("{path}.{key}")).or_else(|| {
                expected.iter().find_map(|(key, value)| {
                    let path = format!("{path}.{key}");
                    found
                        .get(key)
                        .map_or_else(|| Some(path.clone()), |found| difference(&path, value, found, may_add))
                })
            })
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            expected.iter().zip(found).enumerate().find_map(|(index, (expected, found))| {
                difference(&format!("{path}[{index}]"), expected, found, may_add)
            })
        }
        _ => (expected != found)
            .then(|| if path.is_empty() { "the document".to_owned() } else { path.to_owned() }),
    }
}

/// One object in one file.
pub(super) fn unique(documents: &[Document], findings: &mut Findings) {
    let mut seen = BTreeMap::new();
    for document in documents.iter().filter(|document| !document.is_index()) {
        let identity = (document.cluster.as_str(), document.kind(), document.namespace(), document.name());
        if document.name().is_empty() {
            report(findings, "object-unique", document, "has no name");
        } else if let Some(other) = seen.insert(identity, document.path.as_str()) {
            let message = format!("{} {} is also in {other}", document.kind().1, document.name());
            report(findings, "object-unique", document, message);
        }
    }
}

/// Text that looks like a Flux variable must be kept from substitution.
pub(super) fn substitution(documents: &[Document], findings: &mut Findings) {
    for document in documents {
        let annotation =
            document.object.pointer("/metadata/annotations").and_then(|all| all.get(SUBSTITUTE_ANNOTATION));
        if mentions_variable(&document.object) && annotation.and_then(Value::as_str) != Some("disabled") {
            let message = format!(
                "holds `${{`, which Flux may replace; the annotation {SUBSTITUTE_ANNOTATION} is missing"
            );
            report(findings, "flux-substitution", document, message);
        }
    }
}

/// What a running cluster writes never belongs into Git.
pub(super) fn runtime_fields(documents: &[Document], findings: &mut Findings) {
    let fields = [
        "/status",
        "/metadata/managedFields",
        "/metadata/resourceVersion",
        "/metadata/uid",
        "/metadata/creationTimestamp",
        "/metadata/generation",
    ];
    for document in documents {
        for field in fields.iter().filter(|field| document.object.pointer(field).is_some()) {
            report(findings, "runtime-field", document, format!("{field} belongs to a running cluster"));
        }
    }
}
