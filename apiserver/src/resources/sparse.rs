//! What is stored of a written object: what its writers want, and nothing that is there anyway.
//!
//! An object is shown whole: defaults, what the Node says, and what is stored. Who reads it, changes a word and sends it back wants
//! that word, not the Node's zone frozen for ever. So a field is stored if a writer owns it or made it something else
//! than it would be; likewise labels and owners.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::merge::NODE_MANAGER;

/// What is stored of `new`, written over `old` as it was shown, of which `stored` was stored. `base` is the spec of an
/// object of which nothing is stored; `None` where all of the spec is the writers'.
pub(super) fn sparse(
    stored: Option<&Value>,
    old: Option<&Value>,
    new: &Value,
    base: Option<&Value>,
) -> Value {
    let mut object = Map::new();
    let mut metadata = member(new, "metadata").cloned().unwrap_or_default();
    let owned = Owned::of(&metadata);
    drop_node_entry(&mut metadata);
    let labels_of = |object: Option<&Value>| -> Map<String, Value> {
        let labels = object.and_then(|object| object.pointer("/metadata/labels"));
        labels.and_then(Value::as_object).cloned().unwrap_or_default()
    };
    let labels = labels_of(Some(new));
    let (stored_labels, old_labels) = (labels_of(stored), labels_of(old));
    let kept = labels.into_iter().filter(|(key, value)| {
        owned.labels.contains(key) || stored_labels.contains_key(key) || old_labels.get(key) != Some(value)
    });
    put(&mut metadata, "labels", kept.collect::<Map<_, _>>());
    keep_own_owners(&mut metadata, stored, old);
    object.insert("metadata".to_owned(), metadata.into());
    let spec = member(new, "spec").cloned().unwrap_or_default();
    let spec = match base {
        None => spec,
        Some(base) => {
            let (stored, old) =
                (stored.and_then(|stored| member(stored, "spec")), old.and_then(|old| member(old, "spec")));
            let kept = spec.into_iter().filter(|(field, value)| {
                let is_other = base.get(field) != Some(value);
                let is_stored = stored.is_some_and(|stored| stored.contains_key(field));
                let is_changed = old.is_none_or(|old| old.get(field) != Some(value));
                owned.spec.contains(field) || (is_other && (is_stored || is_changed))
            });
            kept.collect()
        }
    };
    object.insert("spec".to_owned(), spec.into());
    object.into()
}

fn member<'a>(object: &'a Value, field: &str) -> Option<&'a Map<String, Value>> {
    object.get(field).and_then(Value::as_object)
}

fn put(map: &mut Map<String, Value>, field: &str, value: Map<String, Value>) {
    if value.is_empty() {
        map.remove(field);
    } else {
        map.insert(field.to_owned(), value.into());
    }
}

/// Owners that are shown and not stored are computed each time. But who first wants something of a host that its Node has made
/// does not declare the host: it still goes with its Node, so the Node stays its owner when it is gone.
fn keep_own_owners(metadata: &mut Map<String, Value>, stored: Option<&Value>, old: Option<&Value>) {
    let owners = |object: Option<&Value>| -> Vec<Value> {
        let owners = object.and_then(|object| object.pointer("/metadata/ownerReferences"));
        owners.and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let uids = |object: Option<&Value>| -> BTreeSet<String> {
        let uid = |owner: &Value| owner.get("uid")?.as_str().map(str::to_owned);
        owners(object).iter().filter_map(uid).collect()
    };
    let is_node = |owner: &Value| owner.get("kind").and_then(Value::as_str) == Some("Node");
    // Also when another Node of the name has come meanwhile.
    let went_with = owners(stored).iter().any(is_node);
    let is_first = stored.is_none_or(|stored| stored.get("spec").is_none());
    let (stored, old) = (uids(stored), uids(old));
    let Some(owners) = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut) else { return };
    owners.retain(|owner| {
        let uid = owner.get("uid").and_then(Value::as_str).unwrap_or_default();
        let goes_with = (is_first || went_with) && is_node(owner);
        stored.contains(uid) || !old.contains(uid) || goes_with
    });
    if owners.is_empty() {
        metadata.remove("ownerReferences");
    }
}

/// The Node's share is computed each time.
fn drop_node_entry(metadata: &mut Map<String, Value>) {
    let Some(entries) = metadata.get_mut("managedFields").and_then(Value::as_array_mut) else { return };
    entries.retain(|entry| !is_node(entry));
    if entries.is_empty() {
        metadata.remove("managedFields");
    }
}

fn is_node(entry: &Value) -> bool {
    entry.get("manager").and_then(Value::as_str) == Some(NODE_MANAGER)
}

/// What writers own by their entries in `managedFields`.
#[derive(Debug, Default)]
struct Owned {
    spec: BTreeSet<String>,
    labels: BTreeSet<String>,
}

impl Owned {
    fn of(metadata: &Map<String, Value>) -> Self {
        let mut owned = Self::default();
        let entries = metadata.get("managedFields").and_then(Value::as_array);
        for entry in entries.into_iter().flatten().filter(|entry| !is_node(entry)) {
            let Some(fields) = entry.get("fieldsV1") else { continue };
            owned.spec.extend(names(fields.get("f:spec")));
            owned.labels.extend(names(fields.pointer("/f:metadata/f:labels")));
        }
        owned
    }
}

