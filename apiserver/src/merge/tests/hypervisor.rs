//! Hypervisors.

use std::sync::Arc;

use c5c3_api::condition::hypervisor::{
    CONDITIONS, HYPERVISOR_DISABLED, LIBVIRT_CONNECTED, LIBVIRT_CONNECTION, NOVA_REACHABLE, READY,
    TERMINATING, reason,
};
use c5c3_api::{Condition, ConditionStatus, FindingType, HypervisorStatus, SourceState, labels};
use serde_json::json;

use super::scene::{HYPERVISOR, RUNNING, STOPPED, Scene, at, condition, pairs, silent};
use crate::merge;
use crate::sources::observation::Observation;

fn status(scene: &Scene) -> HypervisorStatus {
    scene.hypervisor().status.unwrap()
}

fn ready(scene: &Scene) -> Condition {
    condition(&status(scene).conditions, READY).clone()
}

#[test]
fn every_field_comes_from_its_source() {
    let hypervisor = Scene::healthy().hypervisor();
    let labels = hypervisor.metadata.labels.unwrap();
    assert_eq!(labels, pairs(&[(labels::ZONE, "zone-a")]), "only labels that are transferred");
    let owner = &hypervisor.metadata.owner_references.unwrap()[0];
    assert_eq!((owner.kind.as_str(), owner.uid.as_str()), ("Node", "node-uid"));
    assert_ne!(hypervisor.metadata.uid.as_deref(), Some("node-uid"));
    let status = hypervisor.status.unwrap();
    assert_eq!(status.lib_virt_version.as_deref(), Some("10.0.0"));
    assert_eq!(status.internal_ip.as_deref(), Some("10.0.0.1"));
    assert_eq!(status.operating_system.unwrap().kernel_release.as_deref(), Some("6.12"));
    assert_eq!(status.hypervisor_id.as_deref(), Some(HYPERVISOR));
    assert_eq!(status.service_id.as_deref(), Some("service-id"));
    assert_eq!(status.traits.unwrap(), ["CUSTOM_A"]);
    assert_eq!(status.aggregates.unwrap()[0].name, "zone-a");
    assert_eq!(status.num_instances, Some(2));
    let active: Vec<bool> = status.instances.unwrap().iter().map(|instance| instance.active).collect();
    assert_eq!(active, [true, false]);
}

#[test]
fn allocation_counts_what_runs_and_effective_capacity_is_overcommitted() {
    let status = status(&Scene::healthy().wanting(json!({"overcommit": {"cpu": 2.5, "memory": 1.5}})));
    let of = |list: &Option<c5c3_api::hypervisor::ResourceList>, name: &str| {
        list.as_ref().unwrap()[name].0.clone()
    };
    assert_eq!((of(&status.capacity, "cpu"), of(&status.capacity, "memory")), ("32".into(), "128Gi".into()));
    assert_eq!(of(&status.allocation, "cpu"), "4");
    assert_eq!(of(&status.allocation, "memory"), "8Gi");
    assert_eq!(of(&status.effective_capacity, "cpu"), "80");
    assert_eq!(of(&status.effective_capacity, "memory"), "192Gi");
    let cells = status.cells.unwrap();
    assert_eq!((cells.len(), of(&cells[1].effective_capacity, "cpu")), (2, "40".to_owned()));
}

#[test]
fn one_domain_of_unknown_size_leaves_the_sum_out() {
    let scene = Scene::healthy().with_libvirt(|libvirt| {
        let domains = Arc::make_mut(&mut libvirt.domains);
        domains.get_mut(&RUNNING).unwrap().memory_kib = None;
        domains.get_mut(&STOPPED).unwrap().vcpus = None;
    });
    let allocation = status(&scene).allocation.unwrap();
    assert!(!allocation.contains_key("memory"), "absent, never too small");
    assert_eq!(allocation["cpu"].0, "4", "what is shut off does not count");
}

