//! The Gateway of a control plane, when it is ours to make: one listener per published service.

use serde_json::{Map, Value, json};

use super::control_plane::{self, layer_name};
use super::layer::{Health, Layer, kept};
use crate::conventions::{ResolvedControlPlane, ResolvedManagement};

/// The layer, when a class was declared.
pub(super) fn layer(plane: &ResolvedControlPlane, management: &ResolvedManagement) -> Option<Layer> {
    let class = plane.gateway.class.as_deref()?;
    let gateway = gateway(plane, class);
    Some(
        control_plane::layer(plane, management, "gateway")
            .after([layer_name(&plane.name, "namespace")])
            .with("object.yaml", "gateway", Health::Condition("Programmed"), gateway),
    )
}

fn gateway(control_plane: &ResolvedControlPlane, class: &str) -> Value {
    let name = control_plane.gateway.name.as_str();
    let listeners: Vec<Value> = control_plane
        .published_hosts()
        .into_iter()
        .map(|(service, host)| {
            let listener = kebab(service);
            json!({
                "name": listener,
                "protocol": "HTTPS",
                "port": 443,
                "hostname": host,
                "tls": { "mode": "Terminate", "certificateRefs": [{ "name": format!("{name}-{listener}-tls") }] },
                "allowedRoutes": { "namespaces": { "from": "Same" } },
            })
        })
        .collect();
    let mut metadata = kept(name, Some(&control_plane.namespace));
    let annotations = metadata.get_mut("annotations").and_then(Value::as_object_mut);
    if let (Some(annotations), Some(issuer)) = (annotations, &control_plane.gateway.issuer) {
        annotations.insert("cert-manager.io/cluster-issuer".to_owned(), json!(issuer));
    }
    let mut spec = Map::new();
    spec.insert("gatewayClassName".to_owned(), json!(class));
    spec.insert("listeners".to_owned(), Value::Array(listeners));
    json!({ "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": metadata, "spec": spec })
}

/// `novaMetadata` as `nova-metadata`.
fn kebab(name: &str) -> String {
    let mut text = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            text.push('-');
        }
        text.push(character.to_ascii_lowercase());
    }
    text
}
