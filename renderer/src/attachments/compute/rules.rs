//! Attachments: what a compute cluster must say, and what is not rendered yet.

use c5c3_api::topology::{CpuMode, HypervisorType};

use super::{Report, Rule, Subject};

pub(super) const RULES: &[Rule] = &[
    Rule { id: "hypervisor-supported", summary: "Only KVM is rendered today.", check: hypervisor },
    Rule { id: "pools-declared", summary: "A compute cluster has a pool.", check: pools },
    Rule {
        id: "cpu-models",
        summary: "CPU models go with `cpuMode: custom`, and only with it.",
        check: cpu_models,
    },
];

fn hypervisor(subject: &Subject<'_>, report: &mut Report<'_>) {
    for compute in subject.resolved.control_planes.iter().flat_map(|control_plane| &control_plane.compute) {
        if compute.hypervisor != HypervisorType::Kvm {
            let hint = "upstream's NovaCompute runs kvm and qemu only";
            report.add(
                format!("{}.hypervisor", compute.attachment.field),
                "Cloud Hypervisor clusters are not rendered yet",
                Some(hint.to_owned()),
            );
        }
    }
}

fn pools(subject: &Subject<'_>, report: &mut Report<'_>) {
    for compute in subject.resolved.control_planes.iter().flat_map(|control_plane| &control_plane.compute) {
        if compute.pools.is_empty() {
            let hint = "for example `- name: pool1`";
            report.add(
                format!("{}.pools", compute.attachment.field),
                "a compute cluster without a pool runs nothing",
                Some(hint.to_owned()),
            );
        }
    }
}

fn cpu_models(subject: &Subject<'_>, report: &mut Report<'_>) {
    let characters = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let computes = subject.resolved.control_planes.iter().flat_map(|control_plane| &control_plane.compute);
    for pool in computes.flat_map(|compute| &compute.pools) {
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