#[test]
fn a_source_that_falls_silent_leaves_its_values_and_says_so() {
    let mut scene = Scene::healthy();
    scene.libvirt = silent(&scene.libvirt);
    scene.now = at(2_000);
    let status = status(&scene);
    assert_eq!(status.num_instances, Some(2));
    let connected = condition(&status.conditions, LIBVIRT_CONNECTED);
    assert_eq!(
        (connected.status, connected.message.as_str()),
        (ConditionStatus::False, "connection refused")
    );
    assert_eq!(condition(&status.conditions, LIBVIRT_CONNECTION).reason, reason::CONNECT_FAILED);
    let source = status.sources.iter().find(|source| source.name == "libvirt").unwrap();
    assert_eq!((source.state, source.observed_at.as_ref().unwrap().0), (SourceState::Unreachable, at(1_000)));
    assert_eq!(condition(&status.conditions, NOVA_REACHABLE).status, ConditionStatus::True);
}

#[test]
fn what_has_never_been_heard_is_absent() {
    let status = status(&Scene::silent());
    assert_eq!((status.num_instances, &status.instances, &status.capacity), (None, &None, &None));
    assert_eq!((status.aggregates, status.traits, status.hypervisor_id), (None, None, None));
    assert_eq!(condition(&status.conditions, READY).status, ConditionStatus::Unknown);
}

/// The reason why the host is not ready, with everything of `later` wrong too.
#[test]
fn ready_names_the_first_trouble_in_the_order_of_the_reference() {
    let service = |state: Option<&str>, status: Option<&str>| {
        let (state, status) = (state.map(str::to_owned), status.map(str::to_owned));
        Scene::healthy().with_service(|service| (service.state, service.status) = (state, status))
    };
    let mut worst = service(Some("down"), Some("disabled"))
        .with_node(|node| node.terminating = true)
        .wanting(json!({"maintenance": "manual", "lifecycleEnabled": false}));
    (worst.libvirt, worst.compute) = (silent(&worst.libvirt), silent(&worst.compute));
    let mut seen = vec![ready(&worst)];
    worst = worst.with_node(|node| node.terminating = false);
    seen.push(ready(&worst));
    worst = worst.wanting(json!({"lifecycleEnabled": false}));
    seen.push(ready(&worst));
    worst.intent = None;
    seen.push(ready(&worst));
    worst.libvirt = Scene::healthy().libvirt;
    seen.push(ready(&worst));
    worst.compute = Observation::fresh(Default::default(), at(1));
    seen.push(ready(&worst));
    for (state, status) in [(None, None), (Some("down"), Some("disabled")), (Some("up"), Some("disabled"))] {
        seen.push(ready(&service(state, status)));
    }
    seen.push(ready(&Scene::healthy()));

    let reasons: Vec<&str> = seen.iter().map(|ready| ready.reason.as_str()).collect();
    let expected = [
        reason::TERMINATING,
        reason::MAINTENANCE,
        reason::ONBOARDING,
        reason::LIBVIRT_UNREACHABLE,
        reason::NOVA_UNREACHABLE,
        reason::ONBOARDING,
        reason::SERVICE_UNKNOWN,
        reason::SERVICE_DOWN,
        reason::SERVICE_DISABLED,
        reason::READY,
    ];
    assert_eq!(reasons, expected);
    let documented = CONDITIONS.iter().find(|type_| type_.name == READY).unwrap().reasons;
    let mut rest = documented.iter();
    for ready in &seen {
        let found = rest.any(|known| (known.reason, known.status) == (ready.reason.as_str(), ready.status));
        assert!(found, "{} is not in the order of the reference, or with another status", ready.reason);
    }
}

#[test]
fn a_host_without_a_cloud_is_ready_when_libvirt_answers() {
    let mut scene = Scene::healthy();
    scene.compute = Observation::disabled();
    assert_eq!(ready(&scene).status, ConditionStatus::True);
    scene.libvirt = Observation::disabled();
    assert_eq!(ready(&scene).message, "libvirt is not configured for this host");
}

#[test]
fn a_disabled_service_says_why() {
    let scene = Scene::healthy().with_service(|service| {
        service.status = Some("disabled".to_owned());
        service.disabled_reason = Some("firmware".to_owned());
    });
    let status = status(&scene);
    let disabled = condition(&status.conditions, HYPERVISOR_DISABLED);
    assert_eq!((disabled.status, disabled.message.as_str()), (ConditionStatus::True, "firmware"));
    assert_eq!(condition(&status.conditions, READY).message, "nova-compute is disabled: firmware");
}

