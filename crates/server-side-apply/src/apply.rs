//! Server-side apply: who says the same fields again owns them, who stops saying them gives them up.

use jiff::Timestamp;
use serde_json::Value;

use crate::change::{reconciled, yield_to};
use crate::conflict::Conflicts;
use crate::managers::{Entry, Identity, ManagedFieldsError, Manager, Managers, Operation, never_owned};
use crate::prune::prune;
use crate::schema::Schema;
use crate::typed::check::{TypeErrors, check};
use crate::typed::merge::merge;
use crate::typed::to_set::to_set;
use crate::update::track;
use crate::{json, keep_times, last_applied, managed_fields};

/// The manager that gets what exists when an object without entries is applied to.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// The outcome of an apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The merged object with its `managedFields`, before defaults.
    pub object: Value,
    /// Whether it differs from the live one by more than times.
    pub changed: bool,
}

/// Why an apply was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ApplyError {
    /// Others own what it would change: 409 `Conflict`, with [`Conflicts::causes`].
    #[error("{0}")]
    Conflicts(Conflicts),
    /// What was sent does not fit the schema. kube-apiserver answers 500 with this message and no reason.
    #[error("failed to create typed patch object ({identity}): {errors}")]
    Invalid {
        /// `namespace/name; group/version, Kind=K`
        identity: String,
        /// What does not fit.
        errors: TypeErrors,
    },
    /// 400: `managedFields` is not the applier's to say.
    #[error("metadata.managedFields must be nil")]
    ManagedFieldsInBody,
    /// 400: another version or kind than that of the endpoint.
    #[error("invalid object type: {0}")]
    OtherType(String),
    /// 500: the live object does not fit the schema.
    #[error("failed to create typed live object ({identity}): {errors}")]
    Live {
        /// `namespace/name; group/version, Kind=K`
        identity: String,
        /// What does not fit.
        errors: TypeErrors,
    },
    /// 500: the live object's entries cannot be read.
    #[error("failed to decode managed fields: {0}")]
    LiveManagers(#[source] ManagedFieldsError),
}

/// Applies a configuration to a live object, or creates one from it.
///
/// Defaults are the caller's, afterwards: fill them in, call [`keep_times`], and if the result equals the live object, there is nothing to write. The object has the
/// `uid` and `resourceVersion` of the configuration where it has them, else those of the live object, so preconditions can be checked on it.
///
/// ```
/// use serde_json::json;
/// use server_side_apply::{ApplyError, Manager, Schema, apply};
///
/// let schema = Schema::new(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
///     "mode": {"type": "string"}, "size": {"type": "integer"}}}}}))?;
/// let manager = |name: &str| Manager { name: name.into(), subresource: String::new(), api_version: "example.com/v1".into() };
/// let config = |spec| json!({"apiVersion": "example.com/v1", "kind": "Host", "metadata": {"name": "a"}, "spec": spec});
/// let now = "2026-11-30T12:00:00Z".parse()?;
///
/// let live = apply(&schema, None, &config(json!({"mode": "auto", "size": 3})), &manager("flux"), false, now)?.object;
/// let refused = apply(&schema, Some(&live), &config(json!({"mode": "manual"})), &manager("person"), false, now).unwrap_err();
/// assert_eq!(refused.to_string(), r#"Apply failed with 1 conflict: conflict with "flux": .spec.mode"#);
///
/// let live = apply(&schema, Some(&live), &config(json!({"mode": "manual"})), &manager("person"), true, now)?.object;
/// let live = apply(&schema, Some(&live), &config(json!({})), &manager("flux"), false, now)?.object;
/// assert_eq!(live["spec"], json!({"mode": "manual"}), "flux no longer owned the mode, and gave up the size");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`ApplyError`].
pub fn apply(
    schema: &Schema,
    live: Option<&Value>,
    applied: &Value,
    manager: &Manager,
    force: bool,
    now: Timestamp,
) -> Result<Applied, ApplyError> {
    check_body(schema, live, applied, manager)?;
    let old = live.map_or_else(|| managed_fields::empty_like(applied), managed_fields::without);
    let managers = Managers::decode(live.and_then(managed_fields::of)).map_err(ApplyError::LiveManagers)?;
    // Before anything is copied: this is what puts an end to the depth.
    check(schema, applied, false)
        .map_err(|errors| ApplyError::Invalid { identity: identity_text(applied), errors })?;
    let config = managed_fields::without(applied);
    check(schema, &old, true).map_err(|errors| ApplyError::Live { identity: identity_text(&old), errors })?;
    let now = crate::whole_seconds(now);
    let managers =
        if managers.is_empty() { before_first_apply(schema, &old, manager, now) } else { managers };

    let step = Step { schema, old: &old, config: &config, manager, now };
    let (mut object, managers) = match step.run(managers.clone(), force) {
        Err(conflicts) if last_applied::is_kubectl(manager) => {
            let allowed = last_applied::unchanged_since(schema, &old, &manager.api_version);
            let left = conflicts.without(&allowed);
            if !left.list().is_empty() {
                return Err(ApplyError::Conflicts(left));
            }
            step.run(managers, true)
        }
        outcome => outcome,
    }
    .map_err(ApplyError::Conflicts)?;
    if last_applied::is_kubectl(manager) {
        last_applied::follow(&mut object, &config);
    }
    managed_fields::put(&mut object, &managers, &[live]);
    let changed = live.is_none_or(|live| {
        let mut settled = object.clone();
        keep_times(live, &mut settled);
        settled != *live
    });
    Ok(Applied { object, changed })
}

