//! An answer reduced to what must be the same on both sides, and the comparison.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::side::Happened;

/// What is compared.
pub(super) const ASPECTS: [&str; 8] =
    ["code", "reason", "message", "causes", "warnings", "object", "stored", "version"];

/// The aspects of one answer.
pub(super) type Aspects = BTreeMap<&'static str, Value>;

/// What happened on a side, without what is that side's own: group, times, uids, versions, names that it made up.
pub(super) fn aspects(
    happened: &Happened,
    names: &[(String, &'static str)],
    defaulted: &BTreeSet<String>,
) -> Aspects {
    let answer = &happened.answer;
    let known = Known::of(happened, names, defaulted);
    let body = known.neutral(&answer.body);
    let is_status = body["kind"] == "Status";
    let mut causes: Vec<Value> = body["details"]["causes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|cause| json!([cause["reason"], cause["field"]]))
        .collect();
    causes.sort_by_key(Value::to_string);
    // Of faults in metadata kube-apiserver tells some twice; and with a fault of the schema it tells that there are rules it has not looked at.
    causes.dedup();
    causes.retain(|cause| *cause != json!(["FieldValueInvalid", "<nil>"]));
    let version = |object: &Option<Value>| object.as_ref().map(|o| o["metadata"]["resourceVersion"].clone());
    let stored = happened.after.as_ref().map(|object| known.object(object, happened.before.as_ref()));
    let object = if is_status { Value::Null } else { known.object(&answer.body, happened.before.as_ref()) };
    BTreeMap::from([
        ("code", json!(answer.code)),
        ("reason", if is_status { body["reason"].clone() } else { Value::Null }),
        (
            "message",
            if is_status { json!(without_moments(&body["message"], &happened.before)) } else { Value::Null },
        ),
        ("causes", json!(causes)),
        ("warnings", known.neutral(&json!(answer.warnings))),
        ("object", object),
        ("stored", json!(stored)),
        ("version", json!(version(&happened.before) != version(&happened.after))),
    ])
}

/// A message without times and without the version of the object, which may stand in it.
fn without_moments(message: &Value, before: &Option<Value>) -> String {
    let version = before.as_ref().and_then(|object| object["metadata"]["resourceVersion"].as_str());
    const UNCHECKED: &str = ", <nil>: Invalid value: null: some validation rules were not checked because the object was \
                             invalid; correct the existing errors to complete validation]";
    let message = message.as_str().unwrap_or_default();
    // With one fault besides, there are brackets around the two.
    let checked = message.replace(UNCHECKED, "");
    let message =
        if checked == message { checked } else { checked.replacen("is invalid: [", "is invalid: ", 1) };
    let mut words: Vec<&str> = Vec::new();
    for word in message.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && !"-:".contains(c)) {
        let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_time = bare.len() == 20 && bare.ends_with('Z') && bare.as_bytes().get(10) == Some(&b'T');
        if is_time || Some(bare) == version {
            words.extend(["<moment>", word.get(bare.len()..).unwrap_or_default()]);
        } else {
            words.push(word);
        }
    }
    words.concat()
}

/// The aspects in which two sides differ, with both values.
pub(super) fn differences(theirs: &Aspects, ours: &Aspects) -> BTreeMap<&'static str, String> {
    ASPECTS
        .iter()
        .filter(|aspect| theirs.get(*aspect) != ours.get(*aspect))
        .map(|aspect| (*aspect, format!("\n      theirs {}\n      ours   {}", theirs[aspect], ours[aspect])))
        .collect()
}

/// Values of one side that mean nothing on the other.
struct Known<'a> {
    replaced: Vec<(String, &'static str)>,
    defaulted: &'a BTreeSet<String>,
}

impl<'a> Known<'a> {
    fn of(happened: &Happened, names: &[(String, &'static str)], defaulted: &'a BTreeSet<String>) -> Self {
        let mut replaced = names.to_vec();
        let objects = [happened.before.as_ref(), happened.after.as_ref(), Some(&happened.answer.body)];
        for object in objects.into_iter().flatten() {
            let mut known = |value: &Value, as_what| {
                if let Some(text) = value.as_str().filter(|text| text.len() > 1) {
                    replaced.push((text.to_owned(), as_what));
                }
            };
            let made_up = |uid: &&Value| uid.as_str().is_some_and(|uid| !uid.starts_with("6a3a1c9e-"));
            if let Some(uid) = Some(&object["metadata"]["uid"]).filter(made_up) {
                known(uid, "<uid>");
            }
            if let Some(uid) = Some(&object["details"]["uid"]).filter(made_up) {
                known(uid, "<uid>");
            }
            if let Some(prefix) = object["metadata"]["generateName"].as_str()
                && object["metadata"]["name"].as_str().is_some_and(|name| name.len() == prefix.len() + 5)
            {
                known(&object["metadata"]["name"], "<generated>");
            }
        }
        Self { replaced, defaulted }
    }

    fn neutral(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let mut text = text.clone();
                for (own, neutral) in &self.replaced {
                    text = text.replace(own, neutral);
                }
                Value::from(text)
            }
            Value::Array(items) => items.iter().map(|item| self.neutral(item)).collect(),
            Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), self.neutral(value))).collect(),
            other => other.clone(),
        }
    }

    /// Numbers in one spelling: 2.0 is 2.
    fn plain(value: &mut Value) {
        match value {
            Value::Number(number) => {
                let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e9);
                if let Some(whole) = whole {
                    *value = json!(whole as i64);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(Self::plain),
            Value::Object(map) => map.values_mut().for_each(Self::plain),
            _ => {}
        }
    }

    /// An object without its status, with its version as "the same" or "another" or none, and times as present or moved.
    fn object(&self, object: &Value, before: Option<&Value>) -> Value {
        let mut object = self.neutral(object);
        let Some(map) = object.as_object_mut() else { return object };
        map.remove("status");
        map.values_mut().for_each(Self::plain);
        let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut) else { return object };
        // An empty token of an answer to the deletion of many.
        metadata.retain(|field, value| field != "continue" || value != "");
        let old = before.map_or(&Value::Null, |before| &before["metadata"]);
        for field in ["resourceVersion", "creationTimestamp", "deletionTimestamp"] {
            if let Some(value) = metadata.get_mut(field) {
                let same = *value == old[field];
                *value = json!(if same { "as before" } else { "new" });
            }
        }
        // Their order depends on which writes fell into one second; recordings and random histories prove it elsewhere.
        if let Some(entries) = metadata.get_mut("managedFields").and_then(Value::as_array_mut) {
            entries.sort_by_key(|entry| {
                ["operation", "manager", "apiVersion", "subresource"].map(|field| entry[field].to_string())
            });
        }
        for entry in metadata.get_mut("managedFields").and_then(Value::as_array_mut).into_iter().flatten() {
            if entry.get("time").is_some() {
                entry["time"] = json!("some time");
            }
            let updater = entry["operation"] == "Update";
            let spec = entry["fieldsV1"].get_mut("f:spec").and_then(Value::as_object_mut);
            if let Some(spec) = spec.filter(|_| updater) {
                spec.retain(|key, _| {
                    !key.strip_prefix("f:").is_some_and(|name| self.defaulted.contains(name))
                });
            }
        }
        object
    }
}
