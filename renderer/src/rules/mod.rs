//! Validate: every rule that a topology must keep before anything is rendered from it.
//!
//! A rule is data: an identifier, one sentence, and a function. The registry below is the whole list, so that a test can ask for a failing
//! and a passing case of each, and a program can print them.

mod catalog;
mod formats;
mod names;
mod networks;
mod platform;
mod ports;
mod selectors;
mod services;

use std::sync::Arc;

use c5c3_api::topology::Topology;

use crate::attachments::attachment_kinds;
use crate::conventions::{Resolved, resolve};
use crate::finding::{Finding, Findings};
use crate::load::Loaded;

pub use catalog::{Entry, Stage, catalog, rule_index, rule_page};

pub(crate) use names::{is_dns_subdomain, operator_secrets};

/// One rule.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Identifier, stable, in messages and tests.
    pub id: &'static str,
    /// What must hold, in one sentence.
    pub summary: &'static str,
    /// What would go wrong otherwise.
    pub why: &'static str,
    /// What to do about it.
    pub mend: &'static str,
    pub(crate) check: fn(&Subject<'_>, &mut Report<'_>),
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Rule").field("id", &self.id).finish_non_exhaustive()
    }
}

/// What a rule looks at: the topology as declared, and with its conventions.
pub(crate) struct Subject<'topology> {
    pub(crate) declared: &'topology Topology,
    pub(crate) resolved: &'topology Resolved,
}

/// Where a rule reports to.
pub(crate) struct Report<'loaded> {
    rule: &'static str,
    loaded: &'loaded Loaded,
    findings: Findings,
}

impl Report<'_> {
    pub(crate) fn add(&mut self, field: impl Into<String>, message: impl Into<String>, hint: Option<String>) {
        let field = field.into();
        self.findings.0.push(Finding {
            rule: self.rule,
            position: self.loaded.position(&field),
            field,
            message: message.into(),
            hint,
        });
    }

    /// Where another field stands, for hints.
    pub(crate) fn place(&self, field: &str) -> String {
        self.loaded.position(field).map_or_else(|| field.to_owned(), |position| position.to_string())
    }
}

/// Every rule, in the order in which a reader meets the fields.
#[must_use]
pub fn rules() -> Vec<Rule> {
    [
        names::RULES,
        formats::RULES,
        services::RULES,
        ports::RULES,
        networks::RULES,
        selectors::RULES,
        platform::RULES,
    ]
    .into_iter()
    .chain(attachment_kinds().iter().map(|kind| kind.rules))
    .flatten()
    .copied()
    .collect()
}

/// Checks all rules and returns the topology with its conventions filled in.
///
/// # Errors
/// Everything that is wrong, sorted by place.
pub fn validate(loaded: &Loaded) -> Result<Resolved, Findings> {
    let resolved = resolve(&loaded.topology);
    let mut findings = Findings::default();
    for rule in rules() {
        let mut report = Report { rule: rule.id, loaded, findings: Findings::default() };
        (rule.check)(&Subject { declared: &loaded.topology, resolved: &resolved }, &mut report);
        findings.0.append(&mut report.findings.0);
    }
    findings.into_result()?;
    Ok(Resolved { positions: Arc::clone(&loaded.positions), ..resolved })
}
