//! The Flux Kustomization of each layer.

use serde_json::{Value, json};

use super::layer::{Deletion, Health, Layer, Planned, metadata};
use crate::conventions::ResolvedManagement;

/// The object that makes Flux apply a layer and wait for it.
pub(super) fn kustomization(layer: &Layer, management: &ResolvedManagement) -> Planned {
    let timeout = if layer.slow { &management.long_timeout } else { &management.timeout };
    let mut spec = json!({
        "interval": management.interval,
        "retryInterval": management.retry_interval,
        "timeout": timeout,
        "path": layer.external.as_ref().map_or_else(|| format!("./{}", layer.path), |external| external.path.clone()),
        "prune": true,
        "sourceRef": layer.external.as_ref().map_or_else(
            || json!({ "kind": management.source_kind, "name": management.source_name }),
            |external| json!({ "kind": "GitRepository", "name": external.source }),
        ),
    });
    let mut set = |name: &str, value: Value| {
        if let Some(fields) = spec.as_object_mut() {
            fields.insert(name.to_owned(), value);
        }
    };
    if !layer.depends_on.is_empty() {
        let names: Vec<Value> = layer.depends_on.iter().map(|name| json!({ "name": name })).collect();
        set("dependsOn", Value::Array(names));
    }
    if let Some(secret) = &layer.kubeconfig_secret {
        set("kubeConfig", json!({ "secretRef": { "name": secret, "key": "value" } }));
    }
    match layer.deletion {
        Deletion::Orphan => set("deletionPolicy", json!("Orphan")),
        Deletion::Wait => set("deletionPolicy", json!("WaitForTermination")),
        Deletion::Delete => {}
    }
    // What others render has no list of objects here: Flux waits for all of it.
    if layer.external.is_some() {
        set("wait", json!(true));
    }
    let checks = health_checks(layer);
    if !checks.is_empty() {
        set("healthChecks", Value::Array(checks));
    }
    let expressions = health_expressions(layer);
    if !expressions.is_empty() {
        set("healthCheckExprs", Value::Array(expressions));
    }
    Planned {
        template: "flux-kustomization.yaml",
        path: format!("clusters/{}/flux/{}.yaml", management.name, layer.name),
        cluster: management.name.clone(),
        owner: layer.owner.clone(),
        object: json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": metadata(&layer.name, Some(&management.flux_namespace)),
            "spec": spec,
        }),
    }
}

fn health_checks(layer: &Layer) -> Vec<Value> {
    layer
        .objects
        .iter()
        .zip(&layer.health)
        .filter(|(_, health)| **health != Health::Unchecked)
        .map(|(planned, _)| {
            let field = |pointer: &str| planned.object.pointer(pointer).cloned().unwrap_or_default();
            let mut check = json!({
                "apiVersion": field("/apiVersion"),
                "kind": field("/kind"),
                "name": field("/metadata/name"),
            });
            if let (Some(fields), Some(namespace)) =
                (check.as_object_mut(), planned.object.pointer("/metadata/namespace"))
            {
                fields.insert("namespace".to_owned(), namespace.clone());
            }
            check
        })
        .collect()
}

/// Flux takes an object without any status for ready. These expressions do not: until the condition is there they are not true.
fn health_expressions(layer: &Layer) -> Vec<Value> {
    let mut expressions: Vec<Value> = Vec::new();
    for (planned, health) in layer.objects.iter().zip(&layer.health) {
        let current = match health {
            Health::Condition(condition) => format!(
                "has(status.conditions) && status.conditions.exists(c, c.type == '{condition}' && c.status == 'True')"
            ),
            Health::Phase(phase) => format!("has(status.phase) && status.phase == '{phase}'"),
            Health::Status | Health::Unchecked => continue,
        };
        let field = |pointer: &str| planned.object.pointer(pointer).cloned().unwrap_or_default();
        let expression =
            json!({ "apiVersion": field("/apiVersion"), "kind": field("/kind"), "current": current });
        if !expressions.contains(&expression) {
            expressions.push(expression);
        }
    }
    expressions
}
