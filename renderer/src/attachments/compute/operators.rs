//! The operators that run on a compute cluster itself, through the Flux of that cluster.

use c5c3_api::topology::ChartRelease;
use serde_json::{Map, Value, json};

use super::Compute;
use super::base::LIBVIRT_ISSUER;
use crate::attachments::connection;
use crate::conventions::{ResolvedControlPlane, ResolvedManagement};
use crate::plan::{Health, Layer, metadata};

/// Namespace of Flux on the compute cluster.
const FLUX_NAMESPACE: &str = "flux-system";

/// The layer, when the operators are declared. They come last: what they report on must be there.
pub(super) fn layer(
    control_plane: &ResolvedControlPlane,
    compute: &Compute,
    management: &ResolvedManagement,
) -> Option<Layer> {
    let operators = compute.operators.as_ref()?;
    let cluster = compute.attachment.cluster.as_str();
    let (hypervisor_operator, node_agent) = ("openstack-hypervisor-operator", "kvm-node-agent");
    Some(
        connection::on_cluster(&compute.attachment.way(&control_plane.namespace), management, "operators")
            .after([connection::layer_name(cluster, "base"), connection::layer_name(cluster, "pools")])
            .with(
                "oci-repository.yaml",
                "hypervisor-operator-chart",
                Health::Status,
                chart(hypervisor_operator, &operators.hypervisor_operator),
            )
            .with(
                "oci-repository.yaml",
                "node-agent-chart",
                Health::Status,
                chart(node_agent, &operators.node_agent),
            )
            .with(
                "helm-release.yaml",
                "hypervisor-operator",
                Health::Status,
                hypervisor_operator_release(control_plane, compute, hypervisor_operator),
            )
            .with("helm-release.yaml", "node-agent", Health::Status, node_agent_release(compute, node_agent)),
    )
}

fn chart(name: &str, release: &ChartRelease) -> Value {
    let mut reference = Map::new();
    reference.insert("tag".to_owned(), json!(release.tag));
    if let Some(digest) = &release.digest {
        reference.insert("digest".to_owned(), json!(digest));
    }
    json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "OCIRepository",
        "metadata": metadata(name, Some(FLUX_NAMESPACE)),
        "spec": {
            "interval": "30m",
            "url": format!("oci://ghcr.io/cobaltcore-dev/charts/{name}"),
            "ref": reference,
            "layerSelector": {
                "mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
                "operation": "copy",
            },
        },
    })
}

fn release(name: &str, namespace: &str, chart: &str, values: &Value) -> Value {
    json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": metadata(name, Some(namespace)),
        "spec": {
            "interval": "30m",
            "chartRef": { "kind": "OCIRepository", "name": chart, "namespace": FLUX_NAMESPACE },
            "install": { "crds": "CreateReplace", "remediation": { "retries": 3 } },
            "upgrade": { "crds": "CreateReplace", "remediation": { "retries": 3 } },
            "values": values,
        },
    })
}

/// Its credentials come from the Secret that the control plane delivers beside it.
fn hypervisor_operator_release(
    control_plane: &ResolvedControlPlane,
    compute: &Compute,
    chart: &str,
) -> Value {
    let environment = "controllerManager.manager.env";
    let mut release = release(
        "hypervisor-operator",
        &control_plane.namespace,
        chart,
        &json!({
            // The chart's own full name makes a Service name of 64 characters.
            "fullnameOverride": "hypervisor-operator",
            "controllerManager": { "manager": { "env": {
                "certificateNamespace": compute.libvirt.certificate_namespace,
                "certificateIssuerName": LIBVIRT_ISSUER,
                "agentNamespaces": control_plane.namespace,
            } } },
        }),
    );
    let keys = [
        ("auth_url", format!("{environment}.osAuthUrl")),
        ("username", format!("{environment}.osUsername")),
        ("user_domain_name", format!("{environment}.osUserDomainName")),
        ("project_name", format!("{environment}.osProjectName")),
        ("project_domain_name", format!("{environment}.osProjectDomainName")),
        ("region_name", format!("{environment}.osRegionName")),
        ("password", "secret.servicePassword".to_owned()),
    ];
    let secret = format!("{}-nova-hypervisor-operator-auth", control_plane.name);
    let values_from: Vec<Value> = keys
        .iter()
        .map(|(key, path)| json!({ "kind": "Secret", "name": secret, "valuesKey": key, "targetPath": path }))
        .collect();
    if let Some(spec) = release.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("valuesFrom".to_owned(), Value::Array(values_from));
    }
    release
}

fn node_agent_release(compute: &Compute, chart: &str) -> Value {
    release(
        "kvm-node-agent",
        &compute.libvirt.certificate_namespace,
        chart,
        &json!({
            // The chart's defaults are for Cloud Hypervisor and leave the node's name empty.
            "controllerManager": { "manager": { "env": {
                "libvirtDefaultUri": compute.libvirt.uri,
                "nodeLabelFieldPath": "spec.nodeName",
            } } },
        }),
    )
}
