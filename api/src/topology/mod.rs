//! The topology document: what a person declares, and everything else follows from.
//!
//! Types only. Nothing here validates or fills in: a field that is absent stays absent, so that a reader can tell what was written from what
//! is convention. The conventions and the rules live in the renderer, in one place each.
//!
//! ```text
//! Topology ─ spec ─┬─ management                    where Flux and every C5C3 resource live
//!                  └─ controlPlanes[] ─┬─ ovn       the OVN central of that control plane
//!                                      ├─ compute[] one cluster of hypervisors each
//!                                      ├─ network[] one cluster of gateway nodes each
//!                                      ├─ storage[] one Ceph cluster each
//!                                      └─ services[] one cluster each that hosts single services
//! ```

mod attachment;
mod compute;
mod control_plane;
mod document;
mod management;
mod network;
mod ovn;
mod platform;
mod service;
mod storage;

pub use attachment::{Access, BridgeMapping, Chassis, Encapsulation, Host, Lifecycle, NodeSelector};
pub use compute::{
    ChartRelease, ComputeCluster, CpuMode, HypervisorType, ImagesType, Libvirt, LibvirtDeployment,
    MetadataAgent, NodeOperators, Pool, PoolImage, PortRange, UpdateStrategy, VirtualizationType,
};
pub use control_plane::{
    Cache, ControlPlane, Dashboard, Database, Gateway, Hosts, ImageStore, Messaging, MessagingMode, NfsShare,
    SizingProfile, Volumes,
};
pub use document::{Topology, TopologyApiVersion, TopologyKind, TopologyMetadata, TopologySpec};
pub use management::{Management, Reconciliation, SecretStore, SecretStoreKind, Source, SourceKind};
pub use network::NetworkCluster;
pub use ovn::{Issuer, IssuerKind, OvnCentral, OvnDatabase, OvnRelay};
pub use platform::{FluxInstance, GitPin, Observability, OpenBao, Platform};
pub use service::{PlaceableService, PlacedService, ServiceCluster};
pub use storage::{
    BackupBackend, Ceph, CephClaims, CephClient, CephNetwork, CephPool, CephStorage, ObjectStore, Rook,
    StorageCluster, VolumeBackend,
};

/// The group and version of the topology document.
pub const TOPOLOGY_API_VERSION: &str = "topology.c5c3.io/v1alpha1";

/// The kind of the topology document.
pub const TOPOLOGY_KIND: &str = "Topology";
