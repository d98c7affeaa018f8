//! What the simulated services answer, held against recordings of the real ones: same keys, same statuses.

use std::collections::BTreeSet;
use std::time::Instant;

use http::{Method, Request};
use serde_json::{Value, json};

use super::server::OpenStack;
use crate::model::{Fleet, FleetOptions, Job, JobKind};

/// A cloud without a listener, and a token for it.
struct Asked {
    openstack: OpenStack,
    token: String,
}

impl Asked {
    fn new() -> Self {
        let options = FleetOptions { hosts: 3, instances: 2, ..FleetOptions::default() };
        let openstack = OpenStack::new(Fleet::new(&options), "http://127.0.0.1:5".to_owned());
        let user = json!({"name": "admin", "domain": {"id": "default"}, "password": "simulated"});
        let scope = json!({"project": {"name": "admin", "domain": {"name": "Default"}}});
        let body = json!({"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": scope}});
        let request =
            Request::builder().method(Method::POST).uri("/identity/v3/auth/tokens").body(()).unwrap();
        let answer = openstack.ask(&request.into_parts().0, body.to_string().as_bytes());
        assert_eq!(answer.status(), 201);
        let token = answer.headers()["x-subject-token"].to_str().unwrap().to_owned();
        Self { openstack, token }
    }

    fn ask_in(&self, version: &str, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("X-Auth-Token", &self.token)
            .header("OpenStack-API-Version", version)
            .body(())
            .unwrap();
        let answer = self.openstack.ask(&request.into_parts().0, body.to_string().as_bytes());
        assert!(answer.headers()["x-openstack-request-id"].to_str().unwrap().starts_with("req-"));
        let body = serde_json::from_slice(answer.body()).unwrap_or_default();
        (answer.status().as_u16(), body)
    }

    fn nova(&self, path: &str) -> (u16, Value) {
        self.ask_in("compute 2.93", Method::GET, &format!("/compute/v2.1{path}"), &Value::Null)
    }

    fn put_service(&self, id: &str, change: &Value) -> (u16, Value) {
        self.ask_in("compute 2.93", Method::PUT, &format!("/compute/v2.1/os-services/{id}"), change)
    }

    fn placement(&self, path: &str) -> (u16, Value) {
        self.ask_in("placement 1.39", Method::GET, &format!("/placement{path}"), &Value::Null)
    }

    fn traits(&self, host: &str) -> (i64, BTreeSet<String>) {
        let id = self.openstack.fleet.host(host).unwrap().uuid;
        let (status, body) = self.placement(&format!("/resource_providers/{id}/traits"));
        assert_eq!(status, 200);
        let generation = body["resource_provider_generation"].as_i64().unwrap();
        (generation, serde_json::from_value(body["traits"].clone()).unwrap())
    }
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split_whitespace().collect()
}

#[test]
fn rows_have_the_keys_of_the_real_ones() {
    let asked = Asked::new();
    let row = |path: &str, list: &str| asked.nova(path).1[list][0].clone();
    let hypervisor = row("/os-hypervisors/detail", "hypervisors");
    let recorded =
        "id hypervisor_hostname state status hypervisor_type hypervisor_version host_ip service uptime";
    assert_eq!(keys(&hypervisor), words(recorded));
    assert_eq!(keys(&hypervisor["service"]), words("id host disabled_reason"));
    assert_eq!(keys(&row("/os-hypervisors", "hypervisors")), words("id hypervisor_hostname state status"));
    let recorded = "binary host id zone status state updated_at disabled_reason forced_down";
    assert_eq!(keys(&row("/os-services", "services")), words(recorded));
    let recorded = "id uuid name hosts metadata created_at updated_at deleted_at deleted availability_zone";
    assert_eq!(keys(&row("/os-aggregates", "aggregates")), words(recorded));
    let server = row("/servers/detail?all_tenants=1&host=host-1", "servers");
    let wanted = "id name status tenant_id user_id created updated flavor image locked locked_reason host_status \
                  OS-EXT-STS:vm_state OS-EXT-STS:task_state OS-EXT-STS:power_state OS-EXT-SRV-ATTR:host \
                  OS-EXT-SRV-ATTR:hypervisor_hostname OS-EXT-SRV-ATTR:instance_name OS-EXT-AZ:availability_zone \
                  os-extended-volumes:volumes_attached progress";
    assert!(keys(&server).is_superset(&words(wanted)), "{server}");
    let provider = asked.placement("/resource_providers").1["resource_providers"][0].clone();
    let recorded = "uuid name generation links parent_provider_uuid root_provider_uuid";
    assert_eq!(keys(&provider), words(recorded));
}

