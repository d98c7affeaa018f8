//! What all replicas have stated, as their Leases say it.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use aggregated_apiserver::{ObjectKey, Replicas, ResourceVersion, Revision};
use k8s_openapi::api::coordination::v1::Lease;
use serde_json::json;

use super::ledger::Statement;

/// Annotation of a Lease with the statements of its holder: pairs of version and revision.
const APPLIED: &str = "c5c3.io/applied";
/// Name of a slot's Lease, before its number.
const PREFIX: &str = "c5c3-apiserver-slot-";
/// Processes that one slot tells apart.
const PROCESSES: i32 = 64;

/// One holder's time in a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) slot: u8,
    pub(super) process: u8,
    pub(super) statements: Vec<Statement>,
}

/// The terms that are known.
#[derive(Debug, Default)]
pub struct Terms(RwLock<BTreeMap<u8, Term>>);

pub(super) fn lease_name(slot: u8) -> String {
    format!("{PREFIX}{slot}")
}

pub(super) fn slot_of(lease: &Lease) -> Option<u8> {
    let slot = lease.metadata.name.as_deref()?.strip_prefix(PREFIX)?.parse().ok()?;
    (slot < aggregated_apiserver::VersionClock::SLOTS).then_some(slot)
}

/// The number of the process that holds a slot: another one for each holder.
pub(super) fn process_of(transitions: i32) -> u8 {
    u8::try_from(transitions.rem_euclid(PROCESSES)).unwrap_or_default()
}

pub(super) fn annotation(statements: &[Statement]) -> (String, String) {
    let pairs: Vec<_> =
        statements.iter().map(|statement| json!([statement.after, statement.through])).collect();
    (APPLIED.to_owned(), json!(pairs).to_string())
}

/// The term that a Lease tells of. What cannot be read states nothing.
pub(super) fn term(lease: &Lease) -> Option<Term> {
    let transitions = lease.spec.as_ref()?.lease_transitions?;
    let text = lease.metadata.annotations.as_ref().and_then(|all| all.get(APPLIED));
    let pairs: Vec<(u64, u64)> = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let statements = pairs.into_iter().map(|(after, through)| Statement { after, through }).collect();
    Some(Term { slot: slot_of(lease)?, process: process_of(transitions), statements })
}

impl Term {
    pub(super) fn had_applied(&self, version: ResourceVersion, revision: u64) -> bool {
        version.slot() == self.slot
            && version.process() == self.process
            && self.statements.iter().any(|said| said.after < version.micros() && revision <= said.through)
    }
}

impl Terms {
    pub(super) fn learn(&self, lease: &Lease) {
        if let Some(term) = term(lease) {
            self.0.write().unwrap_or_else(PoisonError::into_inner).insert(term.slot, term);
        }
    }
}

impl Replicas for Terms {
    fn had_applied(&self, version: ResourceVersion, _: &ObjectKey, revision: &Revision) -> bool {
        let Ok(revision) = revision.as_str().parse() else { return false };
        let terms = self.0.read().unwrap_or_else(PoisonError::into_inner);
        terms.get(&version.slot()).is_some_and(|term| term.had_applied(version, revision))
    }
}
