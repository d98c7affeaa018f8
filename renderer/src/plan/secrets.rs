//! ExternalSecrets: the only way a secret value reaches a cluster.

use serde_json::{Map, Value, json};

use super::layer::metadata;
use crate::conventions::ResolvedManagement;

/// One key of a Secret and where its value is kept.
pub(crate) struct Remote<'text> {
    pub(crate) key: &'text str,
    pub(crate) store_key: String,
    pub(crate) property: &'text str,
}

/// An ExternalSecret that makes a Secret of the same name.
pub(crate) fn external_secret(
    name: &str,
    namespace: &str,
    management: &ResolvedManagement,
    remotes: &[Remote<'_>],
) -> Value {
    let data: Vec<Value> = remotes
        .iter()
        .map(|remote| {
            json!({
                "secretKey": remote.key,
                "remoteRef": { "key": remote.store_key, "property": remote.property },
            })
        })
        .collect();
    json!({
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": metadata(name, Some(namespace)),
        "spec": {
            "refreshInterval": "1h",
            "secretStoreRef": super::store_of(management),
            "target": { "name": name, "creationPolicy": "Owner" },
            "data": data,
        },
    })
}

/// Gives the Secret a type, labels, and keys composed from what was fetched.
pub(crate) fn with_template(mut secret: Value, labels: &Value, data: &[(&str, &str)]) -> Value {
    let data: Map<String, Value> = data.iter().map(|(key, text)| ((*key).to_owned(), json!(text))).collect();
    if let Some(target) = secret.pointer_mut("/spec/target").and_then(Value::as_object_mut) {
        let template = json!({
            "engineVersion": "v2",
            "type": "Opaque",
            "metadata": { "labels": labels },
            "data": data,
        });
        target.insert("template".to_owned(), template);
    }
    secret
}
