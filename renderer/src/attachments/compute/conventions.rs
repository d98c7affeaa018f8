//! Conventions of compute clusters.

use c5c3_api::topology::{
    ComputeCluster, ControlPlane, CpuMode, HypervisorType, ImagesType, NodeOperators, NodeSelector, Pool,
    UpdateStrategy, VirtualizationType,
};

use super::network::{Attachment, attachment};
use super::{ResolvedManagement, names};

/// A compute cluster, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Compute {
    /// What it shares with network clusters.
    pub attachment: Attachment,
    /// What runs the instances.
    pub hypervisor: HypervisorType,
    /// Pools.
    pub pools: Vec<ResolvedPool>,
    /// Name of the `NeutronMetadataAgent`.
    pub metadata_agent: String,
    /// Image repository of the agent.
    pub metadata_image_repository: String,
    /// Image tag of the agent.
    pub metadata_image_tag: String,
    /// Secret on the cluster with the CA of the metadata host.
    pub metadata_ca_secret: String,
    /// Namespace of host certificates.
    pub certificate_namespace: String,
    /// Key of the libvirt CA in the secret store.
    pub libvirt_ca_key: String,
    /// Operators on the cluster, when declared.
    pub operators: Option<NodeOperators>,
}

/// A pool, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedPool {
    /// Path of its entry in the document.
    pub field: String,
    /// Name of the pool.
    pub pool: String,
    /// Name of the `NovaCompute`.
    pub name: String,
    /// Nodes.
    pub node_selector: NodeSelector,
    /// Acceleration.
    pub virtualization: &'static str,
    /// CPU mode.
    pub cpu_mode: Option<CpuMode>,
    /// CPU models.
    pub cpu_models: Vec<String>,
    /// Disk format.
    pub images_type: Option<ImagesType>,
    /// Update strategy.
    pub update_strategy: &'static str,
}

pub(super) fn resolve(
    declared: &ComputeCluster,
    field: &str,
    control_plane: &ControlPlane,
    management: &ResolvedManagement,
) -> Compute {
    let attachment =
        attachment(&declared.name, field, declared.access.as_ref(), declared.chassis.as_ref(), None);
    let agent = declared.metadata_agent.clone().unwrap_or_default();
    let libvirt = declared.libvirt.clone().unwrap_or_default();
    let domain = libvirt.migration_domain.unwrap_or_else(|| control_plane.name.clone());
    Compute {
        hypervisor: declared.hypervisor.unwrap_or(HypervisorType::Kvm),
        pools: declared
            .pools
            .iter()
            .enumerate()
            .map(|(index, pool)| resolve_pool(pool, &format!("{field}.pools[{index}]"), &attachment))
            .collect(),
        metadata_agent: format!("{}-metadata", declared.name),
        metadata_image_repository: agent
            .image_repository
            .unwrap_or_else(|| "ghcr.io/c5c3/neutron".to_owned()),
        metadata_image_tag: agent.image_tag.unwrap_or_else(|| control_plane.release.clone()),
        metadata_ca_secret: agent
            .certificate_authority_secret
            .unwrap_or_else(|| "nova-metadata-ca".to_owned()),
        certificate_namespace: libvirt
            .certificate_namespace
            .unwrap_or_else(|| "hypervisor-system".to_owned()),
        libvirt_ca_key: management.secret_key(&["libvirt", &domain, "ca"]),
        operators: declared.operators.clone(),
        attachment,
    }
}

fn resolve_pool(declared: &Pool, field: &str, attachment: &Attachment) -> ResolvedPool {
    let node_selector = declared.node_selector.clone().unwrap_or_else(|| {
        let mut labels = attachment.chassis.node_selector.clone();
        labels.insert(names::POOL_LABEL.to_owned(), declared.name.clone());
        labels
    });
    ResolvedPool {
        field: field.to_owned(),
        pool: declared.name.clone(),
        name: format!("{}-{}", attachment.cluster, declared.name),
        node_selector,
        virtualization: match declared.virtualization.unwrap_or(VirtualizationType::Kvm) {
            VirtualizationType::Kvm => "kvm",
            VirtualizationType::Qemu => "qemu",
        },
        cpu_mode: declared.cpu_mode,
        cpu_models: declared.cpu_models.clone(),
        images_type: declared.images_type,
        update_strategy: match declared.update_strategy.unwrap_or(UpdateStrategy::OnDelete) {
            UpdateStrategy::RollingUpdate => "RollingUpdate",
            UpdateStrategy::OnDelete => "OnDelete",
        },
    }
}
