//! A cluster of hypervisors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Chassis, Host, Lifecycle, NodeSelector};

/// A cluster whose nodes run instances.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ComputeCluster {
    /// Name of the cluster, unique in the topology; its registration and every `targetClusterRef` use it. A DNS label.
    pub name: String,
    /// Whether it is the management cluster itself, as in a lab: nothing is connected or registered then. Default: `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<bool>,
    /// Whether the cluster is in use or being emptied. Default: `Attached`. Only what was `Draining` can be removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
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
    /// Cloud Hypervisor, through libvirt. Pools need an image whose Nova drives it; upstream's own does not.
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
    /// Image of nova-compute. Default: the one of Nova.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<PoolImage>,
    /// Whether the pool is in use or being emptied. Default: that of its cluster. Only what was `Draining` can be removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
    /// Availability zone of the pool's hosts. Default: what their node labels say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability_zone: Option<String>,
    /// Host aggregates that the pool's hosts join. Default: none but their zone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aggregates: Vec<String>,
    /// Traits of the pool's hosts, each beginning with `CUSTOM_`. They must exist in Placement. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traits: Vec<String>,
    /// Whether new hosts run test instances before they are used. Default: `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onboarding_tests: Option<bool>,
    /// Nodes whose labels and annotations the renderer sets from all of this. Default: whoever makes the nodes sets them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<Host>,
    /// When changed pods replace running ones. Default: `OnDelete`, since a restart touches every instance of a host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_strategy: Option<UpdateStrategy>,
}

/// An image of nova-compute.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PoolImage {
    /// Repository.
    pub repository: String,
    /// Tag. Default: the OpenStack release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
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
    /// Who runs libvirtd. Default: `HostImage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<LibvirtDeployment>,
    /// Image with libvirtd and `virsh`. Needed for `DaemonSet`, and to hand Ceph keys to libvirt. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Ports that running instances are migrated through. Default: 49152 to 49215.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migration_ports: Option<PortRange>,
    /// The migration domain: clusters that name the same one share the CA. Default: the name of the control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migration_domain: Option<String>,
}

/// Who runs libvirtd.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum LibvirtDeployment {
    /// The image of the host, as a system service.
    HostImage,
    /// A DaemonSet on the nodes of each pool.
    DaemonSet,
}

/// Ports, both ends included.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PortRange {
    /// First.
    pub first: u32,
    /// Last.
    pub last: u32,
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
