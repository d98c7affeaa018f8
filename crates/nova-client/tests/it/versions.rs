//! Clouds that are older than we are, and clouds that change under us.

use fleet_simulator::model::Fault;
use nova_client::{Cloud, Microversion, Service};

use crate::peer::{Simulated, quick};

#[tokio::test]
async fn a_nova_below_the_floor_is_refused_with_both_numbers() {
    let cloud = Simulated::new(2, 1).await;
    cloud.api(|api| api.compute_max = (2, 79));
    let error = Cloud::connect(cloud.peer.options("rig")).await.unwrap_err();
    let told = error.report();
    assert!(told.starts_with("agree with Nova on an API version: Nova at http://127.0.0.1:"), "{told}");
    assert!(
        told.contains("offers 2.1 to 2.79, but this program needs 2.88 or newer (it is written for 2.93)"),
        "{told}"
    );
    assert!(!error.is_unavailable() && !error.is_unauthorized());
}

#[tokio::test]
async fn a_placement_below_the_floor_is_refused_with_both_numbers() {
    let cloud = Simulated::new(2, 1).await;
    cloud.api(|api| api.placement_max = (1, 10));
    let error = Cloud::connect(cloud.peer.options("rig-appcred")).await.unwrap_err();
    let told = error.report();
    assert!(
        told.contains("offers 1.0 to 1.10, but this program needs 1.28 or newer (it is written for 1.39)"),
        "{told}"
    );
}

#[tokio::test]
async fn a_nova_between_floor_and_pin_is_spoken_to_in_its_newest() {
    let cloud = Simulated::new(2, 1).await;
    cloud.api(|api| {
        api.compute_max = (2, 90);
        api.placement_max = (1, 28);
    });
    let client = cloud.connect().await;
    assert_eq!(client.version(Service::Compute).await.unwrap(), Microversion::new(2, 90));
    assert_eq!(client.version(Service::Placement).await.unwrap(), Microversion::new(1, 28));
    let hypervisors = client.hypervisors().await.unwrap();
    assert!(client.provider_traits(hypervisors[0].id.unwrap()).await.unwrap().is_some());
}

#[tokio::test]
async fn a_nova_that_is_rolled_back_is_agreed_with_anew() {
    let cloud = Simulated::new(2, 1).await;
    let client = cloud.connect().await;
    assert_eq!(client.hypervisors().await.unwrap().len(), 2);
    cloud.api(|api| api.compute_max = (2, 88));
    let error = client.hypervisors().await.unwrap_err();
    assert_eq!(error.status().unwrap().as_u16(), 406);
    assert!(error.report().contains("maximum is 2.88"), "{}", error.report());
    assert_eq!(client.hypervisors().await.unwrap().len(), 2);
    assert_eq!(client.version(Service::Compute).await.unwrap(), Microversion::new(2, 88));
}

#[tokio::test]
async fn a_placement_that_is_away_at_the_start_does_not_hide_nova() {
    let cloud = Simulated::new(2, 1).await;
    cloud.api(|api| api.placement_fault = Fault::Unavailable);
    let client = Cloud::connect(cloud.peer.options("rig").with_limits(quick())).await.unwrap();
    assert_eq!(client.hypervisors().await.unwrap().len(), 2);
    assert!(client.resource_providers().await.unwrap_err().is_unavailable());
    cloud.api(|api| api.placement_fault = Fault::None);
    assert_eq!(client.resource_providers().await.unwrap().len(), 2);
}
