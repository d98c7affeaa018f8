//! Placement: the resource provider of each host, its traits, inventories and usages.

use http::request::Parts;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{Answer, json as answer_json, ok, placement_error, unauthorized, with_version};
use super::microversion::{Microversion, Wrong};
use super::query::Query;
use super::server::OpenStack;
use crate::model::{Host, HostState};

const OLDEST: Microversion = Microversion(1, 0);

pub(super) fn answer(openstack: &OpenStack, request: &Parts) -> Answer {
    let (major, minor) = openstack.fleet.cloud.read(|cloud| cloud.api.placement_max);
    let newest = Microversion(major, minor);
    let path = request.uri.path().trim_start_matches("/placement").trim_matches('/').to_owned();
    if path.is_empty() {
        let version = json!({
            "id": "v1.0", "status": "CURRENT", "min_version": OLDEST.to_string(), "max_version": newest.to_string(),
            "links": [{"rel": "self", "href": ""}],
        });
        return with_version(ok(&json!({"versions": [version]})), "placement", OLDEST);
    }
    let version = match Microversion::asked(&request.headers, "placement", OLDEST, newest) {
        Ok(version) => version,
        Err(wrong) => return wrong_version(&wrong, newest),
    };
    if !openstack.is_authorized(request) {
        return unauthorized(&openstack.url("/identity"));
    }
    if !openstack.fleet.cloud.read(|cloud| cloud.api.admin) {
        let fact = "Policy does not allow placement:resource_providers:list to be performed.";
        return placement_error(StatusCode::FORBIDDEN, fact);
    }
    let segments: Vec<&str> = path.split('/').collect();
    let answer = match (&request.method, segments.as_slice()) {
        (&Method::GET, ["resource_providers"]) => list(openstack, request),
        (&Method::GET, ["resource_providers", provider]) => {
            with_provider(openstack, provider, |host| row(openstack, host))
        }
        (&Method::GET, ["resource_providers", provider, part]) => show(openstack, version, provider, part),
        _ => placement_error(StatusCode::NOT_FOUND, ""),
    };
    with_version(answer, "placement", version)
}

fn wrong_version(wrong: &Wrong, newest: Microversion) -> Answer {
    match wrong {
        Wrong::Malformed(text) => placement_error(
            StatusCode::BAD_REQUEST,
            &format!("Invalid microversion: invalid version string: {text}"),
        ),
        Wrong::NotOffered(version) => {
            let fact = format!("Invalid microversion: Unacceptable version header: {version}");
            let error = json!({
                "status": 406, "title": "Not Acceptable", "detail": format!("\n\n {fact}"),
                "max_version": newest.to_string(), "min_version": OLDEST.to_string(),
            });
            answer_json(StatusCode::NOT_ACCEPTABLE, &json!({"errors": [error]}))
        }
    }
}

fn list(openstack: &OpenStack, request: &Parts) -> Answer {
    let query =
        match Query::of(&request.uri, &["name", "uuid", "in_tree", "resources", "required", "member_of"]) {
            Ok(query) => query,
            Err(refusal) => return placement_error(StatusCode::BAD_REQUEST, refusal.message()),
        };
    let fits = |host: &Host| {
        query.get("name").is_none_or(|name| name == host.name)
            && ["uuid", "in_tree"]
                .iter()
                .all(|key| query.get(key).is_none_or(|uuid| uuid == host.uuid.to_string()))
    };
    let rows = openstack.fleet.hosts.iter().filter(|host| fits(host)).map(|host| row(openstack, host));
    ok(&json!({"resource_providers": rows.collect::<Vec<_>>()}))
}

fn show(openstack: &OpenStack, version: Microversion, provider: &str, part: &str) -> Answer {
    match part {
        "inventories" => with_provider(
            openstack,
            provider,
            |host| json!({"resource_provider_generation": generation(openstack, host), "inventories": host.read(inventories)}),
        ),
        "usages" => with_provider(
            openstack,
            provider,
            |host| json!({"resource_provider_generation": generation(openstack, host), "usages": host.read(usages)}),
        ),
        "traits" if version >= Microversion(1, 6) => with_provider(openstack, provider, |host| {
            let traits =
                openstack.fleet.cloud.read(|cloud| cloud.traits.get(&host.uuid).cloned()).unwrap_or_default();
            json!({"resource_provider_generation": generation(openstack, host), "traits": traits})
        }),
        _ => placement_error(StatusCode::NOT_FOUND, ""),
    }
}

fn with_provider(openstack: &OpenStack, provider: &str, show: impl FnOnce(&Host) -> Value) -> Answer {
    let uuid = provider.parse::<Uuid>().ok();
    match openstack.fleet.hosts.iter().find(|host| Some(host.uuid) == uuid) {
        Some(host) => ok(&show(host)),
        None => {
            let fact = format!("No resource provider with uuid {provider} found");
            placement_error(StatusCode::NOT_FOUND, &fact)
        }
    }
}

fn generation(openstack: &OpenStack, host: &Host) -> i64 {
    openstack.fleet.cloud.read(|cloud| cloud.generation(host.uuid))
}

fn row(openstack: &OpenStack, host: &Host) -> Value {
    let own = format!("/resource_providers/{}", host.uuid);
    let link = |rel: &str| json!({"rel": rel, "href": if rel == "self" { own.clone() } else { format!("{own}/{rel}") }});
    let rels = ["self", "inventories", "usages", "aggregates", "traits", "allocations"];
    json!({
        "uuid": host.uuid, "name": host.name, "generation": generation(openstack, host),
        "parent_provider_uuid": null, "root_provider_uuid": host.uuid,
        "links": rels.map(link),
    })
}

fn inventories(host: &HostState) -> Value {
    let inventory = |total: u64, reserved: u64, ratio: f64| {
        json!({
            "total": total, "reserved": reserved, "min_unit": 1, "max_unit": total, "step_size": 1,
            "allocation_ratio": ratio,
        })
    };
    json!({
        "VCPU": inventory(u64::from(host.hardware.cpus), 0, 4.0),
        "MEMORY_MB": inventory(host.hardware.memory_kib / 1024, 512, 1.0),
    })
}

fn usages(host: &HostState) -> Value {
    let servers = || host.domains.values().filter(|domain| domain.server_name.is_some());
    json!({
        "VCPU": servers().map(|domain| u64::from(domain.vcpus)).sum::<u64>(),
        "MEMORY_MB": servers().map(|domain| domain.max_memory_kib / 1024).sum::<u64>(),
    })
}
