//! The one definition of a kind: its names, scope, columns, selectable fields, conditions and schema.
//!
//! Discovery, OpenAPI, tables, field selectors, the CRD and the reference page are all read from this data, so they
//! cannot say different things. Group and version are data of a kind, not spelled through the code.

use serde_json::Value;

use crate::condition::ConditionType;

/// A kind that this API serves.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// API group, such as `hypervisor.c5c3.io`.
    pub group: &'static str,
    /// API version, such as `v1`.
    pub version: &'static str,
    /// Name of the kind, such as `Hypervisor`.
    pub kind: &'static str,
    /// Name of its list, such as `HypervisorList`.
    pub list_kind: &'static str,
    /// Plural in lower case: the segment in the path.
    pub plural: &'static str,
    /// Singular in lower case.
    pub singular: &'static str,
    /// Short names for kubectl.
    pub short_names: &'static [&'static str],
    /// Categories for kubectl, such as `kubectl get c5c3`.
    pub categories: &'static [&'static str],
    /// Whether objects live in a namespace.
    pub scope: Scope,
    /// What the kind is, in one paragraph.
    pub description: &'static str,
    /// The columns of `kubectl get`, after the name (and the namespace), in order.
    pub columns: &'static [Column],
    /// What `--field-selector` accepts besides `metadata.name` and `metadata.namespace`: paths such as `.spec.hypervisor`.
    pub selectable_fields: &'static [&'static str],
    /// The condition types that its objects can have.
    pub conditions: &'static [ConditionType],
    /// An object as a user would see it, in YAML.
    pub example: &'static str,
    /// The schema of spec and status as schemars derives it; [`crate::schema`] makes it structural.
    pub(crate) raw_schema: fn() -> Value,
}

/// Whether the objects of a kind live in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One of each name in the cluster.
    Cluster,
    /// One of each name in a namespace.
    Namespaced,
}

/// A column of `kubectl get`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub name: &'static str,
    /// What its cells hold.
    pub type_: ColumnType,
    /// The OpenAPI format of its cells, or empty.
    pub format: &'static str,
    /// 0 is shown always, more with `-o wide`.
    pub priority: i32,
    /// What it says.
    pub description: &'static str,
    /// Where the value is, in the syntax of a CRD's `additionalPrinterColumns`.
    pub json_path: &'static str,
}

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A time, printed as its age.
    Date,
}

impl Kind {
    /// Group and version as they stand in `apiVersion`.
    #[must_use]
    pub fn api_version(&self) -> String {
        format!("{}/{}", self.group, self.version)
    }

    /// The name of the resource with its group, such as `hypervisors.hypervisor.c5c3.io`.
    #[must_use]
    pub fn resource_name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }
}

impl Scope {
    /// The scope as a CRD spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cluster => "Cluster",
            Self::Namespaced => "Namespaced",
        }
    }
}

impl ColumnType {
    /// The type as a CRD and a Table spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Date => "date",
        }
    }
}

impl Column {
    /// A column of text that is shown always.
    pub(crate) const fn text(name: &'static str, json_path: &'static str, description: &'static str) -> Self {
        Self { name, type_: ColumnType::String, format: "", priority: 0, description, json_path }
    }

    /// The same column with another type of cell.
    pub(crate) const fn of(mut self, type_: ColumnType) -> Self {
        self.type_ = type_;
        self
    }

    /// The same column, shown with `-o wide` only.
    pub(crate) const fn wide(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }
}

/// Every kind that this API serves.
///
/// ```
/// let names: Vec<String> = c5c3_api::kinds().iter().map(|kind| kind.resource_name()).collect();
/// assert!(names.contains(&"hypervisors.hypervisor.c5c3.io".to_owned()));
/// ```
#[must_use]
pub const fn kinds() -> &'static [Kind] {
    KINDS
}

/// The kind of this name, such as `Hypervisor`.
#[must_use]
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.kind == name)
}

const KINDS: &[Kind] =
    &[crate::hypervisor::KIND, crate::eviction::KIND, crate::migration::KIND, crate::ovs_node::KIND];