#[test]
fn old_versions_have_numbers_for_ids_and_capacity_in_the_hypervisor() {
    let asked = Asked::new();
    let row = |version: &str| {
        let path = "/compute/v2.1/os-hypervisors/detail";
        asked.ask_in(version, Method::GET, path, &Value::Null).1["hypervisors"][0].clone()
    };
    assert_eq!(row("compute 2.52")["id"], 1);
    let before = row("compute 2.87");
    assert_eq!((before["running_vms"].as_u64(), before["vcpus_used"].as_u64()), (Some(2), Some(6)));
    assert!(before.get("uptime").is_none());
    let after = row("compute 2.88");
    assert!(after.get("running_vms").is_none() && after["uptime"].is_string());
}

#[test]
fn a_service_is_changed_as_nova_lets_it_be_changed() {
    let asked = Asked::new();
    let id = asked.nova("/os-services?host=host-1").1["services"][0]["id"].as_str().unwrap().to_owned();
    let (status, body) =
        asked.put_service(&id, &json!({"status": "disabled", "disabled_reason": "maintenance"}));
    assert_eq!((status, &body["service"]["disabled_reason"]), (200, &json!("maintenance")));
    let (generation, traits) = asked.traits("host-1");
    assert!(traits.contains("COMPUTE_STATUS_DISABLED"));
    // Disabled again without a reason, the reason is gone.
    assert_eq!(
        asked.put_service(&id, &json!({"status": "disabled"})).1["service"]["disabled_reason"],
        Value::Null
    );
    assert_eq!(asked.traits("host-1").0, generation);
    assert_eq!(asked.put_service(&id, &json!({"status": "enabled"})).0, 200);
    let (later, traits) = asked.traits("host-1");
    assert!(later > generation && !traits.contains("COMPUTE_STATUS_DISABLED"));
    let (_, forced) = asked.put_service(&id, &json!({"forced_down": true}));
    assert_eq!(
        (&forced["service"]["state"], &forced["service"]["status"]),
        (&json!("down"), &json!("enabled"))
    );
    for (change, wanted) in [
        (json!({}), 400),
        (json!({"status": "enabled", "disabled_reason": "x"}), 400),
        (json!({"status": "disabled", "disabled_reason": ""}), 400),
        (json!({"status": "disabled", "disabled_reason": "x".repeat(256)}), 400),
        (json!({"status": "disabled", "disabled_reason": "é".repeat(200)}), 200),
        (json!({"state": "up"}), 400),
    ] {
        assert_eq!(asked.put_service(&id, &change).0, wanted, "{change}");
    }
    assert_eq!(asked.put_service("7", &json!({"status": "enabled"})).0, 400);
    assert_eq!(asked.put_service(&uuid::Uuid::nil().to_string(), &json!({"status": "enabled"})).0, 404);
}

