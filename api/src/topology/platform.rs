//! What the renderer installs on the management cluster: Flux, operators, certificates, stores.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ChartRelease;

/// The infrastructure and service operators of the management cluster, as Flux layers in their order.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Platform {
    /// Flux itself, as a `FluxInstance` of the Flux operator. Default: Flux is there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flux: Option<FluxInstance>,
    /// Version ranges by release, for example `cert-manager: ">=1.16.0 <2.0.0"`. Default: the range that this renderer was written for; `explain spec.management.platform.charts` lists them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub charts: BTreeMap<String, String>,
    /// Releases that somebody else installs; nothing waits for them. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    /// Replicas of each service operator. Default: 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_replicas: Option<u32>,
    /// Image tag of the service operators. Default: `latest`, as upstream's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_image_tag: Option<String>,
    /// K-ORC, whose kinds the c5c3-operator needs.
    pub k_orc: GitPin,
    /// The RabbitMQ cluster operator.
    pub rabbitmq_cluster_operator: GitPin,
    /// The RabbitMQ messaging topology operator.
    pub messaging_topology_operator: GitPin,
    /// The chart of the OpenBao operator. Default: none; only a dedicated OpenBao for Barbican needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openbao_operator: Option<ChartRelease>,
}

/// Flux, installed by the Flux operator.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FluxInstance {
    /// Version or range. Default: `2.x`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Registry of the images. Default: `ghcr.io/fluxcd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<String>,
}

/// A commit of a public repository, so that what is installed is what was tested.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct GitPin {
    /// Address. Default: the upstream repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Folder with the kustomization. Default: upstream's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Commit, 40 hex digits.
    pub commit: String,
    /// Tag that the commit is expected at, for readers. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// The OpenBao that holds every secret, and how it is reached on each of three paths: the management cluster reads, control planes read their own, storage clusters push.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OpenBao {
    /// Address on the management cluster. Default: `https://openbao.shared-services.svc:8200`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Address as attached clusters reach it; its certificate must name this host. Default: none, and attached clusters have their own store of the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_address: Option<String>,
    /// Mount of the key-value engine. Default: `kv-v2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount: Option<String>,
    /// Role of the management cluster. Default: `eso-management`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// What the Operation and Monitoring cluster is told.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Observability {
    /// Address of Alertmanager, to which Flux reports failures. Default: nothing is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alertmanager: Option<String>,
    /// Labels by which Prometheus finds monitors and rules. Default: `release: kube-prometheus-stack`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Minutes that a step may fail before an alert. Default: 15.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u32>,
}
