//! Answers recorded from Keystone 30, Nova 34 and Placement 16, played back through the whole client.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use nova_client::{Aggregate, Cloud, CloudOptions, Error, Failure, ServiceState, ServiceStatus};
use serde::Deserialize;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::peer::{Simulated, quick};

const RECORDED: &str = include_str!("data/recorded.json");

/// One recorded exchange.
#[derive(Clone, Deserialize)]
struct Exchange {
    name: String,
    status: u16,
    headers: std::collections::BTreeMap<String, String>,
    body: Value,
}

/// Nova and Placement that answer everything but version documents with one recording; logins are the simulator's.
struct Player {
    cloud: Cloud,
    _simulated: Simulated,
    server: JoinHandle<std::io::Result<()>>,
}

impl Drop for Player {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Player {
    async fn playing(name: &str) -> Self {
        Self::answering(recorded(name)).await
    }

    async fn answering(exchange: Exchange) -> Self {
        let simulated = Simulated::new(1, 0).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(play).with_state(Arc::new(exchange));
        let server = tokio::spawn(async move { axum::serve(listener, router).await });
        let peer = simulated.peer.altered(|text| {
            let fixed = format!(
                "    region_name: RegionOne\n    compute_endpoint_override: http://{address}/compute/v2.1\n    \
                 placement_endpoint_override: http://{address}/placement/\n"
            );
            text.replace("    region_name: RegionOne\n", &fixed)
        });
        let options: CloudOptions = peer.options("rig").with_limits(quick());
        let cloud = Cloud::connect(options).await.unwrap();
        Self { cloud, _simulated: simulated, server }
    }
}

fn recorded(name: &str) -> Exchange {
    let all: Vec<Exchange> = serde_json::from_str(RECORDED).unwrap();
    all.into_iter().find(|exchange| exchange.name == name).unwrap_or_else(|| panic!("{name} is not recorded"))
}

async fn play(State(exchange): State<Arc<Exchange>>, request: Request) -> Response {
    let exchange = match request.uri().path() {
        "/compute/v2.1" => recorded("discovery#nova-v2.1"),
        "/placement" => recorded("discovery#placement-root"),
        _ => Exchange::clone(&exchange),
    };
    let mut response = Response::builder().status(exchange.status);
    for (name, value) in &exchange.headers {
        response = response.header(name, value);
    }
    response.body(Body::from(exchange.body.to_string())).unwrap()
}

#[tokio::test]
async fn hypervisors_of_both_drivers_are_read() {
    let player = Player::playing("os-hypervisors#list-detail-2.93").await;
    let hypervisors = player.cloud.hypervisors().await.unwrap();
    let fake = hypervisors.iter().find(|row| row.service_host() == Some("compute-3")).unwrap();
    assert_eq!(fake.id, Some("c3f0bbcd-36f8-490a-af8c-e8cc091717bd".parse().unwrap()));
    assert_eq!((fake.hypervisor_type.as_deref(), fake.hypervisor_version), (Some("fake"), Some(1000)));
    assert_eq!((fake.uptime.as_deref(), fake.state), (None, ServiceState::Up));
    let qemu = hypervisors.iter().find(|row| row.service_host() == Some("node-1")).unwrap();
    assert_eq!((qemu.hypervisor_type.as_deref(), qemu.hypervisor_version), (Some("QEMU"), Some(7_002_022)));
    assert!(qemu.uptime.as_ref().unwrap().contains("load average"));
}

#[tokio::test]
async fn a_next_page_that_comes_again_ends_with_an_error() {
    // The player answers every page with the first, whose link always names the same next one.
    let player = Player::playing("os-hypervisors#page-1-limit-2").await;
    let error = player.cloud.hypervisors().await.unwrap_err();
    assert!(matches!(error.failure(), Some(Failure::PagesRepeat { .. })), "{}", error.report());
}

#[tokio::test]
async fn services_are_read_with_their_reasons() {
    let player = Player::playing("os-services#list-auto-disabled-by-nova-when-libvirt-is-lost").await;
    let services = player.cloud.compute_services().await.unwrap();
    let [service] = services.as_slice() else { panic!("{services:?}") };
    assert!(service.is_disabled_by_nova());
    assert_eq!(service.status, ServiceStatus::Disabled);
    assert_eq!(service.updated_at, Some("2026-11-30T15:24:15Z".parse().unwrap()));
    let player = Player::playing("os-services#list-forced-down-while-alive").await;
    let services = player.cloud.compute_services().await.unwrap();
    assert_eq!((services[0].forced_down, services[0].state), (Some(true), ServiceState::Down));
}

#[tokio::test]
async fn aggregates_are_read_with_and_without_zone() {
    let player = Player::playing("os-aggregates#list").await;
    let aggregates = player.cloud.aggregates().await.unwrap();
    let named = |name: &str| -> &Aggregate {
        aggregates.iter().find(|aggregate| aggregate.name.as_deref() == Some(name)).unwrap()
    };
    assert_eq!(named("facts-az1").availability_zone.as_deref(), Some("facts-az1"));
    assert_eq!(named("facts-az2").hosts.as_deref(), Some([].as_slice()));
    assert_eq!(named("facts-agg").availability_zone, None);
    assert_eq!(named("facts-agg").metadata["tier"], "gold");
    assert!(named("facts-agg").has_host("compute-1") && !named("facts-agg").has_host("compute"));
}

#[tokio::test]
async fn servers_of_a_host_are_read_and_those_of_another_are_not_believed() {
    let player = Player::playing("servers#detail-by-host").await;
    let servers = player.cloud.servers_of_host("compute-2").await.unwrap();
    assert!(servers.len() >= 2);
    let server = servers.iter().find(|server| server.name.as_deref() == Some("facts-h2")).unwrap();
    assert_eq!((server.vm_state.as_deref(), server.task_state.as_deref()), (Some("active"), None));
    assert_eq!((server.power_state, server.host_status.as_deref()), (Some(1), Some("UP")));
    assert_eq!(server.flavor.as_ref().unwrap().original_name.as_deref(), Some("tiny"));
    assert_eq!(server.instance_name.as_deref(), Some("instance-0000000a"));
    assert!(server.image.is_some() && server.locked == Some(false));
    let error = player.cloud.servers_of_host("compute-1").await.unwrap_err();
    assert!(matches!(error.failure(), Some(Failure::WrongHost { .. })), "{}", error.report());
}

#[tokio::test]
async fn a_list_for_a_user_who_may_not_see_hosts_is_not_believed() {
    let player = Player::playing("policy-and-lock#member-host-filter").await;
    let error = player.cloud.servers_of_host("compute-1").await.unwrap_err();
    assert!(matches!(error.failure(), Some(Failure::HostNotShown { .. })), "{}", error.report());
    assert!(error.is_unauthorized());
}

#[tokio::test]
async fn migrations_are_read() {
    let player = Player::playing("os-migrations#by-host").await;
    let migrations = player.cloud.migrations_of_host("compute-1", None).await.unwrap();
    let first = &migrations[0];
    assert_eq!((first.id, first.status.as_deref()), (Some(14), Some("confirmed")));
    assert_eq!(first.migration_type.as_deref(), Some("migration"));
    assert_eq!(first.updated_at, Some("2026-11-30T15:14:13Z".parse().unwrap()));
    let live = migrations.iter().find(|row| row.migration_type.as_deref() == Some("live-migration")).unwrap();
    assert_eq!(live.dest_host, None);
}

#[tokio::test]
async fn a_provider_is_read_with_traits_inventories_and_usages() {
    let id: Uuid = "26955369-79d6-4392-b003-a64981d13eb5".parse().unwrap();
    let player = Player::playing("placement#rp-by-uuid-is-hypervisor-id").await;
    let provider = player.cloud.resource_provider(id).await.unwrap().unwrap();
    assert_eq!((provider.name.as_deref(), provider.generation), (Some("compute-1"), Some(18)));
    assert_eq!((provider.root_provider_uuid, provider.parent_provider_uuid), (Some(id), None));
    let player = Player::playing("placement#traits-list").await;
    let traits = player.cloud.provider_traits(id).await.unwrap().unwrap();
    assert_eq!(traits.generation, 19);
    assert!(traits.traits.contains("COMPUTE_VOLUME_MULTI_ATTACH"));
    let player = Player::playing("placement#inventories").await;
    let inventories = player.cloud.provider_inventories(id).await.unwrap().unwrap();
    assert!((inventories.inventories["VCPU"].capacity() - 4000.0).abs() < 0.5);
    assert!((inventories.inventories["MEMORY_MB"].capacity() - 799_488.0).abs() < 0.5);
    let player = Player::playing("placement#usages").await;
    assert_eq!(player.cloud.provider_usages(id).await.unwrap().unwrap().usages["VCPU"], 5);
}

#[tokio::test]
async fn an_unknown_provider_is_none_but_another_404_is_an_error() {
    let player = Player::playing("placement#rp-unknown-404").await;
    assert_eq!(player.cloud.provider_traits(Uuid::nil()).await.unwrap(), None);
    let proxy = Exchange {
        name: "a proxy's page".to_owned(),
        status: 404,
        headers: [("content-type".to_owned(), "text/html".to_owned())].into(),
        body: Value::String("<html>no such site</html>".to_owned()),
    };
    let player = Player::answering(proxy).await;
    let error = player.cloud.provider_traits(Uuid::nil()).await.unwrap_err();
    assert_eq!(error.status().unwrap().as_u16(), 404);
}

#[tokio::test]
async fn every_recorded_error_gives_its_message_and_request_id() {
    let told = [
        ("os-hypervisors#pattern-no-match", "No hypervisor matching 'nosuch' could be found."),
        (
            "os-services#list-unknown-query-parameter",
            "Additional properties are not allowed ('foo' was unexpected)",
        ),
        ("placement#traits-put-generation-conflict-409", "Resource provider's generation already changed."),
        ("discovery#nova-406-microversion-too-high", "Version 2.500 is not supported by the API."),
        ("discovery#placement-406-microversion-too-high", "Unacceptable version header: 1.500"),
        ("keystone#nova-401-bad-token", "The request you have made requires authentication."),
        ("policy-and-lock#member-os-services-403", "olicy doesn't allow os_compute_api:os-services"),
        ("policy-and-lock#member-all-tenants-403", "olicy doesn't allow os_compute_api:servers"),
        ("policy-and-lock#member-placement-403", "placement:"),
    ];
    for (name, fact) in told {
        let exchange = recorded(name);
        let player = Player::playing(name).await;
        let error: Error = player.cloud.aggregates().await.unwrap_err();
        let report = error.report();
        assert!(report.contains(fact), "{name}: {report}");
        assert_eq!(error.status().unwrap().as_u16(), exchange.status);
        let id = &exchange.headers["x-openstack-request-id"];
        assert_eq!(error.request_id(), Some(id.as_str()));
        assert!(report.ends_with(&format!("({id})")), "{name}: {report}");
        assert_eq!(error.is_unauthorized(), matches!(exchange.status, 401 | 403), "{name}");
        assert!(!error.is_unavailable(), "{name}");
    }
}

#[tokio::test]
async fn one_odd_value_makes_one_absent_field() {
    let body = serde_json::json!({"hypervisors": [
        {"id": 7, "hypervisor_hostname": null, "hypervisor_version": "new", "state": "dancing", "service": []},
        {"id": "26955369-79d6-4392-b003-a64981d13eb5", "state": "up", "service": {"host": "compute-1"}},
    ]});
    let exchange =
        Exchange { name: "odd".to_owned(), status: 200, headers: std::collections::BTreeMap::new(), body };
    let hypervisors = Player::answering(exchange).await.cloud.hypervisors().await.unwrap();
    assert_eq!(hypervisors.len(), 2);
    assert_eq!((hypervisors[0].id, hypervisors[0].service_host()), (None, None));
    assert_eq!(hypervisors[0].state, ServiceState::Unknown);
    assert_eq!((hypervisors[1].service_host(), hypervisors[1].state), (Some("compute-1"), ServiceState::Up));
}

#[tokio::test]
async fn an_answer_that_is_another_thing_is_an_error_and_not_an_empty_list() {
    for body in
        [serde_json::json!({"services": []}), serde_json::json!([]), serde_json::json!({"hypervisors": [7]})]
    {
        let exchange = Exchange {
            name: "other".to_owned(),
            status: 200,
            headers: std::collections::BTreeMap::new(),
            body,
        };
        let error = Player::answering(exchange).await.cloud.hypervisors().await.unwrap_err();
        assert!(matches!(error.failure(), Some(Failure::Decode { .. })), "{}", error.report());
    }
}
