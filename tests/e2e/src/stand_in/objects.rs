//! What is done to one object.

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use crate::kubectl::Kubectl;

/// The conditions that a controller sets when all is well.
fn conditions_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "OVNChassis" => &["CentralReady", "Ready"],
        "Gateway" => &["Accepted", "Programmed"],
        _ => &["Ready"],
    }
}

/// Whether the status says so for this generation.
pub(super) fn is_ready(object: &Value) -> bool {
    let ready = |wanted: &&str| {
        let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
        conditions
            .into_iter()
            .flatten()
            .any(|condition| condition["type"] == **wanted && condition["status"] == "True")
    };
    let kind = object["kind"].as_str().unwrap_or_default();
    if kind.starts_with("Ceph") {
        return object.pointer("/status/phase").is_some_and(|phase| phase == "Ready");
    }
    if kind == "DaemonSet" {
        return object.pointer("/status/observedGeneration") == object.pointer("/metadata/generation");
    }
    let seen = object.pointer("/status/observedGeneration");
    // External Secrets and issuers have no such field.
    let current = !has_observed_generation(kind) || seen == object.pointer("/metadata/generation");
    current && conditions_of(kind).iter().all(ready)
}

fn has_observed_generation(kind: &str) -> bool {
    !matches!(
        kind,
        "ExternalSecret"
            | "PushSecret"
            | "SecretStore"
            | "ClusterSecretStore"
            | "Certificate"
            | "Issuer"
            | "ClusterIssuer"
            | "Gateway"
    )
}

/// Sets the status that its controller would set.
pub(super) fn make_ready(kubectl: &Kubectl, object: &Value) -> Result<()> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let kind = text("/kind");
    let generation = object.pointer("/metadata/generation").cloned().unwrap_or_default();
    let conditions: Vec<Value> = conditions_of(kind)
        .iter()
        .map(|name| {
            json!({
                "type": name, "status": "True", "reason": "StoodIn", "message": "set by the test that stands in for the controller",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            })
        })
        .collect();
    let mut status = Map::from_iter([("conditions".to_owned(), json!(conditions))]);
    if kind.starts_with("Ceph") {
        // Rook says it in one word.
        status = Map::from_iter([("phase".to_owned(), json!("Ready"))]);
    } else if kind == "DaemonSet" {
        // No node carries the labels: nothing is wanted, and nothing is missing.
        let counts = [
            "desiredNumberScheduled",
            "currentNumberScheduled",
            "numberReady",
            "numberMisscheduled",
            "updatedNumberScheduled",
            "numberAvailable",
        ];
        status = counts.iter().map(|name| ((*name).to_owned(), json!(0))).collect();
        status.insert("observedGeneration".to_owned(), generation);
    } else if has_observed_generation(kind) {
        status.insert("observedGeneration".to_owned(), generation);
    }
    let group = text("/apiVersion").split('/').next().unwrap_or_default();
    let resource = format!("{}.{group}/{}", plural(kind), text("/metadata/name"));
    let patch = json!({ "status": status }).to_string();
    let mut arguments = vec!["patch", &resource, "--subresource=status", "--type=merge", "-p", &patch];
    let namespace = format!("--namespace={}", text("/metadata/namespace"));
    if !text("/metadata/namespace").is_empty() {
        arguments.push(&namespace);
    }
    kubectl.print(&arguments).map(drop)
}

fn plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    if lower.ends_with('s') { lower } else { format!("{lower}s") }
}

/// Makes the Secret of an ExternalSecret: every key that would be fetched, and those composed from them. A key called `kubeconfig` or the
/// only key `value` of Flux's own holds a kubeconfig that works, everything else text that does not matter.
pub(super) fn make_secret(kubectl: &Kubectl, object: &Value, kubeconfig: &str) -> Result<()> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let namespace = text("/metadata/namespace").context("an ExternalSecret without namespace")?;
    let name = text("/spec/target/name").context("an ExternalSecret without target")?;
    let mut data = Map::new();
    for entry in object.pointer("/spec/data").and_then(Value::as_array).into_iter().flatten() {
        let key = entry["secretKey"].as_str().unwrap_or_default();
        let property = entry.pointer("/remoteRef/property").and_then(Value::as_str).unwrap_or_default();
        let value = if property == "kubeconfig" { kubeconfig } else { "not a secret" };
        data.insert(key.to_owned(), json!(value));
    }
    for (key, template) in
        object.pointer("/spec/target/template/data").and_then(Value::as_object).into_iter().flatten()
    {
        let template = template.as_str().unwrap_or_default();
        if !template.contains("{{") {
            data.insert(key.clone(), json!(template));
        }
    }
    let labels =
        object.pointer("/spec/target/template/metadata/labels").cloned().unwrap_or_else(|| json!({}));
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": { "name": name, "namespace": namespace, "labels": labels },
        "stringData": data,
    });
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), secret.to_string())?;
    let path = file.path().to_str().context("a path that is not UTF-8")?;
    kubectl.print(&["apply", "--server-side", "--force-conflicts", "--filename", path]).map(drop)
}
