//! Conventions of the management cluster.

use c5c3_api::topology::{Management, SecretStoreKind, SourceKind};

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
}

impl ResolvedManagement {
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
    }
}
