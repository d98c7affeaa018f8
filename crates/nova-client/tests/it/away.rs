//! Services that are away, slow, broken, or tell less than they should.

use std::time::{Duration, Instant};

use fleet_simulator::model::Fault;
use nova_client::{Failure, Limits, ServiceState, ServiceStatus};

use crate::peer::{Simulated, quick};

#[tokio::test]
async fn a_503_is_tried_a_bounded_number_of_times_and_then_told() {
    let cloud = Simulated::new(2, 1).await;
    let client = cloud.connect().await;
    cloud.api(|api| api.compute_fault = Fault::Unavailable);
    let before = cloud.fleet.cloud.read(|state| state.traffic.compute);
    let error = client.hypervisors().await.unwrap_err();
    assert!(error.is_unavailable() && !error.is_unauthorized(), "{}", error.report());
    assert_eq!(error.status().unwrap().as_u16(), 503);
    assert_eq!(error.retry_after(), None);
    assert_eq!(cloud.fleet.cloud.read(|state| state.traffic.compute) - before, 3);
    assert_eq!(
        error.report(),
        "list hypervisors: Nova answered 503 Service Unavailable to GET /compute/v2.1/os-hypervisors/detail: \
         503 Service Unavailable"
    );
    // Placement is another service.
    assert_eq!(client.resource_providers().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_retry_after_beyond_the_deadline_is_told_at_once() {
    let cloud = Simulated::new(2, 1).await;
    let client = cloud.connect().await;
    cloud.api(|api| {
        api.compute_fault = Fault::Unavailable;
        api.retry_after = Some(30);
    });
    let before = cloud.fleet.cloud.read(|state| state.traffic.compute);
    let began = Instant::now();
    let error = client.aggregates().await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(30)));
    assert_eq!(cloud.fleet.cloud.read(|state| state.traffic.compute) - before, 1);
    assert!(began.elapsed() < Duration::from_secs(8));
}

#[tokio::test]
async fn a_retry_after_within_the_deadline_is_waited_for() {
    let cloud = Simulated::new(2, 1).await;
    let client = cloud.connect().await;
    cloud.api(|api| {
        api.compute_fault = Fault::Unavailable;
        api.retry_after = Some(1);
    });
    let before = cloud.fleet.cloud.read(|state| state.traffic.compute);
    let recovers = async {
        while cloud.fleet.cloud.read(|state| state.traffic.compute) == before {
            tokio::task::yield_now().await;
        }
        cloud.api(|api| api.compute_fault = Fault::None);
    };
    let began = Instant::now();
    let (listed, ()) = tokio::join!(client.aggregates(), recovers);
    assert_eq!(listed.unwrap().len(), 2);
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert_eq!(cloud.fleet.cloud.read(|state| state.traffic.compute) - before, 2);
}

