//! Evictions.

use c5c3_api::ConditionStatus;
use c5c3_api::condition::eviction::{EVICTING, LIBVIRT_CONNECTED, reason};
use c5c3_api::labels;
use serde_json::json;

use super::scene::{HYPERVISOR, RUNNING, STOPPED, Scene, at, condition, pairs, silent, wish};
use crate::merge;

#[test]
fn an_eviction_shows_what_is_left_on_its_host() {
    let scene = Scene::healthy();
    let eviction = scene.eviction();
    let owner = &eviction.metadata.owner_references.unwrap()[0];
    assert_eq!(Some(&owner.uid), scene.hypervisor().metadata.uid.as_ref());
    assert_eq!(eviction.metadata.labels.unwrap(), pairs(&[(labels::ZONE, "zone-a")]));
    let status = eviction.status.unwrap();
    assert_eq!(status.outstanding_instances.unwrap(), [RUNNING.to_string(), STOPPED.to_string()]);
    assert_eq!(status.outstanding_ram_mb, Some(16 * 1024));
    assert_eq!(status.hypervisor_service_id.as_deref(), Some(HYPERVISOR));
    let evicting = condition(&status.conditions, EVICTING);
    let expected = (ConditionStatus::Unknown, reason::NO_CONTROLLER);
    assert_eq!(
        (evicting.status, evicting.reason.as_str()),
        expected,
        "this release does not evict, and says so"
    );
}

#[test]
fn what_libvirt_said_last_stays_while_it_is_silent() {
    let mut scene = Scene::healthy();
    scene.libvirt = silent(&scene.libvirt);
    let status = scene.eviction().status.unwrap();
    assert_eq!(status.outstanding_instances.unwrap().len(), 2);
    assert_eq!(condition(&status.conditions, LIBVIRT_CONNECTED).status, ConditionStatus::False);
}

#[test]
fn an_eviction_of_nobody_says_so() {
    let scene = Scene::healthy();
    let record = wish("Eviction", "e", json!({"hypervisor": "host-9", "reason": "x"}));
    let eviction = merge::eviction(&record, None, &scene.cloud(), None, at(1));
    assert_eq!(eviction.metadata.owner_references, None);
    let status = eviction.status.unwrap();
    assert_eq!(condition(&status.conditions, EVICTING).reason, reason::HYPERVISOR_UNKNOWN);
    assert_eq!(status.outstanding_instances, None);
}
