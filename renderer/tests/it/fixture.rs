//! The sample topology, edited.

use c5c3_renderer::{
    FIRST_LIGHT, Findings, Loaded, Plan, Rendered, Source, Templates, load, plan, render, validate,
};
use serde_json::{Value, json};

/// The sample as JSON, which is YAML too.
pub(crate) fn sample() -> Value {
    serde_saphyr::from_str(FIRST_LIGHT).unwrap()
}

/// Sets a field by JSON pointer and makes what is missing above it; `null` removes the field.
pub(crate) fn set(document: &mut Value, pointer: &str, value: Value) {
    let mut parts = pointer.trim_start_matches('/').split('/').peekable();
    let mut node = document;
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        if let Ok(index) = part.parse::<usize>() {
            if node.is_null() {
                *node = json!([]);
            }
            let items = node.as_array_mut().unwrap();
            if items.len() == index {
                items.push(Value::Null);
            }
            if last && value.is_null() {
                items.remove(index);
                return;
            }
            node = &mut items[index];
        } else {
            if node.is_null() {
                *node = json!({});
            }
            let fields = node.as_object_mut().unwrap();
            if last && value.is_null() {
                fields.remove(part);
                return;
            }
            node = fields.entry(part.to_owned()).or_insert(Value::Null);
        }
    }
    *node = value;
}

/// The sample with some fields set.
pub(crate) fn edited(edits: &[(&str, Value)]) -> Value {
    let mut document = sample();
    for (pointer, value) in edits {
        set(&mut document, pointer, value.clone());
    }
    document
}

/// A second control plane that goes well with the sample.
pub(crate) fn second_control_plane() -> Value {
    json!({
        "name": "cp-b", "release": "2025.2", "domain": "b.example.org",
        "ovn": { "northbound": { "nodePortBase": 30741 }, "southbound": { "nodePortBase": 30751 } },
        "compute": [{ "name": "compute-b1", "pools": [{ "name": "pool1" }] }],
        "network": [{
            "name": "network-b1",
            "chassis": { "bridgeMappings": [{ "physicalNetwork": "physnet1", "bridge": "br-ex" }] },
        }],
    })
}

pub(crate) fn load_value(document: &Value) -> Result<Loaded, Findings> {
    load(&[Source::new("topology.yaml", format!("{document:#}"))])
}

/// Loaded and validated; findings of either.
pub(crate) fn findings(document: &Value) -> Vec<c5c3_renderer::Finding> {
    match load_value(document).and_then(|loaded| validate(&loaded).map(|_| ())) {
        Ok(()) => Vec::new(),
        Err(findings) => findings.0,
    }
}

pub(crate) fn planned(document: &Value) -> Plan {
    let loaded = load_value(document).unwrap_or_else(|findings| panic!("{findings}"));
    plan(&validate(&loaded).unwrap_or_else(|findings| panic!("{findings}")))
}

pub(crate) fn rendered(document: &Value) -> Rendered {
    render(&planned(document), &Templates::built_in().unwrap()).unwrap()
}
