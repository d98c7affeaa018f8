//! Rules of compute clusters.

use std::collections::BTreeMap;

use c5c3_api::topology::{CpuMode, HypervisorType, LibvirtDeployment};

use super::{Compute, ResolvedPool};
use crate::rules::{Report, Rule, Subject};

pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: "pools-declared",
        summary: "A compute cluster has a pool.",
        why: "Without one nothing runs instances, and everything else of the cluster is there for nothing.",
        mend: "For example `pools: [{name: pool1}]`.",
        check: pools,
    },
    Rule {
        id: "cpu-models",
        summary: "CPU models go with `cpuMode: custom`, and only with it.",
        why: "Nova refuses to start otherwise.",
        mend: "Add `cpuMode: custom`, or remove the models.",
        check: cpu_models,
    },
    Rule {
        id: "cloud-hypervisor",
        summary: "Pools of a Cloud Hypervisor cluster name an image and no options of KVM.",
        why: "Upstream's nova-compute drives kvm and qemu only, and passes these options to them.",
        mend: "Set `image` of the pool to a nova-compute that drives Cloud Hypervisor; remove `virtualization`, `cpuMode` and `imagesType`.",
        check: cloud_hypervisor,
    },
    Rule {
        id: "libvirt-image",
        summary: "A libvirt DaemonSet names its image.",
        why: "There is no image that fits every host; it must be the libvirt that your instances were started by.",
        mend: "Set `libvirt.image`, or `deployment: HostImage`.",
        check: libvirt_image,
    },
    Rule {
        id: "migration-ports",
        summary: "Migration ports are a range above 1024 without libvirt's own port.",
        why: "Every running migration takes one of them, and firewalls are opened for exactly this range.",
        mend: "For example `{first: 49152, last: 49215}`.",
        check: migration_ports,
    },
    Rule {
        id: "zone-migratable",
        summary: "Pools of one availability zone can exchange instances.",
        why: "Nova moves instances within a zone; between hypervisor types, CPU models or libvirt CAs the move fails half way.",
        mend: "Give the pools the same hypervisor, CPU mode, models and migration domain, or different zones.",
        check: zones,
    },
    Rule {
        id: "traits-format",
        summary: "Traits begin with `CUSTOM_`; zones and aggregates have no comma.",
        why: "Placement refuses other traits, and the lists are joined by commas.",
        mend: "For example `CUSTOM_GOLD`.",
        check: traits,
    },
    Rule {
        id: "hosts-unique",
        summary: "A host is listed once on its cluster, by the name of its node.",
        why: "Two entries would set its labels in turns.",
        mend: "Keep one of them.",
        check: hosts,
    },
];

fn computes<'topology>(subject: &Subject<'topology>) -> impl Iterator<Item = &'topology Compute> {
    subject.resolved.control_planes.iter().flat_map(|control_plane| &control_plane.compute)
}

fn pools(subject: &Subject<'_>, report: &mut Report<'_>) {
    for compute in computes(subject).filter(|compute| compute.pools.is_empty()) {
        let field = format!("{}.pools", compute.attachment.field);
        report.add(field, "a compute cluster without a pool runs nothing", None);
    }
}

fn cpu_models(subject: &Subject<'_>, report: &mut Report<'_>) {
    let characters = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    for pool in computes(subject).flat_map(|compute| &compute.pools) {
        let custom = pool.cpu_mode == Some(CpuMode::Custom);
        let field = format!("{}.cpuModels", pool.field);
        if custom && pool.cpu_models.is_empty() {
            report.add(field, "`cpuMode: custom` needs at least one model", None);
        } else if !custom && !pool.cpu_models.is_empty() {
            report.add(field, "models are used with `cpuMode: custom` only", None);
        } else if let Some(model) =
            pool.cpu_models.iter().find(|model| model.is_empty() || !model.bytes().all(characters))
        {
            report.add(field, format!("{model:?} is not a CPU model"), None);
        }
    }
}

fn cloud_hypervisor(subject: &Subject<'_>, report: &mut Report<'_>) {
    for compute in computes(subject).filter(|entry| entry.hypervisor == HypervisorType::CloudHypervisor) {
        for pool in &compute.pools {
            if pool.image.is_none() {
                report.add(
                    format!("{}.image", pool.field),
                    "Nova's own image does not drive Cloud Hypervisor",
                    None,
                );
            }
            let options = [
                ("virtualization", pool.virtualization.is_some()),
                ("cpuMode", pool.cpu_mode.is_some()),
                ("imagesType", pool.images_type.is_some()),
            ];
            for (name, _) in options.iter().filter(|(_, set)| *set) {
                report.add(format!("{}.{name}", pool.field), "is an option of KVM", None);
            }
        }
    }
}

