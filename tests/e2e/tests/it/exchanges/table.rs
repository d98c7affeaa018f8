//! The table: what is sent, and in what our answer may differ.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The exchanges about one kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub(super) kind: String,
    /// Why something may differ, by the word that the exchanges use.
    pub(super) reasons: BTreeMap<String, String>,
    /// Fields of spec that a custom resource's creator owns without having sent them, because they have defaults, and ours does not.
    #[serde(default)]
    pub(super) defaulted: BTreeSet<String>,
    pub(super) exchanges: Vec<Exchange>,
}

/// One request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exchange {
    pub(super) id: String,
    /// Method, and what follows the path of the collection.
    send: String,
    #[serde(rename = "type")]
    media_type: Option<String>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    body: Option<Value>,
    text: Option<String>,
    edit: Option<Value>,
    #[serde(default)]
    pad: usize,
    #[serde(default)]
    whole: bool,
    /// Aspects that are not settled when one looks, as somebody else is at work there: a garbage collector.
    #[serde(default)]
    pub(super) unsettled: BTreeSet<String>,
    #[serde(default)]
    pub(super) differs: BTreeMap<String, String>,
}

/// What the names in bodies stand for on one side.
#[derive(Debug)]
pub(super) struct Meaning<'a> {
    pub(super) api_version: &'a str,
    pub(super) kind: &'a str,
    /// The object as it is stored there.
    pub(super) stored: Option<&'a Value>,
}

impl Table {
    pub(super) fn read(text: &str) -> Result<Self> {
        let table: Self = serde_saphyr::from_str(text)?;
        let mut ids = BTreeSet::new();
        for exchange in &table.exchanges {
            ensure!(ids.insert(&exchange.id), "{} is there twice", exchange.id);
            for (aspect, reason) in &exchange.differs {
                let known = super::observed::ASPECTS.contains(&aspect.as_str());
                ensure!(known, "{}: {aspect} is no aspect", exchange.id);
                ensure!(table.reasons.contains_key(reason), "{}: {reason} is no reason", exchange.id);
            }
        }
        Ok(table)
    }
}

impl Exchange {
    pub(super) fn method(&self) -> &str {
        self.send.split(' ').next().unwrap_or_default()
    }

    /// What follows the path of the collection, with the query.
    pub(super) fn target(&self) -> &str {
        self.send.split_once(' ').map_or("", |(_, target)| target)
    }

    /// The object it is about, if it names one.
    pub(super) fn name(&self) -> Option<&str> {
        let path = self.target().split('?').next().unwrap_or_default();
        match path.trim_start_matches('/').split('/').next() {
            Some(name) if !name.is_empty() => Some(name),
            _ => self.body.as_ref()?["metadata"]["name"].as_str(),
        }
    }

    pub(super) fn media_type(&self) -> Option<&str> {
        let has_body = self.body.is_some() || self.text.is_some() || self.edit.is_some();
        self.media_type.as_deref().or(has_body.then_some("application/json"))
    }

    /// What is sent, on the side of this meaning.
    pub(super) fn payload(&self, meaning: &Meaning<'_>) -> Result<Vec<u8>> {
        if let Some(text) = &self.text {
            return Ok(meaning.filled(text)?.into_bytes());
        }
        if let Some(edit) = &self.edit {
            let mut object = meaning.stored.cloned().context("nothing is stored to be edited")?;
            merge(&mut object, edit);
            return Ok(object.to_string().into_bytes());
        }
        let Some(body) = &self.body else { return Ok(Vec::new()) };
        let mut body = body.clone();
        if !self.whole {
            body["apiVersion"] = json!(meaning.api_version);
            body["kind"] = json!(meaning.kind);
        }
        if self.pad > 0 {
            body["metadata"]["annotations"] = json!({"pad": "x".repeat(self.pad)});
        }
        Ok(meaning.filled(&body.to_string())?.into_bytes())
    }
}

impl Meaning<'_> {
    fn filled(&self, text: &str) -> Result<String> {
        let of = |field: &str| {
            let value = self.stored.and_then(|object| object["metadata"][field].as_str());
            value.with_context(|| format!("nothing is stored that has a {field}"))
        };
        let mut text = text.replace("$apiVersion", self.api_version);
        for (name, field) in [("$uid", "uid"), ("$version", "resourceVersion")] {
            if text.contains(name) {
                text = text.replace(name, of(field)?);
            }
        }
        Ok(text)
    }
}

/// Merge patch, RFC 7386.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        target.clone_from(patch);
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    for (key, value) in patch {
        if value.is_null() {
            if let Some(map) = target.as_object_mut() {
                map.remove(key);
            }
        } else {
            merge(&mut target[key], value);
        }
    }
}
