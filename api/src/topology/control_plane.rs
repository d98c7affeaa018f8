//! One OpenStack control plane and what its services lean on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ComputeCluster, NetworkCluster, OvnCentral, ServiceCluster, StorageCluster};

/// One OpenStack control plane, in a namespace of its own, with the clusters attached to it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ControlPlane {
    /// Name of the `ControlPlane` resource; every derived name starts with it, which bounds it to 32 characters.
    pub name: String,
    /// Namespace on the management cluster. Default: the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// OpenStack release, for example `2025.2`.
    pub release: String,
    /// OpenStack region. Default: `RegionOne`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// DNS domain below which the services are published, for example `a.example.org` gives `keystone.a.example.org`.
    pub domain: String,
    /// Built-in size of all components. Default: `Standard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizing: Option<SizingProfile>,
    /// The Gateway that publishes the services; its listeners must exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<Gateway>,
    /// Host names that differ from `<service>.<domain>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Hosts>,
    /// The database that the services share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<Database>,
    /// The cache that the services share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// The message bus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messaging: Option<Messaging>,
    /// Where Glance keeps images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<ImageStore>,
    /// Cinder. Needed for volumes on attached storage clusters. Default: no volumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volumes: Option<Volumes>,
    /// The dashboard. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dashboard: Option<Dashboard>,
    /// The OVN central databases of this control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ovn: Option<OvnCentral>,
    /// MTU of the physical networks as Neutron is told (`global_physnet_mtu`). Default: Neutron's own, 1500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_network_mtu: Option<u32>,
    /// Attached clusters of hypervisors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compute: Vec<ComputeCluster>,
    /// Attached clusters of gateway nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<NetworkCluster>,
    /// Attached Ceph clusters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storage: Vec<StorageCluster>,
    /// Attached clusters that host single services.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<ServiceCluster>,
}

/// Sizes that the operator knows by name.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum SizingProfile {
    /// One replica of everything.
    Minimal,
    /// Three replicas where it matters.
    Standard,
}

/// A Gateway (`gateway.networking.k8s.io`).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Gateway {
    /// Name of the Gateway. Default: `openstack-gw`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Namespace of the Gateway. Default: that of the control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Class of the Gateway. With it the Gateway is rendered, with one listener per service. Default: the Gateway exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// ClusterIssuer of the listeners' certificates, for a rendered Gateway. Default: the Secrets `<gateway>-<service>-tls` exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// Listener of the Gateway. Default: every listener that fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section_name: Option<String>,
}

/// Public host names of the services. Each default is `<service>.<domain>`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Hosts {
    /// Keystone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keystone: Option<String>,
    /// Glance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glance: Option<String>,
    /// Placement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<String>,
    /// Neutron.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neutron: Option<String>,
    /// Nova.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nova: Option<String>,
    /// Cinder, where there are volumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cinder: Option<String>,
    /// Horizon, where there is a dashboard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<String>,
    /// Nova's metadata service, which agents on compute clusters call. Default: `nova-metadata.<domain>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nova_metadata: Option<String>,
}

/// The managed database cluster.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Database {
    /// Name of the database cluster that the operator creates. Default: `openstack-db`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
}

/// The managed cache cluster.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Cache {
    /// Name of the Memcached cluster that the operator creates. Default: `openstack-memcached`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
}

/// The message bus. Compute clusters need one that they can reach with TLS, which the managed one is not.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Messaging {
    /// Who runs the bus. Default: `External`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<MessagingMode>,
    /// Whether an external bus speaks TLS. Default: `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<bool>,
    /// Secret with the transport URL as seen from the control plane (key `transport_url`). Default: `<name>-bus`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport_url_secret: Option<String>,
    /// Secret with the CA of the bus (key `ca.crt`). Default: `<name>-bus-ca`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_authority_secret: Option<String>,
    /// Secret with the transport URL as seen from compute clusters (key `transport_url`). Default: `<name>-remote-bus`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_transport_url_secret: Option<String>,
    /// Name of a managed RabbitMQ cluster. Default: `openstack-rabbitmq`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
}

/// Who runs the message bus.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum MessagingMode {
    /// Somebody else; its URL and CA come from the secret store.
    External,
    /// The operator, inside the management cluster and without TLS.
    Managed,
}

/// An S3 bucket for images; Glance has no other store today.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ImageStore {
    /// A storage cluster of this control plane whose object store keeps the images. Default: none, `endpoint` says where they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// URL of the object store. Default: that of `cluster`, else `https://s3.<domain>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Bucket. Default: `<name>-images`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket: Option<String>,
    /// Region of the object store. Default: the region of the control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Secret with the credentials (keys `access-key-id`, `secret-access-key`). Default: `<name>-image-store`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials_secret: Option<String>,
}

/// Cinder. Upstream's ControlPlane asks for an NFS share even where volumes live on Ceph.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Volumes {
    /// NFS shares; at least one.
    pub nfs: Vec<NfsShare>,
}

/// An NFS share for volumes.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NfsShare {
    /// Name of the backend. A DNS label, not `default`.
    pub name: String,
    /// Server.
    pub server: String,
    /// Path on the server.
    pub path: String,
}

/// The dashboard. `dashboard: {}` is enough.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Dashboard {}
