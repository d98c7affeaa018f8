//! One step of a path: a field, an item of a list by its keys or its value, or an index.

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

use crate::json::{go_text, ordering};

/// One step of a path into an object.
#[derive(Clone, Debug)]
pub enum PathElement {
    /// A field of a struct or a key of a map.
    Field(String),
    /// An item of a list of type `map`, by its key fields, sorted by name.
    Key(Vec<(String, Value)>),
    /// An item of a list of type `set`.
    Value(Value),
    /// An item of an atomic list. Read, but never produced.
    Index(i64),
}

impl PathElement {
    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(left), Self::Field(right)) => left.cmp(right),
            (Self::Key(left), Self::Key(right)) => ordering::compare_fields(left, right),
            (Self::Value(left), Self::Value(right)) => ordering::compare(left, right),
            (Self::Index(left), Self::Index(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PathElement {}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(fields) => {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(name, value)| format!("{name}={}", go_text::in_path(value)))
                    .collect();
                write!(f, "[{}]", fields.join(","))
            }
            Self::Value(value) => write!(f, "[={}]", go_text::in_path(value)),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}
