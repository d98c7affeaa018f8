//! Conventions of compute clusters.

use std::collections::BTreeMap;

use c5c3_api::topology::{
    ComputeCluster, ControlPlane, CpuMode, HypervisorType, ImagesType, LibvirtDeployment, NodeOperators,
    NodeSelector, Pool, PortRange, UpdateStrategy, VirtualizationType,
};

use super::super::conventions::{Attachment, ResolvedHost, is_draining, resolve_hosts};
use crate::conventions::{ResolvedManagement, names};

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
    /// libvirt.
    pub libvirt: ResolvedLibvirt,
    /// Operators on the cluster, when declared.
    pub operators: Option<NodeOperators>,
}

/// libvirt on a compute cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedLibvirt {
    /// Namespace of host certificates.
    pub certificate_namespace: String,
    /// The migration domain.
    pub migration_domain: String,
    /// Key of its CA in the secret store.
    pub ca_key: String,
    /// Who runs libvirtd.
    pub deployment: LibvirtDeployment,
    /// Image with libvirtd and virsh.
    pub image: Option<String>,
    /// Ports of migrations.
    pub migration_ports: PortRange,
    /// Address of libvirtd for the node agent.
    pub uri: &'static str,
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
    /// Whether it is being emptied.
    pub draining: bool,
    /// Nodes.
    pub node_selector: NodeSelector,
    /// Acceleration; left to Nova where libvirt's own driver is not used.
    pub virtualization: Option<&'static str>,
    /// Image, when not Nova's: repository and tag.
    pub image: Option<(String, String)>,
    /// CPU mode.
    pub cpu_mode: Option<CpuMode>,
    /// CPU models.
    pub cpu_models: Vec<String>,
    /// Disk format.
    pub images_type: Option<ImagesType>,
    /// Update strategy.
    pub update_strategy: &'static str,
    /// Availability zone.
    pub availability_zone: Option<String>,
    /// Traits.
    pub traits: Vec<String>,
    /// Nodes that are labelled.
    pub hosts: Vec<ResolvedHost>,
}

pub(crate) fn resolve(
    declared: &ComputeCluster,
    field: &str,
    control_plane: &ControlPlane,
    management: &ResolvedManagement,
) -> Compute {
    let attachment = Attachment::resolve(
        &declared.name,
        field,
        declared.local,
        declared.lifecycle,
        declared.access.as_ref(),
        declared.chassis.as_ref(),
        None,
    );
    let agent = declared.metadata_agent.clone().unwrap_or_default();
    let hypervisor = declared.hypervisor.unwrap_or(HypervisorType::Kvm);
    let pools = declared.pools.iter().enumerate().map(|(index, pool)| {
        resolve_pool(
            pool,
            &format!("{field}.pools[{index}]"),
            &attachment,
            hypervisor,
            &control_plane.release,
        )
    });
    Compute {
        hypervisor,
        pools: pools.collect(),
        metadata_agent: format!("{}-metadata", declared.name),
        metadata_image_repository: agent
            .image_repository
            .unwrap_or_else(|| "ghcr.io/c5c3/neutron".to_owned()),
        metadata_image_tag: agent.image_tag.unwrap_or_else(|| control_plane.release.clone()),
        metadata_ca_secret: agent
            .certificate_authority_secret
            .unwrap_or_else(|| "nova-metadata-ca".to_owned()),
        libvirt: libvirt(declared, hypervisor, control_plane, management),
        operators: declared.operators.clone(),
        attachment,
    }
}

fn libvirt(
    declared: &ComputeCluster,
    hypervisor: HypervisorType,
    control_plane: &ControlPlane,
    management: &ResolvedManagement,
) -> ResolvedLibvirt {
    let declared = declared.libvirt.clone().unwrap_or_default();
    let domain = declared.migration_domain.unwrap_or_else(|| match hypervisor {
        HypervisorType::Kvm => control_plane.name.clone(),
        // Instances never move between the two kinds.
        HypervisorType::CloudHypervisor => format!("{}-ch", control_plane.name),
    });
    ResolvedLibvirt {
        certificate_namespace: declared
            .certificate_namespace
            .unwrap_or_else(|| "hypervisor-system".to_owned()),
        ca_key: management.secret_key(&["libvirt", &domain, "ca"]),
        migration_domain: domain,
        deployment: declared.deployment.unwrap_or(LibvirtDeployment::HostImage),
        image: declared.image,
        migration_ports: declared.migration_ports.unwrap_or(PortRange { first: 49_152, last: 49_215 }),
        uri: match hypervisor {
            HypervisorType::Kvm => "qemu:///system",
            HypervisorType::CloudHypervisor => "ch:///system",
        },
    }
}

fn resolve_pool(
    declared: &Pool,
    field: &str,
    attachment: &Attachment,
    hypervisor: HypervisorType,
    release: &str,
) -> ResolvedPool {
    let node_selector = declared.node_selector.clone().unwrap_or_else(|| {
        let mut labels = attachment.chassis.node_selector.clone();
        labels.insert(names::POOL_LABEL.to_owned(), declared.name.clone());
        labels
    });
    let virtualization = match (declared.virtualization, hypervisor) {
        (Some(VirtualizationType::Kvm), _) | (None, HypervisorType::Kvm) => Some("kvm"),
        (Some(VirtualizationType::Qemu), _) => Some("qemu"),
        (None, HypervisorType::CloudHypervisor) => None,
    };
    let (labels, annotations) = node_marks(declared, hypervisor, &node_selector);
    ResolvedPool {
        field: field.to_owned(),
        pool: declared.name.clone(),
        name: format!("{}-{}", attachment.cluster, declared.name),
        draining: attachment.draining || is_draining(declared.lifecycle),
        virtualization,
        image: declared.image.clone().map(|image| {
            let tag = image.tag.unwrap_or_else(|| release.to_owned());
            (image.repository, tag)
        }),
        cpu_mode: declared.cpu_mode,
        cpu_models: declared.cpu_models.clone(),
        images_type: declared.images_type,
        update_strategy: match declared.update_strategy.unwrap_or(UpdateStrategy::OnDelete) {
            UpdateStrategy::RollingUpdate => "RollingUpdate",
            UpdateStrategy::OnDelete => "OnDelete",
        },
        availability_zone: declared.availability_zone.clone(),
        traits: declared.traits.clone(),
        hosts: resolve_hosts(&declared.hosts, field, &labels, &annotations),
        node_selector,
    }
}

type Marks = BTreeMap<String, String>;

/// What upstream's operators read from the nodes of a pool.
fn node_marks(declared: &Pool, hypervisor: HypervisorType, selector: &NodeSelector) -> (Marks, Marks) {
    let mut labels = selector.clone();
    let driver = match hypervisor {
        HypervisorType::Kvm => "kvm",
        HypervisorType::CloudHypervisor => "ch",
    };
    labels.insert(names::DRIVER_LABEL.to_owned(), driver.to_owned());
    let tests = declared.onboarding_tests.unwrap_or(false);
    let lifecycle = if tests { "run-tests" } else { "skip-tests" };
    labels.insert(names::LIFECYCLE_LABEL.to_owned(), lifecycle.to_owned());
    if let Some(zone) = &declared.availability_zone {
        labels.insert(names::ZONE_LABEL.to_owned(), zone.clone());
    }
    let mut annotations = BTreeMap::new();
    for (key, list) in
        [(names::TRAITS_ANNOTATION, &declared.traits), (names::AGGREGATES_ANNOTATION, &declared.aggregates)]
    {
        if !list.is_empty() {
            annotations.insert(key.to_owned(), list.join(","));
        }
    }
    (labels, annotations)
}
