//! Conventions of storage clusters.

use std::collections::BTreeMap;

use c5c3_api::topology::{Ceph, CephClient, CephNetwork, CephPool, StorageCluster};
use sha2::{Digest, Sha256};

use super::super::connection::{Way, layer_name};
use super::super::conventions::{ResolvedAccess, ResolvedHost, is_draining, resolve_access, resolve_hosts};
use crate::conventions::ResolvedManagement;

/// A storage cluster, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Storage {
    /// Path of its entry in the document.
    pub field: String,
    /// Name of the cluster.
    pub cluster: String,
    /// Whether it is the management cluster itself.
    pub local: bool,
    /// Whether it is being emptied.
    pub draining: bool,
    /// How to get in.
    pub access: ResolvedAccess,
    /// Version of Rook's chart.
    pub rook_version: String,
    /// Namespace of Rook and Ceph.
    pub namespace: String,
    /// The Ceph cluster as declared.
    pub ceph: Ceph,
    /// Image of Ceph.
    pub image: String,
    /// Number of monitors.
    pub monitor_count: u32,
    /// Addresses of monitors.
    pub monitors: Vec<String>,
    /// Networks of monitors and OSDs.
    pub networks: Vec<String>,
    /// Id, when known.
    pub fsid: Option<String>,
    /// Pools.
    pub pools: Vec<ResolvedPoolOfCeph>,
    /// Users.
    pub clients: Vec<ResolvedClient>,
    /// Cinder's backend.
    pub volumes: Option<ResolvedVolumes>,
    /// Cinder's backup backend.
    pub backups: Option<ResolvedBackup>,
    /// Object store.
    pub object_store: Option<ResolvedObjectStore>,
    /// Nodes that are labelled.
    pub hosts: Vec<ResolvedHost>,
}

/// A pool of Ceph.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedPoolOfCeph {
    /// Path of its entry in the document.
    pub field: String,
    /// Name.
    pub name: String,
    /// Copies.
    pub replicas: u32,
    /// Failure domain.
    pub failure_domain: String,
}

/// A user of Ceph.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedClient {
    /// Path of its entry in the document.
    pub field: String,
    /// Name without `client.`.
    pub name: String,
    /// Pools.
    pub pools: Vec<String>,
    /// Generation of the key.
    pub key_generation: u32,
}

/// Cinder's backend on a storage cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedVolumes {
    /// Name of the `CinderBackend`.
    pub name: String,
    /// Pool.
    pub pool: String,
    /// User.
    pub user: String,
    /// Ceph's name of the cluster.
    pub cluster_name: String,
    /// Id of libvirt's secret.
    pub secret_uuid: String,
}

/// Cinder's backup backend on a storage cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedBackup {
    /// Name of the `CinderBackupBackend`.
    pub name: String,
    /// Pool.
    pub pool: String,
    /// User.
    pub user: String,
}

/// An object store.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedObjectStore {
    /// Name.
    pub name: String,
    /// URL for Glance.
    pub endpoint: String,
    /// Gateways.
    pub gateways: u32,
    /// Port.
    pub port: u32,
}

/// What a hypervisor needs to attach a volume.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VolumeKey {
    pub(crate) user: String,
    pub(crate) secret_uuid: String,
}

impl Storage {
    /// The key of Cinder's user as hypervisors use it.
    pub(crate) fn volume_key(&self) -> Option<VolumeKey> {
        self.volumes
            .as_ref()
            .map(|volumes| VolumeKey { user: volumes.user.clone(), secret_uuid: volumes.secret_uuid.clone() })
    }

    /// Where a user's key is kept in the store; each cluster has its own, so that two never overwrite one another.
    pub(crate) fn client_key(&self, management: &ResolvedManagement, client: &str) -> String {
        management.secret_key(&["ceph", &self.cluster, &format!("client-{client}")])
    }

    /// Where the credentials of Glance's bucket store are kept.
    pub(crate) fn object_user_key(&self, management: &ResolvedManagement) -> String {
        management.secret_key(&["ceph", &self.cluster, "object-user-glance"])
    }

    /// Name of the Secret with a user's key, outside of the storage cluster.
    pub(crate) fn key_secret(&self, client: &str) -> String {
        format!("{}-ceph-client-{client}", self.cluster)
    }

    /// The way into it. Operators of C5C3 never enter a storage cluster; only Flux does.
    pub(super) fn way(&self) -> Way<'_> {
        Way {
            field: &self.field,
            cluster: &self.cluster,
            access: &self.access,
            local: self.local,
            draining: self.draining,
            namespaces: Vec::new(),
            privileged: Vec::new(),
            hosts_services: false,
        }
    }

    /// The layer after which keys are in the store.
    pub(crate) fn push_layer(&self) -> String {
        layer_name(&self.cluster, "keys-push")
    }
}