fn names(fields: Option<&Value>) -> impl Iterator<Item = String> {
    let fields = fields.and_then(Value::as_object);
    fields.into_iter().flatten().filter_map(|(name, _)| name.strip_prefix("f:").map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "the calls are easier to read")]
    fn entry(manager: &str, fields: Value) -> Value {
        json!({"manager": manager, "operation": "Update", "fieldsV1": fields})
    }

    fn shown() -> Value {
        json!({
            "metadata": {
                "name": "a", "uid": "u", "labels": {"zone": "z"}, "ownerReferences": [{"uid": "node"}],
                "managedFields": [entry(NODE_MANAGER, json!({"f:spec": {"f:skipTests": {}}}))],
            },
            "spec": {"skipTests": true, "reboot": false, "aggregates": ["z"]},
        })
    }

    const BASE: fn() -> Value = || json!({"skipTests": true, "reboot": false, "aggregates": ["z"]});

    #[test]
    fn a_word_that_is_changed_is_all_that_is_stored() {
        let mut new = shown();
        new["spec"]["reboot"] = json!(true);
        new["metadata"]["labels"]["mine"] = json!("x");
        new["metadata"]["managedFields"] = json!([
            entry(NODE_MANAGER, json!({"f:spec": {"f:skipTests": {}}})),
            entry("kubectl-edit", json!({"f:spec": {"f:reboot": {}}})),
        ]);
        let stored = sparse(None, Some(&shown()), &new, Some(&BASE()));
        assert_eq!(stored["spec"], json!({"reboot": true}));
        assert_eq!(stored["metadata"]["labels"], json!({"mine": "x"}));
        assert_eq!(stored["metadata"].get("ownerReferences"), None);
        assert_eq!(stored["metadata"]["managedFields"].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn what_is_applied_is_stored_even_if_the_node_says_the_same() {
        let mut new = shown();
        new["metadata"]["managedFields"] = json!([entry(
            "flux",
            json!({"f:spec": {"f:skipTests": {}}, "f:metadata": {"f:labels": {"f:zone": {}}}})
        )]);
        let stored = sparse(None, Some(&shown()), &new, Some(&BASE()));
        assert_eq!(
            (&stored["spec"], &stored["metadata"]["labels"]),
            (&json!({"skipTests": true}), &json!({"zone": "z"}))
        );
        let mut given_up = new.clone();
        given_up["metadata"].as_object_mut().unwrap().remove("managedFields");
        let again = sparse(Some(&stored), Some(&new), &given_up, Some(&BASE()));
        assert_eq!(again["spec"], json!({}), "what nobody owns and the base says follows the base");
    }

    #[test]
    fn what_was_stored_and_is_something_else_stays_also_without_an_owner() {
        let stored = json!({"spec": {"reboot": true}});
        let mut new = shown();
        new["spec"]["reboot"] = json!(true);
        assert_eq!(sparse(Some(&stored), Some(&new), &new, Some(&BASE()))["spec"], json!({"reboot": true}));
        let mut old = shown();
        old["spec"]["aggregates"] = json!(["earlier"]);
        let new = old.clone();
        let stored = sparse(None, Some(&old), &new, Some(&BASE()));
        assert_eq!(
            stored["spec"],
            json!({}),
            "the Node has just said something else: that is no wish of the writer"
        );
    }

    #[test]
    fn a_host_goes_with_its_node_unless_it_was_declared_before() {
        let mut old = shown();
        old["metadata"]["ownerReferences"] = json!([{"kind": "Node", "uid": "n"}]);
        let first = sparse(None, Some(&old), &old, None);
        assert_eq!(first["metadata"]["ownerReferences"][0]["uid"], "n");
        let dropped = json!({"metadata": {"uid": "u"}});
        assert_eq!(
            sparse(Some(&dropped), Some(&old), &old, None)["metadata"]["ownerReferences"][0]["uid"],
            "n"
        );
        let mut another = old.clone();
        another["metadata"]["ownerReferences"] =
            json!([{"kind": "Node", "uid": "n"}, {"kind": "Node", "uid": "m"}]);
        let mut cleaned = another.clone();
        cleaned["metadata"]["ownerReferences"] = json!([{"kind": "Node", "uid": "m"}]);
        let again = sparse(Some(&first), Some(&another), &cleaned, None);
        assert_eq!(again["metadata"]["ownerReferences"][0]["uid"], "m", "another Node of its name has come");
        let declared = json!({"metadata": {"uid": "u"}, "spec": {}});
        assert_eq!(sparse(Some(&declared), Some(&old), &old, None)["metadata"].get("ownerReferences"), None);
    }

    #[test]
    fn owners_that_a_writer_names_are_stored() {
        let mut new = shown();
        new["metadata"]["ownerReferences"] = json!([{"uid": "node"}, {"uid": "mine"}]);
        let stored = sparse(None, Some(&shown()), &new, None);
        assert_eq!(stored["metadata"]["ownerReferences"], json!([{"uid": "mine"}]));
        let again = sparse(Some(&stored), Some(&new), &new, None);
        assert_eq!(again["metadata"]["ownerReferences"], json!([{"uid": "mine"}]));
        assert_eq!(again["spec"], new["spec"], "without a base all of the spec is stored");
    }
}
