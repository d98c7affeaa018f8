//! Who owns which fields of an object: the meaning of `metadata.managedFields`.

mod cap;
mod name;
mod serial;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::field_set::FieldSet;
use crate::json::go_text;

pub(crate) use cap::cap;
pub use name::{ManagerNameError, check_manager_name, manager_name_of_agent};
pub use serial::ManagedFieldsError;
pub(crate) use serial::is_reset;

/// Who writes, and through which endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manager {
    /// The field manager: `fieldManager` of the request, or what [`manager_name_of_agent`] makes of its user agent.
    pub name: String,
    /// `""` for the main endpoint, `status`, `scale` …
    pub subresource: String,
    /// The version of the request, `group/version`.
    pub api_version: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    Apply,
    Update,
}

impl Operation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// What makes an entry one entry. An applier keeps its own when it moves to another version; an updater gets another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    /// All of it as JSON; first, as kube-apiserver sorts by it.
    key: String,
    pub(crate) name: String,
    pub(crate) operation: Operation,
    pub(crate) subresource: String,
    /// Of an updater.
    pub(crate) api_version: Option<String>,
}

impl Identity {
    pub(crate) fn new(name: &str, operation: Operation, subresource: &str, api_version: &str) -> Self {
        let api_version = (operation == Operation::Update).then(|| api_version.to_owned());
        let fields = [
            ("manager", Some(name)),
            ("operation", Some(operation.as_str())),
            ("apiVersion", api_version.as_deref()),
            ("subresource", Some(subresource)),
        ];
        let mut key = String::from("{");
        for (field, value) in fields {
            let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
            if key.len() > 1 {
                key.push(',');
            }
            key.push_str(&format!("\"{field}\":"));
            go_text::compact_json(&Value::from(value), &mut key);
        }
        key.push('}');
        Self { key, name: name.to_owned(), operation, subresource: subresource.to_owned(), api_version }
    }

    pub(crate) fn of(manager: &Manager, operation: Operation) -> Self {
        let name = if manager.name.is_empty() { "unknown" } else { &manager.name };
        Self::new(name, operation, &manager.subresource, &manager.api_version)
    }

    /// How messages name it: `"kubectl-edit" with subresource "status" using v1`.
    pub(crate) fn text(&self) -> String {
        let mut text = go_text::quoted(&self.name);
        if !self.subresource.is_empty() {
            text.push_str(&format!(" with subresource {}", go_text::quoted(&self.subresource)));
        }
        if let Some(version) = &self.api_version {
            text.push_str(&format!(" using {version}"));
        }
        text
    }
}

/// What one manager owns, in terms of which version, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) api_version: String,
    pub(crate) set: FieldSet,
    pub(crate) time: Option<Timestamp>,
}

impl Entry {
    /// The time in whole seconds; none counts as the beginning of time.
    fn seconds(&self) -> i64 {
        self.time.map_or(0, Timestamp::as_second)
    }
}

/// All entries of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Managers {
    pub(crate) entries: BTreeMap<Identity, Entry>,
}

impl Managers {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn drop_empty(&mut self) {
        self.entries.retain(|_, entry| !entry.set.is_empty());
    }

    /// What anybody owns.
    pub(crate) fn owned(&self) -> FieldSet {
        let mut owned = FieldSet::new();
        for entry in self.entries.values() {
            owned.extend(&entry.set);
        }
        owned
    }
}

/// What nobody ever owns, because it is not the client's to say.
pub(crate) fn never_owned() -> FieldSet {
    FieldSet::of_names(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
}
