//! `servers/detail`: the domains that Nova knows.

use serde_json::{Map, Value, json};

use super::super::answer::Refusal;
use super::super::keystone::{project_id_of, user_id_of};
use super::super::pages;
use super::super::query::Query;
use super::services::zone;
use super::{Call, time};
use crate::model::{CloudState, Domain, Host, JobKind};

/// `GET /servers/detail`.
pub(super) fn list(call: &Call<'_>) -> Result<Value, Refusal> {
    let query = Query::of(&call.request.uri, &["all_tenants", "host", "node", "status", "limit", "marker"])?;
    let admin = call.is_admin();
    if query.is_true("all_tenants") && !admin {
        return Err(Refusal::forbidden("os_compute_api:servers:detail:get_all_tenants"));
    }
    // Without the right to see hosts, the filter is ignored and nothing says so.
    let wanted = query.get("host").or(query.get("node")).filter(|_| admin);
    let mut rows: Vec<(String, Value)> = Vec::new();
    for host in
        call.openstack.fleet.hosts.iter().filter(|host| wanted.is_none_or(|wanted| wanted == host.name))
    {
        let domains: Vec<Domain> =
            host.read(|state| state.domains.values().filter(|domain| is_here(domain)).cloned().collect());
        call.openstack.fleet.cloud.read(|cloud| {
            rows.extend(
                domains.iter().map(|domain| (domain.uuid.to_string(), row(call, cloud, host, domain, admin))),
            );
        });
    }
    rows.retain(|(_, row)| {
        query.get("status").is_none_or(|status| row.get("status").and_then(Value::as_str) == Some(status))
    });
    rows.sort_by(|(one, _), (other, _)| one.cmp(other));
    rows.dedup_by(|(one, _), (other, _)| one == other);
    pages::page("servers", &call.url(), &query, call.page_limit(), rows)
}

/// `GET /servers/{id}`.
pub(super) fn show(call: &Call<'_>, id: &str) -> Result<Value, Refusal> {
    let wanted = id.parse().ok();
    let admin = call.is_admin();
    let found = call.openstack.fleet.hosts.iter().find_map(|host| {
        let here = |domain: &&Domain| Some(domain.uuid) == wanted && is_here(domain);
        let domain = host.read(|state| state.domains.values().find(here).cloned())?;
        Some(call.openstack.fleet.cloud.read(|cloud| row(call, cloud, host, &domain, admin)))
    });
    match found {
        Some(row) => Ok(json!({"server": row})),
        None => Err(Refusal::not_found(&format!("Instance {id} could not be found."))),
    }
}

/// A server is where it comes from until its migration is over.
fn is_here(domain: &Domain) -> bool {
    let arriving =
        domain.job.as_ref().is_some_and(|job| job.kind == JobKind::Unbounded && job.operation == 4);
    domain.server_name.is_some() && !arriving
}

/// `status`, `vm_state`, `task_state` and `power_state` of a domain.
fn states(domain: &Domain) -> (&'static str, &'static str, Option<&'static str>, i64) {
    let leaving = domain.job.as_ref().is_some_and(|job| job.kind == JobKind::Unbounded && job.operation == 5);
    match domain.state.state {
        _ if leaving => ("MIGRATING", "active", Some("migrating"), 1),
        1 | 2 => ("ACTIVE", "active", None, 1),
        3 => ("PAUSED", "paused", None, 3),
        6 => ("SHUTOFF", "stopped", None, 6),
        7 => ("SUSPENDED", "suspended", None, 7),
        4 | 5 => ("SHUTOFF", "stopped", None, 4),
        _ => ("ACTIVE", "active", None, 0),
    }
}

fn row(call: &Call<'_>, cloud: &CloudState, host: &Host, domain: &Domain, admin: bool) -> Value {
    let project = project_id_of(&cloud.credentials);
    let created = call.openstack.began.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    if cloud.api.unreachable.contains(&host.name) {
        return json!({"id": domain.uuid, "status": "UNKNOWN", "tenant_id": project, "created": created, "links": []});
    }
    let (status, vm_state, task_state, power_state) = states(domain);
    let mut row = json!({
        "id": domain.uuid, "name": domain.server_name, "status": status,
        "tenant_id": project, "user_id": user_id_of(&cloud.credentials),
        "created": created, "updated": created, "description": null, "metadata": {}, "tags": [], "addresses": {},
        "OS-EXT-STS:vm_state": vm_state, "OS-EXT-STS:task_state": task_state, "OS-EXT-STS:power_state": power_state,
        "OS-EXT-AZ:availability_zone": zone(cloud, &host.name).unwrap_or("nova"),
        "OS-SRV-USG:launched_at": time(call.openstack.began), "OS-SRV-USG:terminated_at": null,
        "os-extended-volumes:volumes_attached": [], "image": "",
        "flavor": {
            "vcpus": domain.vcpus, "ram": domain.max_memory_kib / 1024, "disk": 0, "ephemeral": 0, "swap": 0,
            "original_name": format!("sim.{}", domain.vcpus), "extra_specs": {},
        },
        "locked": false, "locked_reason": null,
    });
    if let Some(keys) = row.as_object_mut() {
        if admin {
            keys.extend(for_operators(cloud, host, domain));
        }
        // Told only in some states.
        if matches!(status, "ACTIVE" | "MIGRATING") {
            keys.insert("progress".to_owned(), json!(0));
        }
    }
    row
}

fn for_operators(cloud: &CloudState, host: &Host, domain: &Domain) -> Map<String, Value> {
    let host_status = match cloud.services.get(&host.name) {
        None => "",
        Some(service) if service.forced_down => "DOWN",
        Some(service) if !service.up => "UNKNOWN",
        Some(service) if !service.enabled => "MAINTENANCE",
        Some(_) => "UP",
    };
    let told = [
        ("OS-EXT-SRV-ATTR:host", json!(host.name)),
        ("OS-EXT-SRV-ATTR:hypervisor_hostname", json!(host.name)),
        ("OS-EXT-SRV-ATTR:instance_name", json!(domain.name)),
        ("host_status", json!(host_status)),
    ];
    told.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