#[test]
fn a_service_that_is_down_learns_nothing_of_being_disabled() {
    let asked = Asked::new();
    asked.openstack.fleet.cloud.change(|cloud| cloud.services.get_mut("host-1").unwrap().up = false);
    let id = asked.nova("/os-services?host=host-1").1["services"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(asked.put_service(&id, &json!({"status": "disabled"})).0, 200);
    assert!(!asked.traits("host-1").1.contains("COMPUTE_STATUS_DISABLED"));
}

#[test]
fn statuses_of_the_odd_requests_are_the_real_ones() {
    let asked = Asked::new();
    let nil = uuid::Uuid::nil();
    for (path, wanted) in [
        ("/os-hypervisors?hypervisor_hostname_pattern=nosuch".to_owned(), 404),
        ("/os-hypervisors?hypervisor_hostname_pattern=host&limit=1".to_owned(), 400),
        (format!("/os-hypervisors?marker={nil}"), 400),
        (format!("/os-hypervisors/{nil}"), 404),
        ("/os-hypervisors/1".to_owned(), 400),
        ("/os-services?host=nosuch".to_owned(), 200),
        ("/os-services?foo=1".to_owned(), 400),
        ("/servers/detail?host=nosuch".to_owned(), 200),
        ("/os-migrations?changes-since=yesterday".to_owned(), 400),
        ("/os-migrations?dest_compute=host-1".to_owned(), 400),
        ("/os-keypairs-of-yore".to_owned(), 404),
    ] {
        assert_eq!(asked.nova(&path).0, wanted, "{path}");
    }
    let version =
        |version: &str| asked.ask_in(version, Method::GET, "/compute/v2.1/os-services", &Value::Null);
    assert_eq!(version("compute 2.500").0, 406);
    assert_eq!(version("compute banana").0, 400);
    assert_eq!(version("compute latest").0, 200);
    let version =
        |version: &str| asked.ask_in(version, Method::GET, "/placement/resource_providers", &Value::Null);
    assert_eq!((version("placement 1.500").0, version("placement x").0), (406, 400));
    assert_eq!(asked.placement(&format!("/resource_providers/{nil}")).0, 404);
    let traits = format!("/placement/resource_providers/{}/traits", asked.openstack.fleet.hosts[0].uuid);
    assert_eq!(asked.ask_in("placement 1.5", Method::GET, &traits, &Value::Null).0, 404);
}

#[test]
fn a_pattern_is_a_substring_and_pages_follow_the_marker() {
    let asked = Asked::new();
    let (_, found) = asked.nova("/os-hypervisors?hypervisor_hostname_pattern=st-2");
    assert_eq!(found["hypervisors"].as_array().unwrap().len(), 1);
    let (_, first) = asked.nova("/os-hypervisors?limit=2");
    assert_eq!(first["hypervisors"].as_array().unwrap().len(), 2);
    let href = first["hypervisors_links"][0]["href"].as_str().unwrap();
    assert_eq!(first["hypervisors_links"][0]["rel"], "next");
    let path = href.strip_prefix("http://127.0.0.1:5/compute/v2.1").unwrap();
    let (_, last) = asked.nova(path);
    assert_eq!(last["hypervisors"].as_array().unwrap().len(), 1);
    assert!(last.get("hypervisors_links").is_none());
}

#[test]
fn a_server_that_migrates_is_at_its_source_and_has_a_record() {
    let asked = Asked::new();
    let fleet = &asked.openstack.fleet;
    let (source, target) = (&fleet.hosts[0], &fleet.hosts[1]);
    let uuid = source.read(|state| *state.domains.keys().next().unwrap());
    let job = |operation: i32, peer: &str| Job {
        kind: JobKind::Unbounded,
        operation,
        started: Instant::now(),
        elapsed_ms: None,
        memory_total: 1,
        memory_processed: 0,
        memory_remaining: 1,
        memory_bps: 0,
        memory_dirty_rate: 0,
        memory_iteration: 1,
        downtime_ms: None,
        error: None,
        peer: peer.to_owned(),
    };
    let mut arriving = source.read(|state| state.domains[&uuid].clone());
    arriving.job = Some(job(4, &source.name));
    target.define(arriving);
    source.change(|state, _| state.domains.get_mut(&uuid).unwrap().job = Some(job(5, &target.name)));
    let servers =
        |host: &str| asked.nova(&format!("/servers/detail?all_tenants=1&host={host}")).1["servers"].clone();
    let there = servers(&source.name);
    let moving = there.as_array().unwrap().iter().find(|server| server["id"] == json!(uuid)).unwrap();
    assert_eq!(
        (&moving["status"], &moving["OS-EXT-STS:task_state"]),
        (&json!("MIGRATING"), &json!("migrating"))
    );
    assert!(!servers(&target.name).as_array().unwrap().iter().any(|server| server["id"] == json!(uuid)));
    for host in [&source.name, &target.name] {
        let records = asked.nova(&format!("/os-migrations?host={host}")).1["migrations"].clone();
        let [record] = records.as_array().unwrap().as_slice() else { panic!("{records}") };
        assert_eq!((&record["status"], &record["instance_uuid"]), (&json!("running"), &json!(uuid)));
        let ends = (record["source_compute"].as_str(), record["dest_compute"].as_str());
        assert_eq!(ends, (Some(source.name.as_str()), Some(target.name.as_str())));
    }
}

#[test]
fn a_token_is_needed_and_keystone_s_root_is_a_multiple_choice() {
    let asked = Asked::new();
    let without = |path: &str| {
        let request = Request::builder().uri(path).body(()).unwrap();
        asked.openstack.ask(&request.into_parts().0, b"").status().as_u16()
    };
    assert_eq!((without("/compute/v2.1/os-services"), without("/placement/resource_providers")), (401, 401));
    assert_eq!((without("/identity"), without("/identity/"), without("/identity/v3")), (300, 300, 200));
    assert_eq!((without("/compute"), without("/compute/v2.1"), without("/compute/v2.1/")), (200, 200, 200));
    assert_eq!((without("/placement"), without("/placement/")), (200, 200));
    assert_eq!((without("/identity/v3/auth/catalog"), without("/elsewhere")), (401, 404));
}
