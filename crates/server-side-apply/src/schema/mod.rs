//! What a schema says about merging: which containers are one field, which lists are sets or maps, what is a named field.
//!
//! Made once from a structural OpenAPI v3 schema, as a custom resource definition has it, and kept. The types are *atoms*: a place in an
//! object may allow a scalar, a list and a map, and the value decides which of them it is.

mod metadata;
mod reading;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::FieldSet;
use crate::field_set::PathElement;

pub use reading::SchemaError;

/// The merge types of one kind, and which fields which endpoint of it ignores.
#[derive(Clone, Debug)]
pub struct Schema {
    pub(crate) root: Type,
    kind: Option<String>,
    api_versions: Vec<String>,
    reset: BTreeMap<String, FieldSet>,
    empty_list_resets: bool,
}

impl Schema {
    /// Reads the structural schema of a whole object. `apiVersion`, `kind` and `metadata` need not be in it: metadata is that of every
    /// object, whatever the schema says about it.
    ///
    /// # Errors
    /// When a type, a list type, a map type or a list without items cannot be understood.
    pub fn new(schema: &Value) -> Result<Self, SchemaError> {
        let root = reading::object(schema)?;
        Ok(Self {
            root,
            kind: None,
            api_versions: Vec::new(),
            reset: BTreeMap::new(),
            empty_list_resets: false,
        })
    }

    /// Names the kind. An apply of another one is refused, also when there is no live object to compare with.
    #[must_use]
    pub fn with_kind(mut self, kind: &str) -> Self {
        self.kind = Some(kind.to_owned());
        self
    }

    /// Names the served versions (`group/version`) that have this schema. An entry of managedFields in any other version cannot be
    /// understood. Without this, the only such version is that of whoever writes.
    #[must_use]
    pub fn with_api_versions<S: Into<String>>(mut self, versions: impl IntoIterator<Item = S>) -> Self {
        self.api_versions = versions.into_iter().map(Into::into).collect();
        self
    }

    /// Names what an endpoint (`""` is the main one, `status` …) ignores in what is sent to it: such fields, and all below them, are never
    /// owned through it and never conflict.
    #[must_use]
    pub fn with_reset(mut self, subresource: &str, paths: &[&[&str]]) -> Self {
        self.reset.insert(subresource.to_owned(), FieldSet::of_names(paths));
        self
    }

    /// Whether an update with `managedFields: []` forgets all managers, as for the types built into kube-apiserver. For custom
    /// resources, and here unless this is set, it means "as before"; `[{}]` forgets them in any case.
    #[must_use]
    pub fn with_empty_list_reset(mut self, resets: bool) -> Self {
        self.empty_list_resets = resets;
        self
    }

    pub(crate) fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    pub(crate) fn empty_list_resets(&self) -> bool {
        self.empty_list_resets
    }

    pub(crate) fn reset(&self, subresource: &str) -> Option<&FieldSet> {
        self.reset.get(subresource)
    }

    pub(crate) fn serves(&self, api_version: &str, writer: &str) -> bool {
        if self.api_versions.is_empty() {
            return api_version == writer;
        }
        self.api_versions.iter().any(|served| served == api_version)
    }
}

/// The type of a place in an object.
#[derive(Clone, Debug)]
pub(crate) enum Type {
    Given(Box<Atom>),
    /// Nothing is said: maps are merged key by key, lists are one field.
    Deduced,
    /// Nothing is said and nothing is merged.
    Untyped,
}

impl Type {
    pub(crate) fn atom(&self) -> &Atom {
        match self {
            Self::Given(atom) => atom,
            Self::Deduced => &DEDUCED,
            Self::Untyped => &UNTYPED,
        }
    }
}

static DEDUCED: LazyLock<Atom> = LazyLock::new(|| Atom {
    scalar: Some(Scalar::Untyped),
    list: Some(List { items: Type::Untyped, kind: ListKind::Atomic }),
    map: Some(Map { fields: BTreeMap::new(), others: Some(Type::Deduced), atomic: false }),
});

static UNTYPED: LazyLock<Atom> = LazyLock::new(|| Atom {
    scalar: Some(Scalar::Untyped),
    list: Some(List { items: Type::Untyped, kind: ListKind::Atomic }),
    map: Some(Map { fields: BTreeMap::new(), others: Some(Type::Untyped), atomic: true }),
});

/// The shapes a place allows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Atom {
    pub(crate) scalar: Option<Scalar>,
    pub(crate) list: Option<List>,
    pub(crate) map: Option<Map>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Numeric,
    String,
    Boolean,
    Untyped,
}

#[derive(Clone, Debug)]
pub(crate) struct List {
    pub(crate) items: Type,
    pub(crate) kind: ListKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// One field as a whole.
    Atomic,
    /// Scalars, each once.
    Set,
    /// Objects, told apart by these fields.
    Map(Vec<String>),
}

#[derive(Clone, Debug)]
pub(crate) struct Map {
    pub(crate) fields: BTreeMap<String, Field>,
    /// The type of keys that have no name in the schema; none means that there may not be such keys.
    pub(crate) others: Option<Type>,
    pub(crate) atomic: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) kind: Type,
    pub(crate) default: Option<Value>,
}

impl Map {
    /// The type of a key.
    pub(crate) fn kind_of(&self, key: &str) -> Option<&Type> {
        self.fields.get(key).map(|field| &field.kind).or(self.others.as_ref())
    }

    pub(crate) fn is_named(&self, key: &str) -> bool {
        self.fields.contains_key(key)
    }
}

/// Which of its shapes a place has, given a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape<'a> {
    Map(&'a Map),
    Scalar(Scalar),
    List(&'a List),
    /// The schema allows nothing at all.
    Nothing,
}

/// A null fits any shape, and a value of a shape that is not allowed takes the first that is: the error then says what was expected.
pub(crate) fn shape<'a>(atom: &'a Atom, value: Option<&Value>) -> Shape<'a> {
    let fitting = match value {
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => atom.scalar.map(Shape::Scalar),
        Some(Value::Array(_)) => atom.list.as_ref().map(Shape::List),
        Some(Value::Object(_)) => atom.map.as_ref().map(Shape::Map),
        Some(Value::Null) | None => None,
    };
    fitting
        .or_else(|| atom.map.as_ref().map(Shape::Map))
        .or_else(|| atom.scalar.map(Shape::Scalar))
        .or_else(|| atom.list.as_ref().map(Shape::List))
        .unwrap_or(Shape::Nothing)
}

/// The type of what a path element leads to; `None` when the schema has nothing there.
pub(crate) fn step<'a>(atom: &'a Atom, element: &PathElement) -> Option<&'a Type> {
    match element {
        PathElement::Field(name) => atom.map.as_ref()?.kind_of(name),
        PathElement::Key(_) | PathElement::Value(_) | PathElement::Index(_) => {
            atom.list.as_ref().map(|list| &list.items)
        }
    }
}
