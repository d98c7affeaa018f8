//! The rules of `metadata`: its form, what a client may say in it, what it may change.

use serde_json::{Map, Value};

use super::names;
use crate::status::Cause;

/// Most bytes of all annotations together.
const ANNOTATION_BYTES: usize = 256 << 10;

pub(super) const ORPHAN: &str = "orphan";
pub(super) const FOREGROUND: &str = "foregroundDeletion";

/// The type of each field, for the message that says that it has another.
const FIELDS: [(&str, Type); 16] = [
    ("annotations", Type::Texts),
    ("creationTimestamp", Type::Text),
    ("deletionGracePeriodSeconds", Type::Integer),
    ("deletionTimestamp", Type::Text),
    ("finalizers", Type::List),
    ("generateName", Type::Text),
    ("generation", Type::Integer),
    ("labels", Type::Texts),
    ("managedFields", Type::Objects(&MANAGER)),
    ("name", Type::Text),
    ("namespace", Type::Text),
    ("ownerReferences", Type::Objects(&OWNER)),
    ("resourceVersion", Type::Text),
    ("selfLink", Type::Text),
    ("uid", Type::Text),
    ("clusterName", Type::Text),
];
const OWNER: [(&str, Type); 6] = [
    ("apiVersion", Type::Text),
    ("blockOwnerDeletion", Type::Switch),
    ("controller", Type::Switch),
    ("kind", Type::Text),
    ("name", Type::Text),
    ("uid", Type::Text),
];
const MANAGER: [(&str, Type); 7] = [
    ("apiVersion", Type::Text),
    ("fieldsType", Type::Text),
    ("fieldsV1", Type::Any),
    ("manager", Type::Text),
    ("operation", Type::Text),
    ("subresource", Type::Text),
    ("time", Type::Text),
];

#[derive(Clone, Copy)]
enum Type {
    Any,
    Text,
    Integer,
    Switch,
    List,
    Texts,
    Objects(&'static [(&'static str, Self)]),
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Text => "string",
            Self::Integer => "int64",
            Self::Switch => "bool",
            Self::List => "[]string",
            Self::Texts => "map[string]string",
            Self::Objects(_) => "[]object",
        }
    }
}

/// Checks types and takes out unknown fields. The error names the first field of a wrong type.
pub(super) fn prune(metadata: &mut Value, unknown: &mut Vec<String>) -> Result<(), String> {
    let Value::Object(map) = metadata else { return Err(mismatch(metadata, "metadata", "ObjectMeta")) };
    known(map, &FIELDS, "metadata", unknown)
}

fn known(
    map: &mut Map<String, Value>,
    fields: &[(&str, Type)],
    path: &str,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let mut wrong = None;
    map.retain(|key, value| {
        let path = format!("{path}.{key}");
        let Some((_, type_)) = fields.iter().find(|(name, _)| name == key) else {
            unknown.push(path);
            return false;
        };
        if let Err(message) = check(value, *type_, &path, unknown) {
            wrong.get_or_insert(message);
        }
        true
    });
    wrong.map_or(Ok(()), Err)
}

fn check(value: &mut Value, type_: Type, path: &str, unknown: &mut Vec<String>) -> Result<(), String> {
    let texts = |values: Vec<&Value>| {
        let other = values.into_iter().find(|value| !value.is_string() && !value.is_null());
        other.map_or(Ok(()), |other| Err(mismatch(other, path, "string")))
    };
    match (type_, &mut *value) {
        (_, Value::Null)
        | (Type::Any, _)
        | (Type::Text, Value::String(_))
        | (Type::Switch, Value::Bool(_)) => Ok(()),
        (Type::Integer, Value::Number(number)) if number.as_i64().is_some() => Ok(()),
        (Type::List, Value::Array(items)) => texts(items.iter().collect()),
        (Type::Texts, Value::Object(map)) => texts(map.values().collect()),
        (Type::Objects(fields), Value::Array(items)) => {
            items.iter_mut().enumerate().try_for_each(|(index, item)| match item {
                Value::Object(map) => known(map, fields, &format!("{path}[{index}]"), unknown),
                other => Err(mismatch(other, path, "object")),
            })
        }
        _ => Err(mismatch(value, path, type_.name())),
    }
}

fn mismatch(value: &Value, path: &str, type_: &str) -> String {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    format!("json: cannot unmarshal {found} into field {path} of type {type_}")
}

