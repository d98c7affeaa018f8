//! What a field means and what stands there when nothing does.

use serde_json::{Map, Value};

use super::reference::{Field, field, fields_of};
use crate::load::{Loaded, topology_schema};
use crate::rules::catalog;

/// Explains a rule or a field path.
pub(super) fn explain(subject: &str) -> Result<String, String> {
    if let Some(rule) = catalog().iter().find(|rule| rule.id == subject) {
        return Ok(format!("{}\n  {}\n  Why: {}\n  Mend: {}\n", rule.id, rule.summary, rule.why, rule.mend));
    }
    let schema = topology_schema();
    let mut current = schema.as_object().cloned().unwrap_or_default();
    let mut found: Option<Field> = None;
    for part in subject.split('.').map(|part| part.split('[').next().unwrap_or_default()) {
        let child = properties(&current).get(part).cloned();
        let Some(child) = child else {
            let known = fields_of(&current).into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
            return Err(format!(
                "there is neither a rule nor a field {subject:?}; known below the last part: {known}"
            ));
        };
        found = Some(field(&current, part, &child));
        current = super::reference::inner(&child).cloned().unwrap_or_default();
    }
    let Some(found) = found else {
        return Err("name a field or a rule".to_owned());
    };
    let mut text = format!("{subject} ({}{})\n", found.kind, if found.required { ", required" } else { "" });
    text.push_str(&format!("  {}\n", found.description));
    for (name, child) in fields_of(&current) {
        let child = field(&current, &name, &child);
        text.push_str(&format!(
            "\n  {name} ({}{})\n",
            child.kind,
            if child.required { ", required" } else { "" }
        ));
        text.push_str(&format!("    {}\n", child.description));
    }
    Ok(text)
}

/// What a topology says about the field, and where; or that a convention speaks instead.
pub(super) fn origin(subject: &str, loaded: &Loaded) -> String {
    let declared = serde_json::to_value(&loaded.topology).unwrap_or(Value::Null);
    let pointer = format!("/{}", subject.replace(['.', '['], "/").replace(']', ""));
    match declared.pointer(&pointer) {
        Some(value) => {
            let place = loaded
                .position(subject)
                .map_or_else(String::new, |position| format!(", written at {position}"));
            format!("\n  here: {value}{place}\n")
        }
        None => {
            let place =
                loaded.position(subject).map_or_else(String::new, |position| format!(" below {position}"));
            format!("\n  here: not written{place}; the default above applies\n")
        }
    }
}

fn properties(schema: &Map<String, Value>) -> Map<String, Value> {
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}