#[tokio::test]
async fn a_service_that_never_answers_ends_at_the_deadline() {
    let cloud = Simulated::new(2, 1).await;
    let limits = Limits { operation: Duration::from_secs(2), ..quick() };
    let client = cloud.connect_with(limits).await;
    cloud.api(|api| api.compute_fault = Fault::Stall);
    let began = Instant::now();
    let error = client.compute_services().await.unwrap_err();
    assert!(matches!(error.failure(), Some(Failure::Deadline { .. })), "{}", error.report());
    assert!(error.is_unavailable());
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_cloud_that_refuses_connections_is_unavailable_and_works_again_afterwards() {
    let cloud = Simulated::new(2, 1).await;
    let client = cloud.connect().await;
    cloud.fleet.cloud.change(|state| state.fault = Fault::Refuse);
    let error = client.hypervisors().await.unwrap_err();
    assert!(error.is_unavailable(), "{}", error.report());
    assert_eq!(error.status(), None);
    cloud.fleet.cloud.change(|state| state.fault = Fault::None);
    assert_eq!(client.hypervisors().await.unwrap().len(), 2);
}

#[tokio::test]
async fn an_answer_that_breaks_in_the_middle_is_read_again() {
    let cloud = Simulated::new(2, 1).await;
    let client = cloud.connect().await;
    cloud.api(|api| api.compute_fault = Fault::HalfFrame);
    let before = cloud.fleet.cloud.read(|state| state.traffic.compute);
    assert_eq!(client.hypervisors().await.unwrap().len(), 2);
    assert_eq!(cloud.fleet.cloud.read(|state| state.traffic.compute) - before, 2);
}

#[tokio::test]
async fn a_list_of_1003_rows_is_read_whole() {
    let cloud = Simulated::new(1003, 0).await;
    let limits =
        Limits { attempt: Duration::from_secs(10), operation: Duration::from_secs(30), ..Limits::default() };
    let client = cloud.connect_with(limits).await;
    let before = cloud.fleet.cloud.read(|state| state.traffic.compute);
    let hypervisors = client.hypervisors().await.unwrap();
    let hosts: std::collections::BTreeSet<_> =
        hypervisors.iter().map(|row| row.service_host().unwrap()).collect();
    assert_eq!((hypervisors.len(), hosts.len()), (1003, 1003));
    assert_eq!(cloud.fleet.cloud.read(|state| state.traffic.compute) - before, 2);
    assert_eq!(client.compute_services().await.unwrap().len(), 1003);
}

#[tokio::test]
async fn more_servers_than_a_page_are_read_whole() {
    let cloud = Simulated::new(1, 7).await;
    cloud.api(|api| api.page_limit = 3);
    let client = cloud.connect().await;
    let before = cloud.fleet.cloud.read(|state| state.traffic.compute);
    assert_eq!(client.servers_of_host("host-1").await.unwrap().len(), 7);
    assert_eq!(cloud.fleet.cloud.read(|state| state.traffic.compute) - before, 3);
}

#[tokio::test]
async fn an_answer_beyond_the_size_limit_is_refused() {
    let cloud = Simulated::new(200, 0).await;
    let client = cloud.connect_with(Limits { answer_bytes: 10_000, ..quick() }).await;
    let error = client.hypervisors().await.unwrap_err();
    assert!(matches!(error.failure(), Some(Failure::TooLarge { limit: 10_000, .. })), "{}", error.report());
    assert!(!error.is_unavailable());
}

#[tokio::test]
async fn a_cell_that_cannot_be_reached_is_unknown_and_not_empty() {
    let cloud = Simulated::new(2, 1).await;
    cloud.api(|api| {
        api.unreachable.insert("host-1".to_owned());
    });
    let client = cloud.connect().await;
    let services = client.compute_services().await.unwrap();
    let there = services.iter().find(|service| service.host.as_deref() == Some("host-1")).unwrap();
    assert_eq!((there.state, there.status), (ServiceState::Unknown, ServiceStatus::Unknown));
    assert_eq!((there.id, there.forced_down, there.updated_at), (None, None, None));
    let error = client.servers_of_host("host-1").await.unwrap_err();
    assert!(matches!(error.failure(), Some(Failure::CellUnreachable { .. })), "{}", error.report());
    assert!(error.is_unavailable());
    assert_eq!(client.servers_of_host("host-2").await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_user_without_rights_is_told_so_and_sees_no_empty_lists() {
    let cloud = Simulated::new(2, 1).await;
    cloud.api(|api| api.admin = false);
    let client = cloud.connect().await;
    for error in [
        client.hypervisors().await.unwrap_err(),
        client.compute_services().await.unwrap_err(),
        client.servers_of_host("host-1").await.unwrap_err(),
        client.resource_providers().await.unwrap_err(),
    ] {
        assert!(error.is_unauthorized(), "{}", error.report());
        assert_eq!(error.status().unwrap().as_u16(), 403);
        assert!(error.report().contains("olicy"), "{}", error.report());
        assert!(error.request_id().unwrap().starts_with("req-"));
    }
}

#[tokio::test]
async fn a_service_that_was_disabled_forced_down_or_died_says_so() {
    let cloud = Simulated::new(3, 1).await;
    cloud.fleet.cloud.change(|state| {
        let service = |name: &str| name.to_owned();
        let first = state.services.get_mut(&service("host-1")).unwrap();
        first.enabled = false;
        first.disabled_reason = Some("AUTO: Connection to libvirt lost: 1".to_owned());
        state.services.get_mut(&service("host-2")).unwrap().forced_down = true;
        state.services.get_mut(&service("host-3")).unwrap().up = false;
    });
    let client = cloud.connect().await;
    let services = client.compute_services().await.unwrap();
    let of = |host: &str| services.iter().find(|service| service.host.as_deref() == Some(host)).unwrap();
    assert!(of("host-1").is_disabled_by_nova());
    assert_eq!((of("host-1").state, of("host-1").status), (ServiceState::Up, ServiceStatus::Disabled));
    assert_eq!((of("host-2").state, of("host-2").forced_down), (ServiceState::Down, Some(true)));
    assert_eq!((of("host-3").state, of("host-3").forced_down), (ServiceState::Down, Some(false)));
    assert!(!of("host-3").is_disabled_by_nova());
}
