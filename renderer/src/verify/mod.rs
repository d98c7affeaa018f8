//! Verify: what was rendered is read back and compared with what was planned, before it may reach Git.
//!
//! Templates are text, and a user may bring his own; nothing they print is trusted. Every check here looks at the files alone and at the
//! plan, so that a fault in either shows.

mod documents;
mod graph;
mod layout;
mod references;
mod schemas;
mod secret_sources;
mod secrets;

use std::collections::BTreeMap;

use crate::finding::{Finding, Findings};
use crate::plan::{Plan, Planned};
use crate::render::{Rendered, Templates};
use crate::schema::ResourceSchemas;

pub(crate) use secrets::{secret_kind, visit_text};

use documents::Document;

/// Checks rendered files against their plan.
///
/// `schemas` holds definitions of custom resources; kinds that it does not know are not checked against one.
///
/// # Errors
/// Everything that is wrong, by file.
pub fn verify(
    plan: &Plan,
    rendered: &Rendered,
    templates: &Templates,
    schemas: Option<&ResourceSchemas>,
) -> Result<(), Findings> {
    let mut findings = Findings::default();
    layout::paths(rendered, &mut findings);
    let documents = documents::read(rendered, &mut findings);
    documents::compare(plan, &documents, templates, &mut findings);
    documents::unique(&documents, &mut findings);
    documents::substitution(&documents, &mut findings);
    documents::runtime_fields(&documents, &mut findings);
    layout::indexes(&documents, &mut findings);
    layout::kustomization_paths(plan, &documents, &mut findings);
    graph::check(&documents, &mut findings);
    references::check(plan, &documents, &mut findings);
    secrets::check(&documents, &mut findings);
    secret_sources::check(&documents, &mut findings);
    if let Some(schemas) = schemas {
        schemas::check(&documents, schemas, &mut findings);
    }
    // Each finding points at the line of the topology that the file exists for.
    let owners: BTreeMap<&str, &Planned> = if findings.is_empty() {
        BTreeMap::new()
    } else {
        plan.objects().map(|object| (object.path.as_str(), object)).collect()
    };
    for finding in &mut findings.0 {
        finding.position = owners.get(finding.field.as_str()).and_then(|object| plan.position(object));
    }
    findings.into_result()
}

/// Folder of a path.
fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn report(findings: &mut Findings, rule: &'static str, document: &Document, message: impl Into<String>) {
    report_path(findings, rule, &document.path, message);
}

fn report_path(findings: &mut Findings, rule: &'static str, path: &str, message: impl Into<String>) {
    findings.0.push(Finding {
        rule,
        position: None,
        field: path.to_owned(),
        message: message.into(),
        hint: None,
    });
}