fn check_body(
    schema: &Schema,
    live: Option<&Value>,
    applied: &Value,
    manager: &Manager,
) -> Result<(), ApplyError> {
    let text = |object: &Value, field: &str| {
        object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let kind = text(applied, "kind");
    let expected = schema.kind().map(str::to_owned).or_else(|| live.map(|live| text(live, "kind")));
    let other_kind = kind.is_empty() || expected.is_some_and(|expected| expected != kind);
    if other_kind || text(applied, "apiVersion") != manager.api_version {
        return Err(ApplyError::OtherType(type_text(applied)));
    }
    match managed_fields::of(applied) {
        None | Some(Value::Null) => Ok(()),
        Some(_) => Err(ApplyError::ManagedFieldsInBody),
    }
}

/// Gives all that exists to a manager that stands for whoever wrote it before anybody kept account.
fn before_first_apply(schema: &Schema, old: &Value, manager: &Manager, now: Timestamp) -> Managers {
    let empty = managed_fields::empty_like(old);
    let writer = Manager { name: BEFORE_FIRST_APPLY.into(), ..manager.clone() };
    track(schema, (&empty, old), Managers::default(), &writer, now).unwrap_or_default()
}

/// One attempt, forced or not.
struct Step<'a> {
    schema: &'a Schema,
    old: &'a Value,
    config: &'a Value,
    manager: &'a Manager,
    now: Timestamp,
}

impl Step<'_> {
    fn run(&self, managers: Managers, force: bool) -> Result<(Value, Managers), Conflicts> {
        let Self { schema, old, config, manager, now } = *self;
        let root = &schema.root;
        let mut managers = reconciled(schema, managers, manager);
        let identity = Identity::of(manager, Operation::Apply);
        let mut set = to_set(root, config);
        if let Some(reset) = schema.reset(&manager.subresource) {
            set = set.recursive_difference(reset);
        }
        let before = managers.entries.remove(&identity);
        let (last, time) = before.map(|entry| (entry.set, entry.time)).unwrap_or_default();
        let own = Entry { api_version: manager.api_version.clone(), set, time };
        managers.entries.insert(identity.clone(), own);

        let merged =
            merge(root, Some(old), Some(config)).unwrap_or_else(|| managed_fields::empty_like(config));
        let pruned = prune(schema, &merged, &last, &managers);
        yield_to(schema, (old, &pruned), &mut managers, (&identity, manager), force)?;

        let changed = !json::ordering::equal(old, &pruned);
        if let Some(own) = managers.entries.get_mut(&identity) {
            own.set = own.set.difference(&never_owned());
            if changed {
                own.time = Some(now);
            }
        }
        managers.drop_empty();
        Ok((if changed { pruned } else { old.clone() }, managers))
    }
}

/// `group/version, Kind=K`, as Go prints it.
fn type_text(object: &Value) -> String {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let version = text("apiVersion");
    let slash = if version.contains('/') { "" } else { "/" };
    format!("{slash}{version}, Kind={}", text("kind"))
}

fn identity_text(object: &Value) -> String {
    let text = |field: &str| {
        object.get("metadata").and_then(|m| m.get(field)).and_then(Value::as_str).unwrap_or_default()
    };
    format!("{}/{}; {}", text("namespace"), text("name"), type_text(object))
}
