//! Tokens that end: early renewal, one login for many, and what happens when Keystone does not play along.

use std::time::{Duration, Instant};

use fleet_simulator::model::{Fault, Traffic};
use nova_client::{Failure, Limits, LoginFailure};

use crate::peer::{Simulated, quick};

fn traffic(cloud: &Simulated) -> Traffic {
    cloud.fleet.cloud.read(|state| state.traffic)
}

#[tokio::test]
async fn a_token_that_ends_between_two_pages_is_replaced_and_the_list_is_whole() {
    let cloud = Simulated::new(1003, 0).await;
    cloud.api(|api| {
        api.page_limit = 100;
        api.token_requests = Some(4);
    });
    let client = cloud.connect_with(quick()).await;
    assert_eq!(client.hypervisors().await.unwrap().len(), 1003);
    let seen = traffic(&cloud);
    // 11 pages at 4 a token: after the first token one more, after that one more.
    assert_eq!((seen.logins, seen.unauthorized), (3, 2));
}

#[tokio::test]
async fn many_callers_who_meet_the_same_revoked_token_log_in_once() {
    let cloud = Simulated::new(2, 1).await;
    let client = cloud.connect().await;
    client.aggregates().await.unwrap();
    cloud.api(|api| api.token_epoch += 1);
    let (one, two, three, four) = tokio::join!(
        client.hypervisors(),
        client.aggregates(),
        client.compute_services(),
        client.resource_providers()
    );
    assert!(one.is_ok() && two.is_ok() && three.is_ok() && four.is_ok());
    assert_eq!(traffic(&cloud).logins, 2);
}

#[tokio::test]
async fn a_token_is_renewed_before_it_ends_and_no_service_sees_an_old_one() {
    let cloud = Simulated::new(2, 1).await;
    cloud.api(|api| api.token_lifetime = Duration::from_secs(1));
    let client = cloud.connect().await;
    let began = Instant::now();
    while traffic(&cloud).logins < 3 {
        client.aggregates().await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", traffic(&cloud));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(traffic(&cloud).unauthorized, 0);
}

#[tokio::test]
async fn a_token_that_is_always_refused_does_not_become_a_storm_of_logins() {
    let cloud = Simulated::new(2, 1).await;
    cloud.api(|api| api.token_requests = Some(0));
    let client = cloud.connect().await;
    for _ in 0..5 {
        let error = client.hypervisors().await.unwrap_err();
        assert!(error.is_unauthorized(), "{}", error.report());
        assert_eq!(error.status().unwrap().as_u16(), 401);
    }
    assert_eq!(traffic(&cloud).logins, 1);
}

#[tokio::test]
async fn a_keystone_that_is_away_when_the_token_ends_is_unavailable_and_not_unauthorized() {
    let cloud = Simulated::new(2, 1).await;
    let client = cloud.connect().await;
    client.aggregates().await.unwrap();
    cloud.api(|api| {
        api.token_epoch += 1;
        api.identity_fault = Fault::Unavailable;
    });
    let error = client.hypervisors().await.unwrap_err();
    assert!(error.is_unavailable() && !error.is_unauthorized(), "{}", error.report());
    let login =
        matches!(error.failure(), Some(Failure::Login(LoginFailure::Unavailable { status: 503, .. })));
    assert!(login, "{}", error.report());
    cloud.api(|api| api.identity_fault = Fault::None);
    assert_eq!(client.hypervisors().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_keystone_that_never_answers_ends_at_the_deadline() {
    let cloud = Simulated::new(2, 1).await;
    cloud.api(|api| api.identity_fault = Fault::Stall);
    let began = Instant::now();
    let limits = Limits { attempt: Duration::from_secs(1), ..quick() };
    let options = cloud.peer.options("rig").with_limits(limits);
    let error = nova_client::Cloud::connect(options).await.unwrap_err();
    assert!(error.is_unavailable(), "{}", error.report());
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_rotated_password_is_taken_from_the_file_at_the_next_login() {
    let cloud = Simulated::new(2, 1).await;
    let client = cloud.connect().await;
    client.aggregates().await.unwrap();
    cloud.fleet.cloud.change(|state| {
        state.credentials.password = "rotated".to_owned();
        state.api.token_epoch += 1;
    });
    cloud.rewrite();
    assert_eq!(client.hypervisors().await.unwrap().len(), 2);
    assert_eq!(traffic(&cloud).refused_logins, 0);
}

#[tokio::test]
async fn refused_credentials_are_left_alone_for_a_while() {
    let cloud = Simulated::new(2, 1).await;
    let client = cloud.connect().await;
    client.aggregates().await.unwrap();
    cloud.fleet.cloud.change(|state| {
        state.credentials.password = "changed behind our back".to_owned();
        state.api.token_epoch += 1;
    });
    for _ in 0..5 {
        let error = client.hypervisors().await.unwrap_err();
        assert!(error.is_unauthorized(), "{}", error.report());
    }
    assert_eq!(traffic(&cloud).refused_logins, 1);
}
