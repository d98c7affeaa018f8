//! What one resource is: its names, its scope, its table columns, its filterable fields and its schema.
//!
//! A definition is data. Group and version are values in it, never spelled through the code, so that one Rust
//! type can be served under two groups. It is checked once, when a [`Collection`](crate::Collection) is made
//! from it, so that nothing has to be checked again while requests are answered.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::json_path::{JsonPath, JsonPathError};

/// Whether objects of a resource live in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One object of a name in the whole cluster.
    Cluster,
    /// One object of a name in each namespace.
    Namespaced,
}

/// A column of the table that `kubectl get` prints, in the terms of a CRD's `additionalPrinterColumns`.
///
/// The `Name` column comes first by itself and is not listed. A definition without any column gets `Age`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub type_: String,
    /// OpenAPI format, or empty.
    pub format: String,
    /// What the column says, or empty.
    pub description: String,
    /// 0 is always printed, anything above only by `-o wide`.
    pub priority: i32,
    /// Where the value is, e.g. `.status.conditions[?(@.type=="Ready")].status`.
    pub json_path: String,
}

impl Column {
    /// A column of strings that is always printed.
    pub fn string(name: &str, json_path: &str) -> Self {
        Self::typed(name, "string", json_path)
    }

    /// A column of the given type that is always printed.
    pub fn typed(name: &str, type_: &str, json_path: &str) -> Self {
        Self {
            name: name.to_owned(),
            type_: type_.to_owned(),
            format: String::new(),
            description: String::new(),
            priority: 0,
            json_path: json_path.to_owned(),
        }
    }

    /// The usual last column, from the time of creation.
    pub fn age() -> Self {
        Self::typed("Age", "date", ".metadata.creationTimestamp")
    }

    /// The same column, only in wide output.
    #[must_use]
    pub fn wide(mut self) -> Self {
        self.priority = 1;
        self
    }

    /// The same column with a description.
    #[must_use]
    pub fn described(mut self, description: &str) -> Self {
        description.clone_into(&mut self.description);
        self
    }
}

/// Everything that clients and the machinery need to know of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceDefinition {
    /// API group, e.g. `weather.example.com`.
    pub group: String,
    /// API version, e.g. `v1alpha1`.
    pub version: String,
    /// Kind of one object, e.g. `Station`.
    pub kind: String,
    /// Kind of a list, e.g. `StationList`.
    pub list_kind: String,
    /// Lower-case plural as in the path, e.g. `stations`.
    pub plural: String,
    /// Lower-case singular, e.g. `station`.
    pub singular: String,
    /// Names that `kubectl` also understands.
    pub short_names: Vec<String>,
    /// Groups of resources, e.g. `all`.
    pub categories: Vec<String>,
    /// Cluster or Namespaced.
    pub scope: Scope,
    /// Columns after `Name`.
    pub columns: Vec<Column>,
    /// JSON paths of the fields that field selectors may name besides `metadata.name` and
    /// `metadata.namespace`: `.spec.host` is selected as `spec.host`.
    pub selectable_fields: Vec<String>,
    /// OpenAPI v3 structural schema of the whole object, without references. `apiVersion`, `kind` and `metadata` may
    /// be left out; they are described by the machinery.
    pub schema: Value,
    /// What the kind is, for `kubectl explain`.
    pub description: String,
}

impl ResourceDefinition {
    /// `group/version`, as in `apiVersion`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// True when objects have a namespace.
    pub fn namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    /// Checks names, column types and paths.
    pub fn check(&self) -> Result<CheckedPaths, DefinitionError> {
        for (what, value, form) in [
            ("group", &self.group, Form::Subdomain),
            ("version", &self.version, Form::Label),
            ("plural", &self.plural, Form::Label),
            ("singular", &self.singular, Form::Label),
            ("kind", &self.kind, Form::Kind),
            ("list_kind", &self.list_kind, Form::Kind),
        ] {
            if !form.accepts(value) {
                return Err(DefinitionError::Name { what, value: value.clone() });
            }
        }
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut headings = BTreeSet::from(["Name"]);
        for column in &self.columns {
            if !["string", "integer", "number", "boolean", "date"].contains(&column.type_.as_str()) {
                return Err(DefinitionError::ColumnType {
                    column: column.name.clone(),
                    type_: column.type_.clone(),
                });
            }
            let path = JsonPath::parse(&column.json_path)
                .map_err(|source| DefinitionError::ColumnPath { column: column.name.clone(), source })?;
            columns.push(path);
        }
        for column in &self.columns {
            if !headings.insert(column.name.as_str()) {
                return Err(DefinitionError::DuplicateColumn { column: column.name.clone() });
            }
        }
        let mut fields = Vec::with_capacity(self.selectable_fields.len());
        for field in &self.selectable_fields {
            let path = JsonPath::parse(field)
                .map_err(|source| DefinitionError::FieldPath { field: field.clone(), source })?;
            fields.push((field.trim_start_matches('.').to_owned(), path));
        }
        if !self.schema.is_object() {
            return Err(DefinitionError::Schema { kind: self.kind.clone() });
        }
        Ok(CheckedPaths { columns, fields })
    }
}

