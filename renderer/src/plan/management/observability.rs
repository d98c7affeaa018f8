//! What the Operation and Monitoring cluster is told: Flux's failures as alerts, its figures as metrics.

use serde_json::{Value, json};

use crate::conventions::{ResolvedManagement, ResolvedObservability};
use crate::plan::{Health, Layer, metadata};

pub(super) fn layer(management: &ResolvedManagement) -> Option<Layer> {
    let observability = management.observability.as_ref()?;
    let after = management.platform.is_some().then(|| "platform-infrastructure".to_owned());
    let mut layer = super::layer(management, "observability", "spec.management.observability")
        .after(after)
        .with("object.yaml", "flux-monitor", Health::Unchecked, monitor(management, observability))
        .with("object.yaml", "flux-rules", Health::Unchecked, rules(management, observability));
    if let Some(address) = &observability.alertmanager {
        layer = layer
            .with("object.yaml", "alert-provider", Health::Unchecked, provider(management, address))
            .with("object.yaml", "alert", Health::Unchecked, alert(management));
    }
    Some(layer)
}

fn marked(name: &str, management: &ResolvedManagement, observability: &ResolvedObservability) -> Value {
    json!({ "name": name, "namespace": management.flux_namespace, "labels": observability.labels })
}

fn monitor(management: &ResolvedManagement, observability: &ResolvedObservability) -> Value {
    json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": marked("flux-controllers", management, observability),
        "spec": {
            "namespaceSelector": { "matchNames": [management.flux_namespace] },
            "selector": { "matchExpressions": [{
                "key": "app",
                "operator": "In",
                "values": ["source-controller", "kustomize-controller", "helm-controller", "notification-controller"],
            }] },
            "podMetricsEndpoints": [{ "port": "http-prom" }],
        },
    })
}

fn rules(management: &ResolvedManagement, observability: &ResolvedObservability) -> Value {
    let expression = format!(
        "gotk_resource_info{{exported_namespace=\"{}\",ready=\"False\",suspended!=\"true\"}} == 1",
        management.flux_namespace
    );
    json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": marked("topology", management, observability),
        "spec": { "groups": [{ "name": "topology", "rules": [{
            "alert": "TopologyStepNotReady",
            "expr": expression,
            "for": format!("{}m", observability.minutes),
            "labels": { "severity": "warning" },
            "annotations": { "summary": "{{ $labels.customresource_kind }} {{ $labels.name }} is not ready; what waits for it is not applied." },
        }] }] },
    })
}

fn provider(management: &ResolvedManagement, address: &str) -> Value {
    json!({
        "apiVersion": "notification.toolkit.fluxcd.io/v1beta3",
        "kind": "Provider",
        "metadata": metadata("alertmanager", Some(&management.flux_namespace)),
        "spec": { "type": "alertmanager", "address": address },
    })
}

fn alert(management: &ResolvedManagement) -> Value {
    json!({
        "apiVersion": "notification.toolkit.fluxcd.io/v1beta3",
        "kind": "Alert",
        "metadata": metadata("topology", Some(&management.flux_namespace)),
        "spec": {
            "providerRef": { "name": "alertmanager" },
            "eventSeverity": "error",
            "eventSources": [{ "kind": "Kustomization", "name": "*" }, { "kind": "HelmRelease", "name": "*" }],
        },
    })
}
