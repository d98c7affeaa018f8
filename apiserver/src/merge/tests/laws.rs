//! Laws that hold whatever the sources say or do not say.

use c5c3_api::{ConditionStatus, SourceState};
use proptest::prelude::*;
use serde_json::json;

use super::scene::{Scene, at};
use crate::merge;
use crate::sources::observation::Observation;

/// A source in any state: never heard, not configured, silent from the start, and with or without content.
fn source<T: Clone + Default + std::fmt::Debug + 'static>(full: T) -> impl Strategy<Value = Observation<T>> {
    let last = Observation::fresh(full.clone(), at(900));
    prop_oneof![
        Just(Observation::default()),
        Just(Observation::disabled()),
        Just(Observation::default().failed(SourceState::Denied, "certificate refused", at(950))),
        Just(Observation::fresh(T::default(), at(990))),
        Just(Observation::fresh(full, at(990))),
        Just(last.failed(SourceState::Stale, "no answer", at(950))),
    ]
}

prop_compose! {
    fn any_scene()(
        node in source(Scene::healthy().node.value().unwrap().clone()),
        libvirt in source(Scene::healthy().libvirt.value().unwrap().clone()),
        switch in source(Scene::healthy().switch.value().unwrap().clone()),
        flows in source(Scene::healthy().flows.value().unwrap().clone()),
        daemons in source(Scene::healthy().daemons.value().unwrap().clone()),
        compute in source(Scene::healthy().compute.value().unwrap().clone()),
        memberships in source(Scene::healthy().memberships.value().unwrap().clone()),
        wanted in prop_oneof![
            Just(None),
            Just(Some(json!({"maintenance": "auto", "overcommit": {"cpu": 2.0}}))),
            Just(Some(json!({"maintenance": 7, "unknown": true}))),
            Just(Some(json!("no object"))),
        ],
    ) -> Scene {
        let scene = Scene { node, libvirt, switch, flows, daemons, compute, memberships, ..Scene::healthy() };
        match wanted { Some(spec) => scene.wanting(spec), None => scene }
    }
}

proptest! {
    #[test]
    fn the_merge_is_total_and_merging_again_changes_nothing(scene in any_scene(), later in 0_i64..10_000) {
        let mut scene = scene;
        let (hypervisor, ovs_node) = (scene.hypervisor(), scene.ovs_node());
        let first = hypervisor.status.clone();
        scene.now = at(1_000 + later);
        prop_assert_eq!(&merge::hypervisor(&scene.view(), &scene.cloud(), first.as_ref()), &hypervisor);
        let again = merge::ovs_node(&scene.view(), "ovn-system", ovs_node.status.as_ref());
        prop_assert_eq!(again, ovs_node);
    }

    #[test]
    fn every_condition_has_a_reason_and_a_silent_source_a_message(scene in any_scene()) {
        let statuses = [
            scene.hypervisor().status.map(|status| (status.conditions, status.sources)),
            scene.ovs_node().status.map(|status| (status.conditions, status.sources)),
            scene.eviction().status.map(|status| (status.conditions, status.sources)),
        ];
        for (conditions, sources) in statuses.into_iter().flatten() {
            for condition in &conditions {
                prop_assert!(!condition.reason.is_empty(), "{condition:?}");
                let fine = condition.status == ConditionStatus::True;
                prop_assert!(fine || condition.type_ == "HypervisorDisabled" || !condition.message.is_empty(), "{condition:?}");
            }
            for source in sources {
                let failed = !matches!(source.state, SourceState::Connected | SourceState::Connecting | SourceState::Disabled);
                prop_assert_eq!(source.message.is_some(), failed, "{:?}", source.name);
            }
        }
    }

    #[test]
    fn the_identity_does_not_depend_on_what_sources_say(one in any_scene(), other in any_scene()) {
        let other = Scene { intent: one.intent.clone(), ..other };
        let uid = |scene: &Scene| (scene.hypervisor().metadata.uid, scene.ovs_node().metadata.uid);
        prop_assert_eq!(uid(&one), uid(&other));
    }
}
