//! The shape of the document: all unknown, missing and mistyped fields at once, against the schema of the types.

use std::sync::LazyLock;

use c5c3_api::topology::Topology;
use serde_json::Value;

use super::Positions;
use crate::finding::{Finding, Findings};
use crate::schema::{Problem, Schema};

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::new(topology_schema()));

/// JSON Schema of the topology document, without references, for editors and for the shape check.
#[must_use]
pub fn topology_schema() -> Value {
    let settings =
        schemars::generate::SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<Topology>().to_value()
}

/// Compares the document with the schema.
pub(super) fn check(value: &Value, positions: &Positions) -> Findings {
    let mut findings = Findings::default();
    for violation in SCHEMA.check(value) {
        let unknown = matches!(violation.problem, Problem::Unknown { .. });
        let position =
            if unknown { positions.of_key(&violation.field) } else { positions.of(&violation.field) };
        findings.0.push(Finding {
            rule: violation.problem.rule(),
            position,
            message: violation.problem.to_string(),
            hint: violation.problem.hint(),
            field: if violation.field.is_empty() { "(document)".to_owned() } else { violation.field },
        });
    }
    findings
}
