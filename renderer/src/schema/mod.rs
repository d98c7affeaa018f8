//! Schemas: is a value what its schema says, and if not, where and how.
//!
//! One checker for two dialects: JSON Schema of our own topology document, and the structural OpenAPI schemas of custom resources, which
//! refuse unknown fields unless told otherwise. It reports every violation with its field, since a person wants all of them at once.

mod check;
mod problem;
mod resources;

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

pub use problem::{Problem, Violation};
pub use resources::{ResourceSchemas, SchemaError};

/// A schema with its patterns compiled.
#[derive(Clone, Debug)]
pub struct Schema {
    root: Value,
    patterns: BTreeMap<String, Regex>,
    structural: bool,
}

impl Schema {
    /// A JSON Schema without references.
    #[must_use]
    pub fn new(root: Value) -> Self {
        Self::build(root, false)
    }

    /// A structural OpenAPI schema of a custom resource.
    #[must_use]
    pub fn structural(root: Value) -> Self {
        Self::build(root, true)
    }

    fn build(root: Value, structural: bool) -> Self {
        let mut patterns = BTreeMap::new();
        collect_patterns(&root, &mut patterns);
        Self { root, patterns, structural }
    }

    /// Everything in `value` that is not as the schema says, in the order of the value's fields.
    #[must_use]
    pub fn check(&self, value: &Value) -> Vec<Violation> {
        let mut violations = Vec::new();
        check::Checker { schema: self, violations: &mut violations }.check("", &self.root, value);
        violations
    }
}

fn collect_patterns(schema: &Value, patterns: &mut BTreeMap<String, Regex>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(pattern)) = fields.get("pattern")
                && let Ok(compiled) = Regex::new(pattern)
            {
                patterns.insert(pattern.clone(), compiled);
            }
            fields.values().for_each(|field| collect_patterns(field, patterns));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_patterns(item, patterns)),
        _ => {}
    }
}
