//! A Ceph cluster, run by Rook, for volumes, backups and images.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Host, Lifecycle};

/// A cluster whose nodes hold data: Ceph, run by Rook.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StorageCluster {
    /// Name of the cluster, unique in the topology; its registration and every `targetClusterRef` use it. A DNS label.
    pub name: String,
    /// Whether it is the management cluster itself, as in a lab: nothing is connected or registered then. Default: `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<bool>,
    /// Whether the cluster is in use or being emptied. Default: `Attached`. Only what was `Draining` can be removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
    /// How to reach the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Rook, the operator of Ceph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rook: Option<Rook>,
    /// The Ceph cluster itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceph: Option<Ceph>,
    /// Addresses of the monitors as compute and control plane nodes reach them, as `192.0.2.11` or `192.0.2.11:3300`; an odd number.
    pub monitors: Vec<String>,
    /// IPv4 networks of monitors and OSDs, in CIDR notation.
    pub networks: Vec<String>,
    /// Id of the Ceph cluster, once it is known. It never changes: another id is another cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fsid: Option<String>,
    /// Pools for block devices. Default: `volumes` and `backups`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<CephPool>,
    /// Users of the pools. Default: `cinder` for `volumes`, `cinder-backup` for `backups`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<CephClient>,
    /// The backend that Cinder makes volumes on. Default: one on `volumes`, as `cinder`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volumes: Option<VolumeBackend>,
    /// The backend for volume backups; one storage cluster of a control plane has it. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backups: Option<BackupBackend>,
    /// An S3 object store, for Glance. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_store: Option<ObjectStore>,
    /// Labels and annotations of nodes. Default: whoever makes the nodes sets them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<Host>,
}

/// Rook, the operator of Ceph.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Rook {
    /// Version of the chart `rook-ceph`. Default: `v1.21.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chart_version: Option<String>,
    /// Namespace of Rook and Ceph. Default: `rook-ceph`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// The Ceph cluster itself. Fields that Rook lets nobody change later are marked.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Ceph {
    /// Image. Default: `quay.io/ceph/ceph:v20.2.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Number of monitors, odd. Default: as many as `monitors` lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor_count: Option<u32>,
    /// How daemons reach the network. Default: `Host`, since Services of the cluster are not reachable from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<CephNetwork>,
    /// Networks for `Multus`, by Ceph's name for them (`public`, `cluster`). Default: none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub network_selectors: BTreeMap<String, String>,
    /// What holds data: disks of nodes, or claims. Default: every unused disk of every node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<CephStorage>,
    /// Where monitors and logs are kept on the host; cannot be changed later. Default: `/var/lib/rook`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_directory: Option<String>,
    /// Failure domains that there are, to check replicas against. Default: not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_domains: Option<u32>,
}

/// How Ceph daemons reach the network.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum CephNetwork {
    /// The network of the host.
    Host,
    /// A network of their own, by Multus.
    Multus,
}

/// What holds data. Disks and claims exclude each other.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CephStorage {
    /// Regular expression of disk names, for example `^sd[b-z]$`. Default: every unused disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_filter: Option<String>,
    /// Claims instead of disks, one per OSD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<CephClaims>,
}

/// Volume claims that OSDs live on.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CephClaims {
    /// Number of OSDs.
    pub count: u32,
    /// Size of each, for example `1Ti`.
    pub size: String,
    /// Storage class.
    pub storage_class: String,
}

/// A pool for block devices.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CephPool {
    /// Name of the pool, unique in the cluster.
    pub name: String,
    /// Copies of each object, at least 2. Default: 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u32>,
    /// What must not hold two copies. Default: `host`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_domain: Option<String>,
}

/// A user of pools.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CephClient {
    /// Name without `client.`.
    pub name: String,
    /// Pools that it may use.
    pub pools: Vec<String>,
    /// Generation of its key; a greater number makes a new key. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_generation: Option<u32>,
}

/// What Cinder makes volumes on.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct VolumeBackend {
    /// Name of the `CinderBackend`. Default: `rbd-<cluster>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Pool. Default: `volumes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// User. Default: `cinder`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Ceph's name of the cluster in Cinder's files; differs between storage clusters of one control plane. Default: `ceph` for the only one, else the name of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_name: Option<String>,
    /// Id of libvirt's secret on hypervisors. Default: computed from topology, cluster and user, so that it never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_uuid: Option<String>,
    /// Whether there are no volumes here. Default: `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
}

/// What Cinder makes backups on.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct BackupBackend {
    /// Name of the `CinderBackupBackend`. Default: `rbd-backup-<cluster>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Pool. Default: `backups`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// User. Default: `cinder-backup`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// An S3 object store on Ceph. `images.cluster` of the control plane makes Glance use it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ObjectStore {
    /// Name of the `CephObjectStore`. Default: `images`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// URL under which Glance reaches it.
    pub endpoint: String,
    /// Gateways. Default: 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateways: Option<u32>,
    /// Port of the gateways on their hosts. Default: 80.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u32>,
}
