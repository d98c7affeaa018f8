//! A Hypervisor from everything known about its host.

use std::collections::BTreeMap;

use c5c3_api::hypervisor::{
    Aggregate, Capabilities, Cell, ComputeService, DomainCapabilities, HypervisorSpec, HypervisorStatus,
    Instance, OperatingSystem, ResourceList, resource,
};
use c5c3_api::{Hypervisor, quantity};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};

use super::identity::{hypervisor_uid, pruned, time, with_stored};
use super::node_share::node_share;
use super::source_status::source;
use super::{CloudView, HostView, effective_spec, findings, hypervisor_conditions};
use crate::intent::IntentRecord;
use crate::sources::picture::{LibvirtPicture, NodePicture};

/// The Hypervisor of a host. `earlier` is the status shown before: transition times are carried over from it.
pub fn hypervisor(
    host: &HostView<'_>,
    cloud: &CloudView<'_>,
    earlier: Option<&HypervisorStatus>,
) -> Hypervisor {
    let spec = effective_spec(host.node.value(), host.intent.map(IntentRecord::spec));
    let metadata = metadata(host);
    let mut status =
        HypervisorStatus { observed_generation: metadata.generation, ..HypervisorStatus::default() };
    if let Some(libvirt) = host.libvirt.value() {
        from_libvirt(libvirt, &spec, &mut status);
    }
    status.operating_system = operating_system(host.libvirt.value(), host.node.value());
    status.internal_ip = host.node.value().and_then(|node| node.internal_ip.clone());
    from_nova(host, cloud, &mut status);
    status.findings = findings::findings(host, cloud, &status, earlier);
    status.conditions = hypervisor_conditions::conditions(host, cloud, &spec, &status, earlier);
    status.sources = vec![
        source(c5c3_api::source::name::LIBVIRT, host.libvirt),
        source(c5c3_api::source::name::NODE, host.node),
        source(c5c3_api::source::name::NOVA, cloud.compute),
        source(c5c3_api::source::name::OVSDB, host.switch),
        source(c5c3_api::source::name::PLACEMENT, cloud.memberships),
    ];
    Hypervisor { metadata, spec, status: Some(status) }
}

fn metadata(host: &HostView<'_>) -> ObjectMeta {
    let mut own_labels: BTreeMap<String, String> = host.configured_labels.clone();
    own_labels.extend(host.transferred_labels());
    let owner = host.node.value().map(|node| OwnerReference {
        api_version: "v1".to_owned(),
        kind: "Node".to_owned(),
        name: host.name.to_owned(),
        uid: node.uid.clone(),
        block_owner_deletion: Some(true),
        controller: None,
    });
    let computed = ObjectMeta {
        name: Some(host.name.to_owned()),
        uid: Some(hypervisor_uid(host)),
        creation_timestamp: Some(time(host.incarnation.created)),
        // The generation of a spec that nobody has touched; who stores one counts on from there.
        generation: Some(1),
        labels: Some(own_labels),
        owner_references: owner.map(|owner| vec![owner]),
        ..ObjectMeta::default()
    };
    let mut metadata = match host.intent {
        Some(record) => with_stored(computed, record),
        None => computed,
    };
    if let Some(node) = host.node.value() {
        let spec = host.intent.map(IntentRecord::spec);
        let labels = host.intent.map(IntentRecord::labels).unwrap_or_default();
        let since = time(host.incarnation.created);
        let share = node_share(node, &host.transferred_labels(), spec, &labels, since);
        metadata.managed_fields.get_or_insert_default().push(share);
    }
    pruned(metadata)
}

