//! Conventions of the management cluster.

use std::collections::BTreeMap;

use c5c3_api::topology::{Management, Observability, OpenBao, Platform, SecretStoreKind, SourceKind};

/// The management cluster, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedManagement {
    /// Folder of the cluster in Git.
    pub name: String,
    /// Kind of the Flux source.
    pub source_kind: &'static str,
    /// Name of the Flux source.
    pub source_name: String,
    /// Namespace of the Flux source and of all Flux objects.
    pub flux_namespace: String,
    /// Namespace of cluster registrations.
    pub clusters_namespace: String,
    /// Kind of the External Secrets store.
    pub store_kind: &'static str,
    /// Name of the External Secrets store.
    pub store_name: String,
    /// First part of every key in the store.
    pub secret_prefix: String,
    /// Flux interval.
    pub interval: String,
    /// Flux retry interval.
    pub retry_interval: String,
    /// How long Flux waits for an ordinary step.
    pub timeout: String,
    /// How long Flux waits for a control plane or a database.
    pub long_timeout: String,
    /// The operators that are installed, when they are.
    pub platform: Option<ResolvedPlatform>,
    /// The OpenBao behind the store, when it is known.
    pub openbao: Option<ResolvedOpenBao>,
    /// What monitoring is told, when it is.
    pub observability: Option<ResolvedObservability>,
}

/// The operators of the management cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedPlatform {
    /// As declared.
    pub declared: Platform,
    /// Replicas of each service operator.
    pub operator_replicas: u32,
    /// Image tag of the service operators.
    pub operator_image_tag: String,
}

/// OpenBao and its addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedOpenBao {
    /// On the management cluster.
    pub address: String,
    /// From attached clusters.
    pub external_address: Option<String>,
    /// Mount of the key-value engine.
    pub mount: String,
    /// Role of the management cluster.
    pub role: String,
}

/// Hooks of monitoring.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedObservability {
    /// Alertmanager.
    pub alertmanager: Option<String>,
    /// Labels of monitors and rules.
    pub labels: BTreeMap<String, String>,
    /// Minutes before an alert.
    pub minutes: u32,
}

impl ResolvedManagement {
    /// Whether the stores themselves are rendered; one of a single namespace is its owner's business.
    #[must_use]
    pub fn renders_stores(&self) -> bool {
        self.openbao.is_some() && self.store_kind == "ClusterSecretStore"
    }

    /// A key in the secret store.
    #[must_use]
    pub fn secret_key(&self, parts: &[&str]) -> String {
        let mut key = self.secret_prefix.clone();
        for part in parts {
            key.push('/');
            key.push_str(part);
        }
        key
    }
}

pub(super) fn resolve(declared: Option<&Management>) -> ResolvedManagement {
    let declared = declared.cloned().unwrap_or_default();
    let source = declared.source.unwrap_or_default();
    let reconciliation = declared.reconciliation.unwrap_or_default();
    let (store_kind, store_name) = declared.secret_store.map_or_else(
        || (SecretStoreKind::ClusterSecretStore, "openbao-cluster-store".to_owned()),
        |store| (store.kind.unwrap_or(SecretStoreKind::ClusterSecretStore), store.name),
    );
    ResolvedManagement {
        name: declared.name.unwrap_or_else(|| "management".to_owned()),
        source_kind: match source.kind.unwrap_or(SourceKind::GitRepository) {
            SourceKind::GitRepository => "GitRepository",
            SourceKind::OCIRepository => "OCIRepository",
            SourceKind::Bucket => "Bucket",
            SourceKind::ExternalArtifact => "ExternalArtifact",
        },
        source_name: source.name.unwrap_or_else(|| "topology".to_owned()),
        flux_namespace: source.namespace.unwrap_or_else(|| "flux-system".to_owned()),
        clusters_namespace: declared.clusters_namespace.unwrap_or_else(|| "c5c3-clusters".to_owned()),
        store_kind: match store_kind {
            SecretStoreKind::ClusterSecretStore => "ClusterSecretStore",
            SecretStoreKind::SecretStore => "SecretStore",
        },
        store_name,
        secret_prefix: declared.secret_prefix.unwrap_or_else(|| "c5c3".to_owned()),
        interval: reconciliation.interval.unwrap_or_else(|| "10m".to_owned()),
        retry_interval: reconciliation.retry_interval.unwrap_or_else(|| "1m".to_owned()),
        timeout: reconciliation.timeout.clone().unwrap_or_else(|| "10m".to_owned()),
        long_timeout: reconciliation.timeout.unwrap_or_else(|| "60m".to_owned()),
        platform: declared.platform.map(platform),
        openbao: declared.openbao.map(openbao),
        observability: declared.observability.map(observability),
    }
}

fn platform(declared: Platform) -> ResolvedPlatform {
    ResolvedPlatform {
        operator_replicas: declared.operator_replicas.unwrap_or(2),
        operator_image_tag: declared.operator_image_tag.clone().unwrap_or_else(|| "latest".to_owned()),
        declared,
    }
}

fn openbao(declared: OpenBao) -> ResolvedOpenBao {
    ResolvedOpenBao {
        address: declared.address.unwrap_or_else(|| "https://openbao.shared-services.svc:8200".to_owned()),
        external_address: declared.external_address,
        mount: declared.mount.unwrap_or_else(|| "kv-v2".to_owned()),
        role: declared.role.unwrap_or_else(|| "eso-management".to_owned()),
    }
}

fn observability(declared: Observability) -> ResolvedObservability {
    let usual = || BTreeMap::from([("release".to_owned(), "kube-prometheus-stack".to_owned())]);
    ResolvedObservability {
        alertmanager: declared.alertmanager,
        labels: if declared.labels.is_empty() { usual() } else { declared.labels },
        minutes: declared.minutes.unwrap_or(15),
    }
}
