//! The operations of a resource, and the parameters and bodies that they take: what its verbs promise, and nothing else.

use serde_json::{Value, json};

use crate::definition::ResourceDefinition;
use crate::serve::{APPLY_PATCH, JSON_PATCH, MERGE_PATCH};
use crate::server::ServedResource;

/// A parameter of the query: name, type, description.
pub(super) type Parameter = (&'static str, &'static str, &'static str);

/// One operation, before it is written in a version of OpenAPI.
pub(super) struct Operation {
    /// HTTP method in lower case.
    pub(super) method: &'static str,
    action: &'static str,
    pub(super) id: String,
    pub(super) description: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Payload>,
    /// Media types of the body.
    pub(super) consumes: &'static [&'static str],
    /// Codes of good answers.
    pub(super) codes: &'static [u16],
    pub(super) answer: Payload,
}

/// What is sent or answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payload {
    Object,
    List,
    Patch,
    DeleteOptions,
    Status,
}

const DOCUMENTS: &[&str] = &["application/json", "application/yaml"];
const PATCHES: &[&str] = &[APPLY_PATCH, JSON_PATCH, MERGE_PATCH];

const LIST: [Parameter; 10] = [
    ("allowWatchBookmarks", "boolean", "Whether a watch may send bookmarks."),
    ("continue", "string", "Token of an earlier answer, to get the rest of the list."),
    ("fieldSelector", "string", "Restricts the objects by their fields."),
    ("labelSelector", "string", "Restricts the objects by their labels."),
    ("limit", "integer", "Most items to return at once."),
    ("resourceVersion", "string", "Version to start from, or not to be older than."),
    ("resourceVersionMatch", "string", "How resourceVersion is applied."),
    ("sendInitialEvents", "boolean", "Whether a watch begins with all objects."),
    ("timeoutSeconds", "integer", "Longest duration of the call."),
    ("watch", "boolean", "Watch for changes and return them as a stream of events."),
];
const DRY_RUN: Parameter = ("dryRun", "string", "`All`: everything is checked, nothing is stored.");
const WRITE: [Parameter; 3] = [
    DRY_RUN,
    ("fieldManager", "string", "Who owns the fields that are written."),
    (
        "fieldValidation",
        "string",
        "What happens to fields that are unknown or there twice: `Ignore`, `Warn` or `Strict`.",
    ),
];
const FORCE: Parameter = ("force", "boolean", "Whether an apply wins its conflicts.");
const DELETE: [Parameter; 4] = [
    DRY_RUN,
    ("gracePeriodSeconds", "integer", "Accepted, and without a meaning: objects have nothing to wind down."),
    ("orphanDependents", "boolean", "Deprecated: use propagationPolicy."),
    ("propagationPolicy", "string", "What becomes of dependents: `Background`, `Foreground` or `Orphan`."),
];

/// All operations on a path of a resource.
pub(super) fn all(resource: &ServedResource, path: &str, one: bool) -> Vec<Operation> {
    let definition = resource.collection.definition();
    let everywhere = definition.namespaced() && !path.contains("{namespace}");
    let mut operations = vec![read(definition, everywhere, one)];
    let names = Names { definition, everywhere };
    if one {
        if resource.has("update") {
            operations.extend([names.replace(), names.patch()]);
        }
        if resource.has("delete") {
            operations.push(names.delete());
        }
    } else if !everywhere {
        if resource.has("create") {
            operations.push(names.create());
        }
        if resource.has("deletecollection") {
            operations.push(names.delete_collection());
        }
    }
    operations
}

fn read(definition: &ResourceDefinition, everywhere: bool, one: bool) -> Operation {
    let names = Names { definition, everywhere };
    let kind = &definition.kind;
    let (action, id, description) = if one {
        ("get", names.id("read", ""), format!("read the specified {kind}"))
    } else {
        let suffix = if everywhere { "ForAllNamespaces" } else { "" };
        ("list", names.id("list", suffix), format!("list or watch objects of kind {kind}"))
    };
    Operation {
        method: "get",
        action,
        id,
        description,
        parameters: if one { Vec::new() } else { LIST.to_vec() },
        body: None,
        consumes: &[],
        codes: &[200],
        answer: if one { Payload::Object } else { Payload::List },
    }
}

