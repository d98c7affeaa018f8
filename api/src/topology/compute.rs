//! A cluster of hypervisors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Chassis, NodeSelector};

/// A cluster whose nodes run instances.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ComputeCluster {
    /// Name of the cluster, unique in the topology; its registration and every `targetClusterRef` use it. A DNS label.
    pub name: String,
    /// What runs the instances. Default: `KVM`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<HypervisorType>,
    /// The release that gives the operators access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// The OVN chassis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chassis: Option<Chassis>,
    /// Groups of hypervisors that are configured alike; at least one.
    pub pools: Vec<Pool>,
    /// The agent that answers metadata requests of instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_agent: Option<MetadataAgent>,
    /// libvirt's certificates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub libvirt: Option<Libvirt>,
    /// The operators that run on the cluster itself. Default: none is rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operators: Option<NodeOperators>,
}

/// What runs the instances.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum HypervisorType {
    /// QEMU with KVM, through libvirt.
    #[serde(rename = "KVM")]
    Kvm,
    /// Cloud Hypervisor, through libvirt. Not rendered yet.
    CloudHypervisor,
}

/// Hypervisors that are configured alike (a `NovaCompute`).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Pool {
    /// Name of the pool, unique in the cluster. A DNS label.
    pub name: String,
    /// Nodes of the pool; must select chassis only. Default: the chassis labels and `openstack.c5c3.io/nova-compute-pool: <name>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<NodeSelector>,
    /// How guests are accelerated. Default: `kvm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtualization: Option<VirtualizationType>,
    /// How guests see the CPU. Default: Nova's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_mode: Option<CpuMode>,
    /// CPU models, with `cpuMode: custom` only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_models: Vec<String>,
    /// Format of local disks. Default: Nova's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images_type: Option<ImagesType>,
    /// When changed pods replace running ones. Default: `OnDelete`, since a restart touches every instance of a host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_strategy: Option<UpdateStrategy>,
}

/// How guests are accelerated.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VirtualizationType {
    /// By the processor.
    Kvm,
    /// Not at all.
    Qemu,
}

/// How guests see the CPU.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CpuMode {
    /// Like the host, by libvirt's nearest model.
    HostModel,
    /// Exactly the host.
    HostPassthrough,
    /// One of the listed models.
    Custom,
    /// The hypervisor's default.
    None,
}

/// Format of local disks.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ImagesType {
    /// Nova decides.
    Default,
    /// qcow2 with a shared base.
    Qcow2,
    /// Raw.
    Raw,
    /// Raw or qcow2 without a shared base.
    Flat,
}

/// When changed pods replace running ones.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum UpdateStrategy {
    /// One after the other, at once.
    RollingUpdate,
    /// When somebody deletes the old one.
    OnDelete,
}

/// The Neutron metadata agent of a compute cluster.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MetadataAgent {
    /// Image repository. Default: `ghcr.io/c5c3/neutron`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_repository: Option<String>,
    /// Image tag. Default: the OpenStack release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_tag: Option<String>,
    /// Secret on the compute cluster with the CA of the metadata host (key `ca.crt`). Default: `nova-metadata-ca`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_authority_secret: Option<String>,
}

/// libvirt's certificates. One CA serves all clusters whose hosts exchange instances.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Libvirt {
    /// Namespace on the compute cluster for host certificates and their issuer; never one that the operators may enter. Default: `hypervisor-system`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_namespace: Option<String>,
    /// The migration domain: clusters that name the same one share the CA. Default: the name of the control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migration_domain: Option<String>,
}

/// The operators that run on a compute cluster; both or none.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NodeOperators {
    /// Release of `openstack-hypervisor-operator`.
    pub hypervisor_operator: ChartRelease,
    /// Release of `kvm-node-agent`.
    pub node_agent: ChartRelease,
}

/// Which chart is released.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ChartRelease {
    /// Tag of the chart.
    pub tag: String,
    /// Digest of the chart (`sha256:…`); pins what the tag pointed at. Default: the tag alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}