/// The parsed paths of a definition that passed its check.
#[derive(Clone, Debug)]
pub struct CheckedPaths {
    /// One path for each column, in order.
    pub(crate) columns: Vec<JsonPath>,
    /// Name in selectors and path, in order.
    pub(crate) fields: Vec<(String, JsonPath)>,
}

/// Why a definition cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// A name has a form that Kubernetes does not allow.
    #[error("{what} {value:?} is not a legal name")]
    Name {
        /// Which name.
        what: &'static str,
        /// Its value.
        value: String,
    },
    /// A column's type is none of the five.
    #[error("column {column:?}: {type_:?} is not a column type")]
    ColumnType {
        /// Heading.
        column: String,
        /// Its type.
        type_: String,
    },
    /// Two columns have the same heading.
    #[error("column {column:?} is there twice")]
    DuplicateColumn {
        /// Heading.
        column: String,
    },
    /// A column's path cannot be parsed.
    #[error("column {column:?}: JSON path")]
    ColumnPath {
        /// Heading.
        column: String,
        /// What is wrong.
        #[source]
        source: JsonPathError,
    },
    /// A selectable field's path cannot be parsed.
    #[error("selectable field {field:?}: JSON path")]
    FieldPath {
        /// The path.
        field: String,
        /// What is wrong.
        #[source]
        source: JsonPathError,
    },
    /// The schema is not a JSON object.
    #[error("schema of {kind} is not a JSON object")]
    Schema {
        /// Kind of the resource.
        kind: String,
    },
}

#[derive(Clone, Copy)]
enum Form {
    Subdomain,
    Label,
    Kind,
}

impl Form {
    fn accepts(self, value: &str) -> bool {
        let label = |part: &str| {
            !part.is_empty()
                && part.len() <= 63
                && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
                && !part.starts_with('-')
                && !part.ends_with('-')
        };
        match self {
            Self::Subdomain => value.len() <= 253 && value.split('.').all(label),
            Self::Label => label(value),
            Self::Kind => {
                value.bytes().next().is_some_and(|b| b.is_ascii_uppercase())
                    && value.bytes().all(|b| b.is_ascii_alphanumeric())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition() -> ResourceDefinition {
        crate::testing::stations()
    }

    #[test]
    fn a_complete_definition_passes() {
        definition().check().unwrap();
    }

    #[test]
    fn each_fault_is_named() {
        let broken = ResourceDefinition { plural: "Stations".into(), ..definition() };
        assert!(matches!(broken.check(), Err(DefinitionError::Name { what: "plural", .. })));
        let mut broken = definition();
        broken.columns.push(Column::typed("Odd", "text", ".spec"));
        assert!(matches!(broken.check(), Err(DefinitionError::ColumnType { .. })));
        let mut broken = definition();
        broken.columns.push(Column::string("Odd", ".spec[?("));
        assert!(matches!(broken.check(), Err(DefinitionError::ColumnPath { .. })));
        let mut broken = definition();
        broken.columns.push(Column::age());
        broken.columns.push(Column::age());
        assert!(matches!(broken.check(), Err(DefinitionError::DuplicateColumn { .. })));
        let mut broken = definition();
        broken.selectable_fields.push("spec..".into());
        assert!(matches!(broken.check(), Err(DefinitionError::FieldPath { .. })));
        let broken = ResourceDefinition { schema: Value::Null, ..definition() };
        assert!(matches!(broken.check(), Err(DefinitionError::Schema { .. })));
    }
}