fn from_libvirt(libvirt: &LibvirtPicture, spec: &HypervisorSpec, status: &mut HypervisorStatus) {
    status.lib_virt_version.clone_from(&libvirt.libvirt_version);
    status.hypervisor_version.clone_from(&libvirt.hypervisor_version);
    let instance = |(id, domain): (&uuid::Uuid, &crate::sources::picture::DomainPicture)| Instance {
        id: id.to_string(),
        name: domain.name.clone(),
        active: domain.active,
    };
    status.instances = Some(libvirt.domains.iter().map(instance).collect());
    status.num_instances = i64::try_from(libvirt.domains.len()).ok();
    status.capabilities = Some(Capabilities {
        cpu_arch: libvirt.cpu_arch.clone(),
        memory: libvirt.memory_kib.map(quantity::memory_from_kibibytes),
        cpus: libvirt.cpus.map(quantity::whole_cores),
    });
    status.domain_capabilities = libvirt.domain_capabilities.as_ref().map(|found| DomainCapabilities {
        arch: found.arch.clone(),
        hypervisor_type: found.hypervisor_type.clone(),
        supported_devices: found.devices.clone(),
        supported_cpu_modes: found.cpu_modes.clone(),
        supported_features: found.features.clone(),
    });
    status.capacity = resources(libvirt.cpus, libvirt.memory_kib);
    status.effective_capacity = overcommitted(libvirt.cpus, libvirt.memory_kib, spec);
    let active = || libvirt.domains.values().filter(|domain| domain.active);
    // One domain of unknown size makes the sum unknown: too little would be a lie that a scheduler believes.
    let cpus: Option<u64> = active().map(|domain| domain.vcpus).sum();
    let memory: Option<u64> = active().map(|domain| domain.memory_kib).sum();
    status.allocation = resources(cpus, memory);
    let cells = libvirt.cells.iter().map(|cell| Cell {
        cell_id: cell.id,
        allocation: None,
        capacity: resources(cell.cpus, cell.memory_kib),
        effective_capacity: overcommitted(cell.cpus, cell.memory_kib, spec),
    });
    status.cells = Some(cells.collect()).filter(|cells: &Vec<Cell>| !cells.is_empty());
}

fn resources(cpus: Option<u64>, memory_kib: Option<u64>) -> Option<ResourceList> {
    let mut list = ResourceList::new();
    if let Some(cpus) = cpus {
        list.insert(resource::CPU.to_owned(), quantity::whole_cores(cpus));
    }
    if let Some(memory) = memory_kib {
        list.insert(resource::MEMORY.to_owned(), quantity::memory_from_kibibytes(memory));
    }
    Some(list).filter(|list| !list.is_empty())
}

fn overcommitted(cpus: Option<u64>, memory_kib: Option<u64>, spec: &HypervisorSpec) -> Option<ResourceList> {
    let ratio = |name: &str| spec.overcommit.get(name).copied();
    resources(
        cpus.map(|cpus| quantity::with_overcommit(cpus, ratio(resource::CPU))),
        memory_kib.map(|memory| quantity::with_overcommit(memory, ratio(resource::MEMORY))),
    )
}

fn operating_system(libvirt: Option<&LibvirtPicture>, node: Option<&NodePicture>) -> Option<OperatingSystem> {
    let system = libvirt.and_then(|libvirt| libvirt.system.as_ref());
    let found = OperatingSystem {
        pretty_version: node.and_then(|node| node.os_image.clone()),
        kernel_release: node.and_then(|node| node.kernel_version.clone()),
        hardware_vendor: system.and_then(|system| system.vendor.clone()),
        hardware_model: system.and_then(|system| system.model.clone()),
        hardware_serial: system.and_then(|system| system.serial.clone()),
        firmware_version: system.and_then(|system| system.firmware_version.clone()),
        firmware_vendor: system.and_then(|system| system.firmware_vendor.clone()),
        ..OperatingSystem::default()
    };
    Some(found).filter(|found| *found != OperatingSystem::default())
}

fn from_nova(host: &HostView<'_>, cloud: &CloudView<'_>, status: &mut HypervisorStatus) {
    if let Some(compute) = cloud.compute.value() {
        status.hypervisor_id = compute.hypervisors.get(host.nova_host).map(|found| found.id.clone());
        if let Some(service) = compute.services.get(host.nova_host) {
            status.service_id = Some(service.id.clone());
            status.compute_service = Some(ComputeService {
                host: Some(host.nova_host.to_owned()),
                state: service.state.clone(),
                status: service.status.clone(),
                disabled_reason: service.disabled_reason.clone(),
                forced_down: service.forced_down,
            });
        }
    }
    if let Some(memberships) = cloud.memberships.value() {
        let aggregates = memberships.aggregates.get(host.nova_host).map(Vec::as_slice).unwrap_or_default();
        let aggregate = |found: &crate::sources::picture::NovaAggregate| Aggregate {
            name: found.name.clone(),
            uuid: found.uuid.clone(),
            metadata: found.metadata.clone(),
        };
        status.aggregates = Some(aggregates.iter().map(aggregate).collect());
        let traits = status.hypervisor_id.as_ref().and_then(|id| memberships.traits.get(id));
        status.traits = traits.cloned();
    }
}