/// Takes out what says nothing: nulls, and empty maps, lists and texts. Managed fields are left as they are.
pub(super) fn tidy(metadata: &mut Map<String, Value>) {
    for map in ["labels", "annotations"] {
        if let Some(Value::Object(map)) = metadata.get_mut(map) {
            // As in Go, where null is the empty text.
            map.values_mut().filter(|value| value.is_null()).for_each(|value| *value = Value::from(""));
        }
    }
    metadata.retain(|key, value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty() || key == "managedFields",
        Value::Object(map) => !map.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    });
    metadata.remove("selfLink");
    metadata.remove("clusterName");
}

/// A text of the metadata, empty if it is not there.
pub(super) fn text<'a>(metadata: &'a Map<String, Value>, field: &str) -> &'a str {
    metadata.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The finalizers.
pub(super) fn finalizers(metadata: &Map<String, Value>) -> Vec<&str> {
    let list = metadata.get("finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// What is wrong with it, whatever it was before.
pub(super) fn faults(metadata: &Map<String, Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut report = |field: &str, value: &str, faults: Vec<String>| {
        causes.extend(faults.iter().map(|fault| Cause::invalid(field, value, fault)));
    };
    if metadata.contains_key("name") {
        let name = text(metadata, "name");
        report("metadata.name", name, names::subdomain(name));
    } else {
        causes.push(Cause::required("metadata.name", "name or generateName is required"));
        return causes;
    }
    for (key, value) in entries(metadata, "labels") {
        report("metadata.labels", key, names::qualified(key));
        report("metadata.labels", value, names::label_value(value));
    }
    for (key, _) in entries(metadata, "annotations") {
        report("metadata.annotations", key, names::qualified(&key.to_lowercase()));
    }
    for finalizer in finalizers(metadata) {
        report("metadata.finalizers", finalizer, names::qualified(finalizer));
    }
    let bytes: usize = entries(metadata, "annotations").map(|(key, value)| key.len() + value.len()).sum();
    if bytes > ANNOTATION_BYTES {
        causes.push(Cause::too_long("metadata.annotations", ANNOTATION_BYTES));
    }
    let finalizers = finalizers(metadata);
    if finalizers.contains(&ORPHAN) && finalizers.contains(&FOREGROUND) {
        let message = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        causes.push(Cause::invalid("metadata.finalizers", finalizers, &message));
    }
    owner_faults(metadata, &mut causes);
    causes
}

fn entries<'a>(metadata: &'a Map<String, Value>, field: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let map = metadata.get(field).and_then(Value::as_object);
    map.into_iter().flatten().map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
}

fn owner_faults(metadata: &Map<String, Value>, causes: &mut Vec<Cause>) {
    let owners = metadata.get("ownerReferences").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut controllers = Vec::new();
    for owner in owners {
        let text = |field: &str| owner.get(field).and_then(Value::as_str).unwrap_or_default();
        for (field, message) in [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            if text(field).is_empty() {
                // As kube-apiserver names it: without the index.
                let path = format!("metadata.ownerReferences.{field}");
                causes.push(Cause::invalid(&path, "", message));
            }
        }
        if text("apiVersion") == "v1" && text("kind") == "Event" {
            let message = "v1, Kind=Event is disallowed from being an owner";
            causes.push(Cause::invalid("metadata.ownerReferences", owner.clone(), message));
        }
        if owner.get("controller") == Some(&Value::Bool(true)) {
            controllers.push(text("name").to_owned());
        }
    }
    if let [first, second, ..] = controllers.as_slice() {
        let message = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {second}"
        );
        causes.push(Cause::invalid("metadata.ownerReferences", owners.to_vec(), &message));
    }
}

/// What may not be changed and was.
pub(super) fn update_faults(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if old.contains_key("deletionTimestamp") {
        let before = finalizers(old);
        let added: Vec<_> =
            finalizers(new).into_iter().filter(|finalizer| !before.contains(finalizer)).collect();
        if !added.is_empty() {
            let added: Vec<_> = added.iter().map(|finalizer| format!("{finalizer:?}")).collect();
            let message = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                added.join(", ")
            );
            causes.push(Cause::forbidden("metadata.finalizers", &message));
        }
    }
    let fields =
        ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"];
    for field in fields {
        if old.get(field) != new.get(field) {
            let value = new.get(field).cloned().unwrap_or_default();
            causes.push(Cause::invalid(&format!("metadata.{field}"), value, "field is immutable"));
        }
    }
    causes
}