#[test]
fn a_terminating_node_is_told_in_a_condition_of_its_own() {
    let scene = Scene::healthy().with_node(|node| node.terminating = true);
    assert_eq!(condition(&status(&scene).conditions, TERMINATING).status, ConditionStatus::True);
}

#[test]
fn a_condition_keeps_its_transition_time_until_its_status_changes() {
    let mut scene = Scene::healthy();
    let first = scene.hypervisor().status;
    scene.now = at(5_000);
    let same = merge::hypervisor(&scene.view(), &scene.cloud(), first.as_ref()).status.unwrap();
    assert!(same.conditions.iter().all(|condition| condition.last_transition_time.0 == at(1_000)));
    scene.libvirt = silent(&scene.libvirt);
    let changed = merge::hypervisor(&scene.view(), &scene.cloud(), first.as_ref()).status.unwrap();
    assert_eq!(condition(&changed.conditions, LIBVIRT_CONNECTED).last_transition_time.0, at(5_000));
    assert_eq!(condition(&changed.conditions, NOVA_REACHABLE).last_transition_time.0, at(1_000));
}

#[test]
fn each_finding_is_told_once_and_keeps_its_beginning() {
    let mut scene = Scene::healthy().with_switch(|switch| {
        let ids = &mut switch.root.as_mut().unwrap().external_ids;
        ids.insert("hostname".to_owned(), "host-9.example".to_owned());
    });
    scene.libvirt = silent(&scene.libvirt);
    scene.active_elsewhere = [(RUNNING, vec!["host-2".to_owned()])].into();
    let first = scene.hypervisor().status.unwrap();
    let types: Vec<FindingType> = first.findings.iter().map(|finding| finding.type_).collect();
    assert_eq!(
        types,
        [FindingType::RunningOnTwoHosts, FindingType::ServiceUpLibvirtAway, FindingType::ChassisMismatch]
    );
    assert!(first.findings[0].message.contains("host-2"), "{:?}", first.findings[0]);
    scene.now = at(9_000);
    let later = merge::hypervisor(&scene.view(), &scene.cloud(), Some(&first)).status.unwrap();
    assert_eq!(later.findings, first.findings);
    let gone = merge::hypervisor(&Scene::healthy().view(), &scene.cloud(), Some(&later)).status.unwrap();
    assert_eq!(gone.findings, []);
}

#[test]
fn a_fully_qualified_chassis_name_is_no_mismatch() {
    let scene = Scene::healthy().with_switch(|switch| {
        let ids = &mut switch.root.as_mut().unwrap().external_ids;
        ids.insert("hostname".to_owned(), "host-1.rack.example".to_owned());
    });
    assert_eq!(status(&scene).findings, []);
}

#[test]
fn a_host_that_was_declared_before_its_node_says_so() {
    let mut scene = Scene::healthy().wanting(json!({"highAvailability": false}));
    scene.node = Observation::disabled();
    let declared = scene.hypervisor();
    let finding = declared.status.unwrap().findings.remove(0);
    assert_eq!((finding.type_, finding.subject.as_str()), (FindingType::NodeMissing, "host-1"));
    assert!(finding.message.contains("declared intent"), "{}", finding.message);
    assert_eq!(declared.metadata.owner_references, None);
    scene.nodes_known = false;
    assert_eq!(scene.hypervisor().status.unwrap().findings, [], "a standalone server has no Nodes to miss");
}

#[test]
fn the_nodes_share_stands_beside_what_writers_left() {
    let hypervisor = Scene::healthy().hypervisor();
    let entries = hypervisor.metadata.managed_fields.unwrap();
    assert_eq!((entries.len(), entries[0].manager.as_deref()), (1, Some(merge::NODE_MANAGER)));
    let again = Scene::healthy().hypervisor().metadata.managed_fields.unwrap();
    assert_eq!(again, entries, "it does not move by itself");
}

#[test]
fn the_generation_counts_on_from_the_spec_that_nobody_touched() {
    assert_eq!(Scene::healthy().hypervisor().metadata.generation, Some(1));
    let wanted = Scene::healthy().wanting(json!({"skipTests": true})).hypervisor();
    assert_eq!(wanted.metadata.generation, Some(3));
    assert_eq!(wanted.status.unwrap().observed_generation, Some(3));
}