struct Names<'a> {
    definition: &'a ResourceDefinition,
    everywhere: bool,
}

impl Names<'_> {
    /// `createWeatherExampleComV1NamespacedStation`.
    fn id(&self, verb: &str, suffix: &str) -> String {
        let scope = if self.definition.namespaced() && !self.everywhere { "Namespaced" } else { "" };
        format!("{verb}{}{scope}{}{suffix}", model_id(self.definition), self.definition.kind)
    }

    fn create(&self) -> Operation {
        Operation {
            method: "post",
            action: "post",
            id: self.id("create", ""),
            description: format!("create a {}", self.definition.kind),
            parameters: WRITE.to_vec(),
            body: Some(Payload::Object),
            consumes: DOCUMENTS,
            codes: &[200, 201, 202],
            answer: Payload::Object,
        }
    }

    fn replace(&self) -> Operation {
        Operation {
            method: "put",
            action: "put",
            id: self.id("replace", ""),
            description: format!("replace the specified {}", self.definition.kind),
            codes: &[200, 201],
            ..self.create()
        }
    }

    fn patch(&self) -> Operation {
        Operation {
            method: "patch",
            action: "patch",
            id: self.id("patch", ""),
            description: format!("partially update the specified {}", self.definition.kind),
            parameters: WRITE.into_iter().chain([FORCE]).collect(),
            body: Some(Payload::Patch),
            consumes: PATCHES,
            codes: &[200, 201],
            answer: Payload::Object,
        }
    }

    fn delete(&self) -> Operation {
        Operation {
            method: "delete",
            action: "delete",
            id: self.id("delete", ""),
            description: format!("delete a {}", self.definition.kind),
            parameters: DELETE.to_vec(),
            body: Some(Payload::DeleteOptions),
            consumes: DOCUMENTS,
            codes: &[200, 202],
            answer: Payload::Status,
        }
    }

    fn delete_collection(&self) -> Operation {
        let watching = ["allowWatchBookmarks", "watch"];
        let selection = LIST.into_iter().filter(|(name, ..)| !watching.contains(name));
        Operation {
            action: "deletecollection",
            id: self.id("deleteCollection", ""),
            description: format!("delete a collection of {}", self.definition.kind),
            parameters: DELETE.into_iter().chain(selection).collect(),
            codes: &[200],
            ..self.delete()
        }
    }
}

/// Group and version in CamelCase.
fn model_id(definition: &ResourceDefinition) -> String {
    let words = definition.group.split(['.', '-']).chain([definition.version.as_str()]);
    words.map(capitalised).collect()
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

/// Parameters in the path: name and description.
pub(super) fn path_parameters(path: &str, kind: &str) -> Vec<(&'static str, String)> {
    let mut parameters = Vec::new();
    if path.contains("{name}") {
        parameters.push(("name", format!("name of the {kind}")));
    }
    if path.contains("{namespace}") {
        parameters
            .push(("namespace", "object name and auth scope, such as for teams and projects".to_owned()));
    }
    parameters
}

/// What a good answer is called.
pub(super) fn phrase(code: u16) -> &'static str {
    match code {
        201 => "Created",
        202 => "Accepted",
        _ => "OK",
    }
}

/// Marks of an operation that Kubernetes' tools look for.
pub(super) fn markers(definition: &ResourceDefinition, operation: &Operation) -> [(&'static str, Value); 2] {
    [
        ("x-kubernetes-action", json!(operation.action)),
        ("x-kubernetes-group-version-kind", super::kind_marker(definition, &definition.kind)),
    ]
}
