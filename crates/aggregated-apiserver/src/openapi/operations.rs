//! The operations of a resource, and the parameters that they take.

use serde_json::{Value, json};

use crate::definition::ResourceDefinition;

/// One operation, before it is written in a version of OpenAPI.
pub(super) struct Operation {
    pub(super) action: &'static str,
    pub(super) id: String,
    pub(super) description: String,
}

/// What GET does on a path.
pub(super) fn get(definition: &ResourceDefinition, path: &str, one: bool) -> Operation {
    let ResourceDefinition { kind, .. } = definition;
    let id = model_id(definition);
    let all = definition.namespaced() && !path.contains("{namespace}");
    let scope = match (definition.namespaced(), all) {
        (true, false) => "Namespaced",
        _ => "",
    };
    if one {
        let id = format!("read{id}{scope}{kind}");
        return Operation { action: "get", id, description: format!("read the specified {kind}") };
    }
    let suffix = if all { "ForAllNamespaces" } else { "" };
    let id = format!("list{id}{scope}{kind}{suffix}");
    Operation { action: "list", id, description: format!("list or watch objects of kind {kind}") }
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

/// Parameters of the query of a list: name, type, description.
pub(super) const LIST_PARAMETERS: [(&str, &str, &str); 9] = [
    ("allowWatchBookmarks", "boolean", "Whether a watch may send bookmarks."),
    ("continue", "string", "Token of an earlier answer, to get the rest of the list."),
    ("fieldSelector", "string", "Restricts the objects by their fields."),
    ("labelSelector", "string", "Restricts the objects by their labels."),
    ("limit", "integer", "Most items to return at once."),
    ("resourceVersion", "string", "Version to start from, or not to be older than."),
    ("resourceVersionMatch", "string", "How resourceVersion is applied."),
    ("sendInitialEvents", "boolean", "Whether a watch begins with all objects."),
    ("timeoutSeconds", "integer", "Longest duration of the call."),
];

/// `watch` belongs to lists, too.
pub(super) const WATCH_PARAMETER: (&str, &str, &str) =
    ("watch", "boolean", "Watch for changes and return them as a stream of events.");

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

/// Marks of an operation that Kubernetes' tools look for.
pub(super) fn markers(definition: &ResourceDefinition, operation: &Operation) -> [(&'static str, Value); 2] {
    [
        ("x-kubernetes-action", json!(operation.action)),
        ("x-kubernetes-group-version-kind", super::kind_marker(definition, &definition.kind)),
    ]
}
