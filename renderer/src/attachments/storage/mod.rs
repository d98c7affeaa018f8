//! A Ceph cluster, run by Rook: pools and users there, keys carried over by the secret store, backends of Cinder, a bucket store for Glance.

mod backends;
mod ceph;
mod conventions;
mod keys;
mod rules;

pub use conventions::{
    ResolvedBackup, ResolvedClient, ResolvedObjectStore, ResolvedPoolOfCeph, ResolvedVolumes, Storage,
};

pub(crate) use conventions::{VolumeKey, resolve};

use super::connection::{self, Way};
use super::{AttachmentKind, hosts};
use crate::conventions::{ResolvedControlPlane, ResolvedManagement};
use crate::plan::Layer;

pub(super) const KIND: AttachmentKind = AttachmentKind {
    field: "storage",
    summary: "A Ceph cluster, run by Rook, for volumes, backups and images.",
    guide: "attach-a-storage-cluster.md",
    resource: "CephCluster",
    rules: rules::RULES,
    layers,
};

fn layers(control_plane: &ResolvedControlPlane, management: &ResolvedManagement) -> Vec<Layer> {
    let mut layers = Vec::new();
    for storage in &control_plane.storage {
        let way = storage.way();
        // What leads to the data stays with the data, also when the cluster leaves the topology.
        let lasting = Way { draining: false, ..way.clone() };
        layers.extend(connection::flux_access(&lasting, management));
        layers.extend(hosts::layer(&lasting, management, storage.hosts.iter()));
        layers.push(ceph::rook(&lasting, storage, management));
        layers.push(ceph::cluster(&way, storage, management));
        layers.push(keys::push(&way, storage, management));
        layers.push(keys::pull(&way, control_plane, storage, management));
        layers.extend(backends::layer(&way, control_plane, storage, management));
    }
    layers
}