fn libvirt_image(subject: &Subject<'_>, report: &mut Report<'_>) {
    for compute in computes(subject) {
        if compute.libvirt.deployment == LibvirtDeployment::DaemonSet && compute.libvirt.image.is_none() {
            report.add(
                format!("{}.libvirt.image", compute.attachment.field),
                "the DaemonSet has no image",
                None,
            );
        }
    }
}

fn migration_ports(subject: &Subject<'_>, report: &mut Report<'_>) {
    for compute in computes(subject) {
        let ports = compute.libvirt.migration_ports;
        let own = (ports.first..=ports.last.min(65_535)).contains(&16_514);
        if ports.first < 1024 || ports.last > 65_535 || ports.first > ports.last || own {
            let message = format!("{} to {} is no range for migrations", ports.first, ports.last);
            report.add(format!("{}.libvirt.migrationPorts", compute.attachment.field), message, None);
        }
    }
}

fn zones(subject: &Subject<'_>, report: &mut Report<'_>) {
    for plane in &subject.resolved.control_planes {
        let mut first_of: BTreeMap<&str, (&Compute, &ResolvedPool)> = BTreeMap::new();
        for compute in &plane.compute {
            for pool in &compute.pools {
                let Some(zone) = &pool.availability_zone else {
                    continue;
                };
                let (other, first) = *first_of.entry(zone).or_insert((compute, pool));
                let alike = other.hypervisor == compute.hypervisor
                    && other.libvirt.migration_domain == compute.libvirt.migration_domain
                    && first.cpu_mode == pool.cpu_mode
                    && first.cpu_models == pool.cpu_models;
                if !alike {
                    let message =
                        format!("cannot exchange instances with {:?} in the zone {zone:?}", first.name);
                    report.add(format!("{}.availabilityZone", pool.field), message, None);
                }
            }
        }
    }
}

fn traits(subject: &Subject<'_>, report: &mut Report<'_>) {
    let is_trait = |name: &str| {
        name.strip_prefix("CUSTOM_").is_some_and(|rest| !rest.is_empty())
            && name.len() <= 255
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let declared = subject.declared.spec.control_planes.iter().zip(&subject.resolved.control_planes);
    for (declared, plane) in declared {
        for (compute, resolved) in declared.compute.iter().zip(&plane.compute) {
            for (pool, resolved) in compute.pools.iter().zip(&resolved.pools) {
                for (index, name) in pool.traits.iter().enumerate().filter(|(_, name)| !is_trait(name)) {
                    report.add(
                        format!("{}.traits[{index}]", resolved.field),
                        format!("{name:?} is not a trait"),
                        None,
                    );
                }
                for (index, name) in pool.aggregates.iter().enumerate() {
                    if name.is_empty() || name.contains(',') {
                        let message = format!("{name:?} cannot name an aggregate");
                        report.add(format!("{}.aggregates[{index}]", resolved.field), message, None);
                    }
                }
            }
        }
    }
}

fn hosts(subject: &Subject<'_>, report: &mut Report<'_>) {
    let management = subject.resolved.management.name.as_str();
    let mut seen: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for plane in &subject.resolved.control_planes {
        let place = |local: bool, cluster| if local { management } else { cluster };
        let compute = plane.compute.iter().flat_map(|entry| {
            let cluster = place(entry.attachment.local, entry.attachment.cluster.as_str());
            entry.pools.iter().flat_map(|pool| &pool.hosts).map(move |host| (cluster, host))
        });
        let network = plane.network.iter().flat_map(|entry| {
            let cluster = place(entry.attachment.local, entry.attachment.cluster.as_str());
            entry.hosts.iter().map(move |host| (cluster, host))
        });
        let storage = plane.storage.iter().flat_map(|entry| {
            let cluster = place(entry.local, entry.cluster.as_str());
            entry.hosts.iter().map(move |host| (cluster, host))
        });
        for (cluster, host) in compute.chain(network).chain(storage) {
            let field = format!("{}.name", host.field);
            if !crate::rules::is_dns_subdomain(&host.name) {
                report.add(field, format!("{:?} cannot be the name of a node", host.name), None);
            } else if let Some(first) = seen.insert((cluster, &host.name), &host.field) {
                let hint = format!("first listed at {}", report.place(first));
                report.add(field, format!("{:?} is listed twice", host.name), Some(hint));
            }
        }
    }
}
