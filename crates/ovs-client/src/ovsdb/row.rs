//! One row of a table: columns by name.
//!
//! A column whose value cannot be read is remembered as such and nothing else of the row is lost: one odd value must
//! not hide a whole host.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::Value;

/// A row, or the part of it that was asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    columns: BTreeMap<String, Value>,
    unreadable: BTreeSet<String>,
}

impl Row {
    /// Reads a row; `None` when it is not an object.
    pub fn from_json(json: &Json) -> Option<Self> {
        let mut row = Self::default();
        for (name, value) in json.as_object()? {
            match Value::from_json(value) {
                Ok(value) => drop(row.columns.insert(name.clone(), value)),
                Err(_) => drop(row.unreadable.insert(name.clone())),
            }
        }
        Some(row)
    }

    /// The value of a column; `None` when it was not asked for, the schema lacks it, or it cannot be read.
    pub fn get(&self, column: &str) -> Option<&Value> {
        self.columns.get(column)
    }

    /// All columns that could be read.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.columns.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Names of the columns whose values could not be read.
    pub fn unreadable(&self) -> impl Iterator<Item = &str> {
        self.unreadable.iter().map(String::as_str)
    }
}

impl FromIterator<(String, Value)> for Row {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(columns: T) -> Self {
        Self { columns: columns.into_iter().collect(), unreadable: BTreeSet::new() }
    }
}
