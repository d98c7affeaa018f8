//! As much of an API server as stands around an apply or an update: patches, defaults, what a client may not set, whether there is anything to store.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use server_side_apply::{ApplyError, Manager, Schema, apply, keep_times, manager_name_of_agent, update};

use super::exchange::Exchange;

static HOST: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../data/schema.json")).unwrap());

pub(super) struct Server {
    json_schema: Value,
    schema: Schema,
}

#[derive(Debug)]
pub(super) enum Answer {
    Stored { object: Value, changed: bool, spec_changed: bool },
    Refused { message: String, causes: Vec<(String, String)> },
}

impl Server {
    pub(super) fn for_topic(topic: &str) -> Self {
        if topic == "builtin" {
            let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
            let json_schema =
                json!({"type": "object", "properties": {"data": texts, "immutable": {"type": "boolean"}}});
            let schema = Schema::new(&json_schema).unwrap().with_empty_list_reset(true);
            return Self { json_schema, schema };
        }
        let schema = Schema::new(&HOST)
            .unwrap()
            .with_kind("Host")
            .with_api_versions(["ssa.example.com/v1", "ssa.example.com/v1beta1"])
            .with_reset("", &[&["status"]])
            .with_reset("status", &[&["metadata"], &["spec"]]);
        Self { json_schema: HOST.clone(), schema }
    }

    pub(super) fn answer(&self, exchange: &Exchange) -> Answer {
        let manager = manager(exchange);
        let now = exchange.now.parse().unwrap();
        // A server converts what is stored to the version of the request.
        let live = exchange.before.clone().map(|mut live| {
            live["apiVersion"] = json!(manager.api_version);
            live
        });
        let mut object = if exchange.is_apply() {
            let force = exchange.parameter("force").is_some_and(|force| force == "true");
            match apply(&self.schema, live.as_ref(), &exchange.body, &manager, force, now) {
                Ok(applied) => applied.object,
                Err(error) => return refused(&error),
            }
        } else {
            let mut new = patched(exchange, live.as_ref());
            default(&self.json_schema, &mut new);
            update(&self.schema, live.as_ref(), &new, &manager, now)
        };
        default(&self.json_schema, &mut object);
        settle(&mut object, live.as_ref(), exchange, &manager);
        let empty = Value::Null;
        let live = live.unwrap_or(empty);
        keep_times(&live, &mut object);
        let changed = object != live;
        let spec_changed =
            object["spec"] != live["spec"] || (exchange.before.is_none() && exchange.topic() != "builtin");
        dress(&mut object, &live, exchange, changed, spec_changed);
        Answer::Stored { object, changed, spec_changed }
    }
}

fn refused(error: &ApplyError) -> Answer {
    let mut causes: Vec<(String, String)> = match error {
        ApplyError::Conflicts(conflicts) => {
            conflicts.causes().into_iter().map(|cause| (cause.message, cause.field)).collect()
        }
        _ => Vec::new(),
    };
    causes.sort();
    Answer::Refused { message: error.to_string(), causes }
}

fn manager(exchange: &Exchange) -> Manager {
    let agent = || manager_name_of_agent(exchange.agent.as_deref().unwrap_or("recorder/1.0"));
    let name =
        exchange.parameter("fieldManager").filter(|name| !name.is_empty()).map_or_else(agent, str::to_owned);
    let subresource = if exchange.path.ends_with("/status") { "status" } else { "" };
    let parts: Vec<&str> = exchange.path.split('/').collect();
    let api_version =
        if parts[1] == "api" { parts[2].to_owned() } else { format!("{}/{}", parts[2], parts[3]) };
    Manager { name, subresource: subresource.into(), api_version }
}

/// The object that a request that is no apply asks for.
fn patched(exchange: &Exchange, live: Option<&Value>) -> Value {
    match exchange.content_type.as_str() {
        "application/merge-patch+json" => {
            let mut new = live.unwrap().clone();
            json_patch::merge(&mut new, &exchange.body);
            new
        }
        "application/json-patch+json" => {
            let mut new = live.unwrap().clone();
            for operation in exchange.body.as_array().unwrap() {
                let mut operation = operation.clone();
                // kube-apiserver lets a member be replaced that does not exist.
                if operation["op"] == "replace" && new.pointer(operation["path"].as_str().unwrap()).is_none()
                {
                    operation["op"] = json!("add");
                }
                let patch: json_patch::Patch = serde_json::from_value(json!([operation])).unwrap();
                json_patch::patch(&mut new, &patch).unwrap();
            }
            new
        }
        _ => exchange.body.clone(),
    }
}

/// Fills in the defaults of a schema.
fn default(schema: &Value, value: &mut Value) {
    let empty = Map::new();
    match value {
        Value::Object(map) => {
            let properties = schema["properties"].as_object().unwrap_or(&empty);
            for (key, property) in properties {
                let Some(default) = property.get("default") else { continue };
                let unset = map.get(key).is_none_or(|value| value.is_null() && property["nullable"] != true);
                if unset {
                    map.insert(key.clone(), default.clone());
                }
            }
            for (key, value) in map {
                default(properties.get(key).unwrap_or(&schema["additionalProperties"]), value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| default(&schema["items"], item)),
        _ => {}
    }
}

/// Puts back what a client cannot set through this endpoint.
fn settle(object: &mut Value, live: Option<&Value>, exchange: &Exchange, manager: &Manager) {
    let empty = json!({});
    let old = live.unwrap_or(&empty);
    if manager.subresource == "status" {
        let managed_fields = object["metadata"].get("managedFields").cloned();
        object["metadata"] = old["metadata"].clone();
        put(&mut object["metadata"], "managedFields", managed_fields.as_ref());
        put(object, "spec", old.get("spec"));
    } else if exchange.topic() != "builtin" {
        put(object, "status", old.get("status"));
    }
    // A server knows metadata: what is empty there is not written.
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.retain(|field, value| {
        field != "selfLink" && !(field != "managedFields" && (value == &json!({}) || value == &json!([])))
    });
    for field in ["uid", "creationTimestamp", "generation", "resourceVersion", "namespace"] {
        put(&mut object["metadata"], field, old["metadata"].get(field));
    }
}

/// What the server itself writes, taken from the recording.
fn dress(object: &mut Value, live: &Value, exchange: &Exchange, changed: bool, spec_changed: bool) {
    let Some(super::Expectation::Stored { object: recorded, .. }) = exchange.expectation() else { return };
    object["apiVersion"] = recorded["apiVersion"].clone();
    let created = live.is_null();
    let fields: &[&str] = match (created, exchange.parameter("dryRun").is_some()) {
        (true, _) => &["uid", "creationTimestamp", "generation", "resourceVersion", "namespace", "name"],
        (false, true) => &["generation"],
        (false, false) if spec_changed => &["resourceVersion", "generation"],
        (false, false) if changed => &["resourceVersion"],
        _ => &[],
    };
    for field in fields {
        put(&mut object["metadata"], field, recorded["metadata"].get(field));
    }
}

fn put(object: &mut Value, field: &str, value: Option<&Value>) {
    let map = object.as_object_mut().unwrap();
    match value {
        Some(value) => map.insert(field.to_owned(), value.clone()),
        None => map.remove(field),
    };
}
