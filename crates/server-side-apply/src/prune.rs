//! Removes what an applier applied before, does not apply now, and nobody else owns.
//!
//! In three steps, so that nothing goes that somebody needs: all that was mine is taken out; what anybody owns now, with all that leads there, comes back; and
//! of what is missing then, only what was mine stays away.

use serde_json::Value;

use crate::field_set::FieldSet;
use crate::managers::Managers;
use crate::schema::Schema;
use crate::typed::named::with_named_fields;
use crate::typed::remove::remove;
use crate::typed::to_set::to_set;

/// The merged object without what its applier gave up. `managers` already says what the applier owns from now on.
pub(crate) fn prune(schema: &Schema, merged: &Value, last: &FieldSet, managers: &Managers) -> Value {
    if last.is_empty() {
        return merged.clone();
    }
    let root = &schema.root;
    let named = |set: &FieldSet| with_named_fields(Some(root), set);
    let fields = |object: &Value| named(&to_set(root, object));
    let (last, all) = (named(last), fields(merged));

    let without_mine = remove(root, merged, &last);
    let needed = fields(&without_mine).union(&named(&managers.owned()));
    let with_owned = remove(root, merged, &all.difference(&needed));
    let missing = all.difference(&fields(&with_owned));
    remove(root, merged, &missing.intersection(&last))
}