pub(crate) fn resolve(declared: &StorageCluster, field: &str, topology: &str, alone: bool) -> Storage {
    let rook = declared.rook.clone().unwrap_or_default();
    let ceph = declared.ceph.clone().unwrap_or_default();
    let listed = u32::try_from(declared.monitors.len()).unwrap_or(u32::MAX);
    Storage {
        field: field.to_owned(),
        cluster: declared.name.clone(),
        local: declared.local.unwrap_or(false),
        draining: is_draining(declared.lifecycle),
        access: resolve_access(declared.access.as_ref()),
        rook_version: rook.chart_version.unwrap_or_else(|| "v1.21.0".to_owned()),
        namespace: rook.namespace.unwrap_or_else(|| "rook-ceph".to_owned()),
        image: ceph.image.clone().unwrap_or_else(|| "quay.io/ceph/ceph:v20.2.0".to_owned()),
        monitor_count: ceph.monitor_count.unwrap_or(listed),
        monitors: declared.monitors.clone(),
        networks: declared.networks.clone(),
        fsid: declared.fsid.clone(),
        pools: pools(&declared.pools, field),
        clients: clients(&declared.clients, field),
        volumes: volumes(declared, topology, alone),
        backups: declared.backups.clone().map(|backups| ResolvedBackup {
            name: backups.name.unwrap_or_else(|| format!("rbd-backup-{}", declared.name)),
            pool: backups.pool.unwrap_or_else(|| "backups".to_owned()),
            user: backups.user.unwrap_or_else(|| "cinder-backup".to_owned()),
        }),
        object_store: declared.object_store.clone().map(|store| ResolvedObjectStore {
            name: store.name.unwrap_or_else(|| "images".to_owned()),
            endpoint: store.endpoint,
            gateways: store.gateways.unwrap_or(2),
            port: store.port.unwrap_or(80),
        }),
        hosts: resolve_hosts(&declared.hosts, field, &BTreeMap::new(), &BTreeMap::new()),
        ceph,
    }
}

fn pools(declared: &[CephPool], field: &str) -> Vec<ResolvedPoolOfCeph> {
    let usual = ["volumes", "backups"].map(|name| CephPool {
        name: name.to_owned(),
        replicas: None,
        failure_domain: None,
    });
    let declared = if declared.is_empty() { &usual[..] } else { declared };
    declared
        .iter()
        .enumerate()
        .map(|(index, pool)| ResolvedPoolOfCeph {
            field: format!("{field}.pools[{index}]"),
            name: pool.name.clone(),
            replicas: pool.replicas.unwrap_or(3),
            failure_domain: pool.failure_domain.clone().unwrap_or_else(|| "host".to_owned()),
        })
        .collect()
}

fn clients(declared: &[CephClient], field: &str) -> Vec<ResolvedClient> {
    let usual = [("cinder", "volumes"), ("cinder-backup", "backups")].map(|(name, pool)| CephClient {
        name: name.to_owned(),
        pools: vec![pool.to_owned()],
        key_generation: None,
    });
    let declared = if declared.is_empty() { &usual[..] } else { declared };
    declared
        .iter()
        .enumerate()
        .map(|(index, client)| ResolvedClient {
            field: format!("{field}.clients[{index}]"),
            name: client.name.clone(),
            pools: client.pools.clone(),
            key_generation: client.key_generation.unwrap_or(1),
        })
        .collect()
}

fn volumes(declared: &StorageCluster, topology: &str, alone: bool) -> Option<ResolvedVolumes> {
    let volumes = declared.volumes.clone().unwrap_or_default();
    if volumes.disabled == Some(true) {
        return None;
    }
    let user = volumes.user.unwrap_or_else(|| "cinder".to_owned());
    let usual_name = if alone { "ceph" } else { declared.name.as_str() };
    Some(ResolvedVolumes {
        name: volumes.name.unwrap_or_else(|| format!("rbd-{}", declared.name)),
        pool: volumes.pool.unwrap_or_else(|| "volumes".to_owned()),
        cluster_name: volumes.cluster_name.unwrap_or_else(|| usual_name.to_owned()),
        secret_uuid: volumes.secret_uuid.unwrap_or_else(|| uuid_of(&[topology, &declared.name, &user])),
        user,
    })
}

/// A UUID computed from names (version 8: a digest of our own).
fn uuid_of(parts: &[&str]) -> String {
    let digest = Sha256::digest(parts.join("/"));
    let mut bytes = [0_u8; 16];
    bytes.iter_mut().zip(digest).for_each(|(byte, from)| *byte = from);
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}

/// Whether Ceph uses the network of its hosts.
pub(super) fn on_host_network(ceph: &Ceph) -> bool {
    ceph.network.unwrap_or(CephNetwork::Host) == CephNetwork::Host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_computed_uuid_is_one_and_stays_the_same() {
        let uuid = uuid_of(&["topology", "storage-a1", "cinder"]);
        assert_eq!(uuid.len(), 36);
        assert_eq!(&uuid[14..15], "8");
        assert_eq!(uuid, uuid_of(&["topology", "storage-a1", "cinder"]));
        assert_ne!(uuid, uuid_of(&["topology", "storage-a2", "cinder"]));
    }
}
