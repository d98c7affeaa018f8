//! `os-hypervisors`: one for each host that has a nova-compute.

use serde_json::{Value, json};
use uuid::Uuid;

use super::super::answer::Refusal;
use super::super::microversion::Microversion;
use super::super::pages;
use super::super::query::Query;
use super::Call;
use crate::model::{CloudState, ComputeService, Host, HostState};

/// From here on ids are UUIDs.
const UUIDS: Microversion = Microversion(2, 53);

/// From here on capacity is Placement's business and `uptime` is part of the body.
const SMALL: Microversion = Microversion(2, 88);

/// `GET /os-hypervisors` and `/os-hypervisors/detail`.
pub(super) fn list(call: &Call<'_>, detailed: bool) -> Result<Value, Refusal> {
    let known = ["limit", "marker", "hypervisor_hostname_pattern", "with_servers"];
    let query = Query::of(&call.request.uri, &known)?;
    let pattern = query.get("hypervisor_hostname_pattern");
    if pattern.is_some() && (query.get("limit").is_some() || query.get("marker").is_some()) {
        return Err(Refusal::bad_request(
            "Paging over hypervisors with the hypervisor_hostname_pattern query parameter is not supported.",
        ));
    }
    let with_servers = query.is_true("with_servers");
    let rows: Vec<(String, Value)> = call.openstack.fleet.cloud.read(|cloud| {
        let hosts = call.openstack.fleet.hosts.iter().enumerate();
        hosts
            .filter(|(_, host)| pattern.is_none_or(|pattern| host.name.contains(pattern)))
            .filter_map(|(index, host)| {
                let service = cloud.services.get(&host.name)?;
                let row = row(call, index, host, service, cloud, detailed, with_servers);
                Some((id(call.version, index, host).to_string().trim_matches('"').to_owned(), row))
            })
            .collect()
    });
    match pattern {
        Some(pattern) if rows.is_empty() => {
            let message = format!("No hypervisor matching '{pattern}' could be found.");
            Err(Refusal::not_found(&message))
        }
        _ => pages::page("hypervisors", &call.url(), &query, call.page_limit(), rows),
    }
}

/// `GET /os-hypervisors/{id}`.
pub(super) fn show(call: &Call<'_>, text: &str) -> Result<Value, Refusal> {
    let query = Query::of(&call.request.uri, &["with_servers"])?;
    if call.version >= UUIDS && text.parse::<Uuid>().is_err() {
        return Err(Refusal::bad_request(&format!("Invalid uuid {text}")));
    }
    let found = call.openstack.fleet.cloud.read(|cloud| {
        let mut hosts = call.openstack.fleet.hosts.iter().enumerate();
        let (index, host) = hosts
            .find(|(index, host)| id(call.version, *index, host).to_string().trim_matches('"') == text)?;
        let service = cloud.services.get(&host.name)?;
        Some(row(call, index, host, service, cloud, true, query.is_true("with_servers")))
    });
    match found {
        Some(row) => Ok(json!({"hypervisor": row})),
        None => {
            let message = format!("Hypervisor with ID '{text}' could not be found.");
            Err(Refusal::not_found(&message))
        }
    }
}

fn id(version: Microversion, index: usize, host: &Host) -> Value {
    if version >= UUIDS { json!(host.uuid) } else { json!(index + 1) }
}

fn row(
    call: &Call<'_>,
    index: usize,
    host: &Host,
    service: &ComputeService,
    cloud: &CloudState,
    detailed: bool,
    with_servers: bool,
) -> Value {
    let up = service.up && !service.forced_down;
    let mut row = json!({
        "id": id(call.version, index, host),
        "hypervisor_hostname": host.name,
        "state": if up { "up" } else { "down" },
        "status": if service.enabled { "enabled" } else { "disabled" },
    });
    let service_id = if call.version >= UUIDS { json!(service.uuid) } else { json!(index + 1) };
    let service = json!({"id": service_id, "host": host.name, "disabled_reason": service.disabled_reason});
    host.read(|state| {
        let Some(keys) = row.as_object_mut() else { return };
        if detailed {
            keys.insert("hypervisor_type".to_owned(), json!("QEMU"));
            keys.insert("hypervisor_version".to_owned(), json!(state.hardware.hypervisor_version));
            keys.insert("host_ip".to_owned(), json!(state.hardware.ip));
            keys.insert("service".to_owned(), service);
            if call.version >= SMALL {
                let line = " 12:00:00 up  1:00,  0 user,  load average: 0.10, 0.10, 0.10\n";
                keys.insert("uptime".to_owned(), if up { json!(line) } else { Value::Null });
            } else if let Value::Object(capacity) = capacity(state) {
                keys.extend(capacity);
            }
        }
        if with_servers && !cloud.api.unreachable.contains(&host.name) {
            let servers = state.domains.values().filter(|domain| domain.server_name.is_some());
            let servers: Vec<Value> =
                servers.map(|domain| json!({"name": domain.name, "uuid": domain.uuid})).collect();
            keys.insert("servers".to_owned(), json!(servers));
        }
    });
    row
}

/// The fields that went away at 2.88.
fn capacity(state: &HostState) -> Value {
    let servers = || state.domains.values().filter(|domain| domain.server_name.is_some());
    let memory = state.hardware.memory_kib / 1024;
    let used = servers().map(|domain| domain.max_memory_kib / 1024).sum::<u64>() + 512;
    json!({
        "vcpus": state.hardware.cpus,
        "vcpus_used": servers().map(|domain| u64::from(domain.vcpus)).sum::<u64>(),
        "memory_mb": memory,
        "memory_mb_used": used,
        "free_ram_mb": memory.saturating_sub(used),
        "local_gb": 0, "local_gb_used": 0, "free_disk_gb": 0, "disk_available_least": null,
        "running_vms": servers().filter(|domain| domain.state.is_active()).count(),
        "current_workload": servers().filter(|domain| domain.id.is_none()).count(),
        "cpu_info": {"arch": state.hardware.arch, "vendor": "Simulated", "model": "Fleet", "features": [],
            "topology": {"cells": state.hardware.numa_cells}},
    })
}
