//! The management cluster: where Flux reads from and where secrets come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Observability, OpenBao, Platform};

/// The management cluster and the parts of it that rendered objects refer to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Management {
    /// Names the folder of this cluster in Git. Default: `management`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The Flux source that the rendered Kustomizations read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Namespace where attached clusters are registered for the operators (`--clusters-namespace`). Default: `c5c3-clusters`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters_namespace: Option<String>,
    /// The External Secrets store that every secret value comes from. The same name is expected on attached clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_store: Option<SecretStore>,
    /// First part of every key in that store. Default: `c5c3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_prefix: Option<String>,
    /// The operators that the renderer installs there. Default: none, everything is there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    /// The OpenBao behind the secret store. With it the stores are rendered. Default: the stores are there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openbao: Option<OpenBao>,
    /// What the Operation and Monitoring cluster is told. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observability: Option<Observability>,
    /// How often Flux looks and how long it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconciliation: Option<Reconciliation>,
}

/// A Flux source object.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Source {
    /// Kind of the source. Default: `GitRepository`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SourceKind>,
    /// Name of the source. Default: `topology`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Namespace of the source and of every rendered Flux object. Default: `flux-system`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// The kinds of source a Flux Kustomization can read.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum SourceKind {
    /// A Git repository.
    GitRepository,
    /// An OCI artifact.
    OCIRepository,
    /// An object-store bucket.
    Bucket,
    /// An artifact published by another controller.
    ExternalArtifact,
}

/// An External Secrets store.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SecretStore {
    /// Scope of the store. Default: `ClusterSecretStore`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SecretStoreKind>,
    /// Name of the store. Without a store: `openbao-cluster-store`.
    pub name: String,
}

/// The scopes of an External Secrets store.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum SecretStoreKind {
    /// One store for every namespace.
    ClusterSecretStore,
    /// A store of the namespace that uses it.
    SecretStore,
}

/// Durations in Flux spelling, for example `10m` or `1h30m`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Reconciliation {
    /// How often Flux compares cluster and Git. Default: `10m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// How soon Flux tries again after a failure. Default: `1m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_interval: Option<String>,
    /// How long Flux waits for the objects of one step. Default: `10m`; a control plane and its databases: `60m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}
