//! What a change of an object does to those who own fields of it.

use serde_json::Value;

use crate::conflict::{Conflict, Conflicts};
use crate::managers::{Entry, Identity, Manager, Managers};
use crate::schema::Schema;
use crate::typed::compare::{Comparison, compare};

/// Takes from all others what was changed or removed. Unless forced, a field that was changed and is owned by another is a conflict; one that was
/// removed never is.
pub(crate) fn yield_to(
    schema: &Schema,
    (live, new): (&Value, &Value),
    managers: &mut Managers,
    (writer, endpoint): (&Identity, &Manager),
    force: bool,
) -> Result<Comparison, Conflicts> {
    let comparison = compare(&schema.root, live, new).without(schema.reset(&endpoint.subresource));
    let changed = comparison.modified.union(&comparison.added);
    let mut conflicts = Vec::new();
    for (identity, entry) in managers.entries.iter().filter(|(identity, _)| *identity != writer) {
        let lost = entry.set.intersection(&changed);
        conflicts.extend(lost.paths().into_iter().map(|path| Conflict { identity: identity.clone(), path }));
    }
    if !force && !conflicts.is_empty() {
        return Err(Conflicts(conflicts));
    }
    let all = comparison.all();
    for (_, entry) in managers.entries.iter_mut().filter(|(identity, _)| *identity != writer) {
        entry.set = entry.set.difference(&all);
    }
    managers.drop_empty();
    Ok(comparison)
}

/// The entries whose version has this schema, fitted to it.
pub(crate) fn reconciled(schema: &Schema, managers: Managers, endpoint: &Manager) -> Managers {
    let served = |entry: &Entry| schema.serves(&entry.api_version, &endpoint.api_version);
    let entries = managers.entries.into_iter().filter(|(_, entry)| served(entry));
    let fit =
        |entry: Entry| Entry { set: crate::typed::reconcile::reconcile(&schema.root, &entry.set), ..entry };
    Managers { entries: entries.map(|(identity, entry)| (identity, fit(entry))).collect() }
}