/// What a writer should know about it.
pub(super) fn warnings(metadata: &Map<String, Value>) -> Vec<String> {
    let plain = finalizers(metadata)
        .into_iter()
        .filter(|finalizer| !finalizer.contains('/') && ![ORPHAN, FOREGROUND].contains(finalizer));
    let warning = |finalizer: &str| {
        format!(
            "metadata.finalizers: {finalizer:?}: prefer a domain-qualified finalizer name to avoid accidental conflicts \
             with other finalizer writers"
        )
    };
    plain.map(warning).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            other => panic!("{other}"),
        }
    }

    fn said(value: Value) -> Vec<String> {
        faults(&map(value)).iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect()
    }

    #[test]
    fn unknown_fields_go_and_wrong_types_are_named() {
        let mut unknown = Vec::new();
        let mut metadata =
            json!({"name": "a", "foo": 1, "ownerReferences": [{"uid": "u", "bar": 1}], "labels": null});
        prune(&mut metadata, &mut unknown).unwrap();
        assert_eq!(metadata, json!({"name": "a", "ownerReferences": [{"uid": "u"}], "labels": null}));
        assert_eq!(unknown, ["metadata.foo", "metadata.ownerReferences[0].bar"]);
        for (mut wrong, message) in [
            (
                json!({"labels": {"a": 5}}),
                "json: cannot unmarshal number into field metadata.labels of type string",
            ),
            (
                json!({"labels": []}),
                "json: cannot unmarshal array into field metadata.labels of type map[string]string",
            ),
            (json!({"name": 5}), "json: cannot unmarshal number into field metadata.name of type string"),
            (
                json!({"finalizers": [1]}),
                "json: cannot unmarshal number into field metadata.finalizers of type string",
            ),
            (
                json!({"ownerReferences": [{"controller": "x"}]}),
                "json: cannot unmarshal string into field metadata.ownerReferences[0].controller of type bool",
            ),
            (json!("x"), "json: cannot unmarshal string into field metadata of type ObjectMeta"),
        ] {
            assert_eq!(prune(&mut wrong, &mut unknown), Err(message.to_owned()));
        }
    }

    #[test]
    fn what_says_nothing_is_dropped() {
        let mut metadata = map(json!({
            "name": "a", "labels": {}, "annotations": null, "finalizers": [], "managedFields": [], "uid": "",
            "selfLink": "x", "generation": 1,
        }));
        tidy(&mut metadata);
        assert_eq!(Value::from(metadata), json!({"name": "a", "managedFields": [], "generation": 1}));
    }

    #[test]
    fn each_fault_says_where_and_what() {
        assert_eq!(said(json!({})), ["metadata.name: Required value: name or generateName is required"]);
        assert_eq!(
            said(json!({"name": "a", "labels": {"a/b": "c"}, "annotations": {"A/b": "any thing"},
                               "finalizers": ["x.io/a"]})),
            [""; 0]
        );
        let long = "x".repeat(ANNOTATION_BYTES);
        assert_eq!(
            said(json!({"name": "a", "annotations": {"a": long}})),
            ["metadata.annotations: Too long: may not be more than 262144 bytes"]
        );
        let both = said(json!({"name": "a", "finalizers": ["orphan", "foregroundDeletion"]}));
        assert_eq!(
            both,
            [
                "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan and \
                           foregroundDeletion cannot be both set"
            ]
        );
        let owners = said(json!({"name": "a", "ownerReferences": [
            {"apiVersion": "v1", "kind": "K", "name": "x", "uid": "1", "controller": true},
            {"apiVersion": "v1", "kind": "K", "name": "y", "controller": true},
        ]}));
        assert_eq!(owners.len(), 2);
        assert_eq!(owners[0], "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty");
        assert!(owners[1].ends_with("Found \"true\" in references for x and y"));
    }

    #[test]
    fn what_is_fixed_cannot_be_changed() {
        let old =
            map(json!({"name": "a", "uid": "u", "deletionTimestamp": "t", "finalizers": ["x/a", "x/b"]}));
        let less = map(json!({"name": "a", "uid": "u", "deletionTimestamp": "t", "finalizers": ["x/b"]}));
        assert_eq!(update_faults(&old, &less), []);
        let more =
            map(json!({"name": "a", "uid": "v", "deletionTimestamp": "t", "finalizers": ["x/b", "x/c"]}));
        let said: Vec<_> = update_faults(&old, &more).iter().map(|cause| cause.message.clone()).collect();
        assert_eq!(
            said,
            [
                "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"x/c\"}",
                "Invalid value: \"v\": field is immutable",
            ]
        );
    }

    #[test]
    fn a_plain_finalizer_is_worth_a_warning() {
        assert_eq!(warnings(&map(json!({"finalizers": ["x", "a.b/c", "orphan"]}))).len(), 1);
    }
}
