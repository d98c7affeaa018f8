//! Schemas of custom resources, where definitions were given.

use super::documents::Document;
use super::report;
use crate::finding::Findings;
use crate::schema::ResourceSchemas;

pub(super) fn check(documents: &[Document], schemas: &ResourceSchemas, findings: &mut Findings) {
    for document in documents {
        for violation in schemas.check(&document.object).into_iter().flatten() {
            let hint = violation.problem.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            report(
                findings,
                "resource-schema",
                document,
                format!("{}: {}{hint}", violation.field, violation.problem),
            );
        }
    }
}
