//! What a write that is not an apply does to ownership.
//!
//! Whoever changes a field by create, update or patch owns it from then on, and nobody else does; there are no conflicts. A value sent as it was is
//! no change. Nothing here fails: where the entries cannot be understood, the object loses them, as in kube-apiserver, rather than the write.

use jiff::Timestamp;
use serde_json::Value;

use crate::change::{reconciled, yield_to};
use crate::managed_fields;
use crate::managers::{Entry, Identity, Manager, Managers, Operation, never_owned};
use crate::schema::Schema;
use crate::typed::check::check;

/// The new object with its `managedFields`.
///
/// `new` is the whole object as it would be stored: patched, defaulted, with whatever the client says about `managedFields`. `live` is what is stored now,
/// `None` for a create. The rules for `managedFields` in `new`: on a subresource, or when there are none, or when they cannot be read, the live ones
/// hold; `[{}]` forgets all; else they are taken as sent. An object that exists without entries gets none before it is first applied to.
///
/// ```
/// use serde_json::json;
/// use server_side_apply::{Manager, Schema, update};
///
/// let schema = Schema::new(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"mode": {"type": "string"}}}}}))?;
/// let manager = Manager { name: "editor".into(), subresource: String::new(), api_version: "example.com/v1".into() };
/// let new = json!({"apiVersion": "example.com/v1", "kind": "Host", "metadata": {"name": "a"}, "spec": {"mode": "auto"}});
/// let stored = update(&schema, None, &new, &manager, "2026-11-30T12:00:00Z".parse()?);
/// assert_eq!(stored["metadata"]["managedFields"][0]["fieldsV1"], json!({"f:spec": {".": {}, "f:mode": {}}}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn update(
    schema: &Schema,
    live: Option<&Value>,
    new: &Value,
    manager: &Manager,
    now: Timestamp,
) -> Value {
    let managers = starting_point(schema, live, new, manager);
    let now = crate::whole_seconds(now);
    let mut object = managed_fields::without(new);
    if live.is_some() && managers.is_empty() {
        return object;
    }
    let empty = managed_fields::empty_like(new);
    let old = live.map_or(empty, managed_fields::without);
    if let Some(managers) = track(schema, (&old, &object), managers, manager, now) {
        managed_fields::put(&mut object, &managers, &[live, Some(new)]);
    }
    object
}

/// The entries that the write starts from.
fn starting_point(schema: &Schema, live: Option<&Value>, new: &Value, manager: &Manager) -> Managers {
    let stored = || Managers::decode(live.and_then(managed_fields::of)).unwrap_or_default();
    if !manager.subresource.is_empty() {
        return stored();
    }
    let sent = managed_fields::of(new);
    if managed_fields::is_reset(sent, schema.empty_list_resets()) {
        return Managers::default();
    }
    match Managers::decode(sent) {
        Ok(sent) if !sent.is_empty() => sent,
        _ => stored(),
    }
}

/// The entries after the change from one object to the other; none when they cannot be understood.
pub(crate) fn track(
    schema: &Schema,
    (live, new): (&Value, &Value),
    managers: Managers,
    manager: &Manager,
    now: Timestamp,
) -> Option<Managers> {
    if managers.entries.values().any(|entry| !schema.serves(&entry.api_version, &manager.api_version)) {
        return None;
    }
    check(schema, live, true).ok()?;
    check(schema, new, true).ok()?;
    let mut managers = reconciled(schema, managers, manager);
    // The writer's earlier entry yields like any other, so that what is left to unite it with is what changed now.
    let nobody = Identity::new("", Operation::Update, "current operation", "");
    let comparison = yield_to(schema, (live, new), &mut managers, (&nobody, manager), true).ok()?;
    let taken = comparison.modified.union(&comparison.added).difference(&never_owned());
    if !taken.is_empty() {
        let identity = Identity::of(manager, Operation::Update);
        let earlier = managers.entries.remove(&identity);
        let set = earlier.map_or(taken.clone(), |earlier| earlier.set.union(&taken));
        let entry = Entry { api_version: manager.api_version.clone(), set, time: Some(now) };
        managers.entries.insert(identity, entry);
    }
    crate::managers::cap(&mut managers);
    Some(managers)
}
