//! Every field of the spec: from the defaults, from the Node where the Node may speak of it, from stored intent.

use c5c3_api::Maintenance;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::merge::tests::scene::pairs;

fn node(labels: &[(&str, &str)], annotations: &[(&str, &str)]) -> NodePicture {
    NodePicture { labels: pairs(labels), annotations: pairs(annotations), ..NodePicture::default() }
}

fn field(node: Option<&NodePicture>, stored: &Value, name: &str) -> Value {
    let spec = serde_json::to_value(effective_spec(node, Some(stored))).unwrap();
    spec.get(name).cloned().unwrap_or(Value::Null)
}

/// Name, default, and another value of every field.
fn fields() -> Vec<(&'static str, Value, Value)> {
    let group = json!([{"trait": {"name": "CUSTOM_X"}}]);
    vec![
        ("version", Value::Null, json!("1877.3")),
        ("reboot", json!(false), json!(true)),
        ("evacuateOnReboot", json!(true), json!(false)),
        ("lifecycleEnabled", json!(true), json!(false)),
        ("skipTests", json!(false), json!(true)),
        ("customTraits", json!([]), json!(["CUSTOM_S"])),
        ("aggregates", json!([]), json!(["stored"])),
        ("groups", Value::Null, group),
        ("allowedProjects", json!([]), json!(["8a1c1e0a-0000-4000-8000-000000000001"])),
        ("highAvailability", json!(true), json!(false)),
        ("createCertManagerCertificate", json!(false), json!(true)),
        ("installCertificate", json!(true), json!(false)),
        ("maintenance", Value::Null, json!("manual")),
        ("maintenanceReason", Value::Null, json!("disk")),
        ("overcommit", Value::Null, json!({"cpu": 4.0})),
    ]
}

/// What a Node can say, and what it means: labels, annotations, whether it terminates, the fields.
fn sayings() -> Vec<(NodePicture, Value)> {
    let off = json!({"lifecycleEnabled": false});
    let with = |more: Value| {
        let mut all = off.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    vec![
        (node(&[], &[]), off.clone()),
        (node(&[(LIFECYCLE, "true")], &[]), json!({"lifecycleEnabled": true, "skipTests": false})),
        (node(&[(LIFECYCLE, "")], &[]), json!({"lifecycleEnabled": true, "skipTests": false})),
        (node(&[(LIFECYCLE, "skip-tests")], &[]), json!({"lifecycleEnabled": true, "skipTests": true})),
        (
            node(&[], &[(CUSTOM_TRAITS, "CUSTOM_A, CUSTOM_B,,CUSTOM_A")]),
            with(json!({"customTraits": ["CUSTOM_A", "CUSTOM_B"]})),
        ),
        (node(&[], &[(CUSTOM_TRAITS, "")]), with(json!({"customTraits": []}))),
        (node(&[], &[(AGGREGATES, "gold,silver")]), with(json!({"aggregates": ["gold", "silver"]}))),
        (node(&[(ZONE, "a")], &[(AGGREGATES, " gold ,")]), with(json!({"aggregates": ["gold", "a"]}))),
        (node(&[(ZONE, "a")], &[(AGGREGATES, "a,gold")]), with(json!({"aggregates": ["a", "gold"]}))),
        (node(&[(ZONE, "a")], &[(AGGREGATES, "")]), with(json!({"aggregates": ["a"]}))),
        (node(&[(ZONE, "a")], &[]), off.clone()),
        (NodePicture { terminating: true, ..node(&[], &[]) }, with(json!({"maintenance": "termination"}))),
    ]
}

#[test]
fn the_table_knows_every_field() {
    let all: Map<String, Value> =
        fields().into_iter().map(|(name, _, other)| (name.to_owned(), other)).collect();
    // Without `..`: a field that is added does not compile until it is in the table.
    let HypervisorSpec {
        version,
        reboot,
        evacuate_on_reboot,
        lifecycle_enabled,
        skip_tests,
        custom_traits,
        aggregates,
        groups,
        allowed_projects,
        high_availability,
        create_cert_manager_certificate,
        install_certificate,
        maintenance,
        maintenance_reason,
        overcommit,
    } = effective_spec(None, Some(&Value::Object(all.clone())));
    assert!(version.is_some() && maintenance.is_some() && maintenance_reason.is_some());
    assert!(reboot && !evacuate_on_reboot && !lifecycle_enabled && skip_tests && !high_availability);
    assert!(create_cert_manager_certificate && !install_certificate);
    assert!([custom_traits, aggregates, allowed_projects].iter().all(|list| list.len() == 1));
    assert_eq!((groups.len(), overcommit.len(), all.len()), (1, 1, 15));
}

#[test]
fn every_field_has_its_default_and_stored_intent_wins() {
    let said = NodePicture {
        terminating: true,
        ..node(&[(LIFECYCLE, "true"), (ZONE, "a")], &[(AGGREGATES, "gold"), (CUSTOM_TRAITS, "CUSTOM_N")])
    };
    for (name, default, other) in fields() {
        assert_eq!(field(None, &json!({}), name), default, "default of {name}");
        for node in [None, Some(&said)] {
            assert_eq!(field(node, &json!({ name: other.clone() }), name), other, "{name}");
            assert_eq!(
                field(node, &json!({ name: default.clone() }), name),
                default,
                "{name} set to its default"
            );
        }
        // One stored field leaves all others to the Node and the defaults.
        for (else_, ..) in fields().into_iter().filter(|(else_, ..)| *else_ != name) {
            let alone = field(Some(&said), &json!({ name: other.clone() }), else_);
            assert_eq!(alone, field(Some(&said), &json!({}), else_), "{else_} beside {name}");
        }
    }
}

#[test]
fn a_node_speaks_of_the_fields_that_its_labels_and_annotations_name_and_of_no_others() {
    for (node, expected) in sayings() {
        assert_eq!(Value::Object(node_spec(Some(&node))), expected, "{node:?}");
        let spec = base_spec(Some(&node));
        for (name, default, _) in fields() {
            let found = spec.get(name).cloned().unwrap_or(Value::Null);
            assert_eq!(&found, expected.get(name).unwrap_or(&default), "{name} of {node:?}");
        }
    }
    assert_eq!(node_spec(None), Map::new());
}

#[test]
fn one_unreadable_field_does_not_lose_the_others() {
    let stored = json!({"maintenance": 7, "maintenanceReason": "disk", "later": {"a": 1}});
    let spec = effective_spec(None, Some(&stored));
    assert_eq!((spec.maintenance, spec.maintenance_reason.as_deref()), (None, Some("disk")));
    let terminating = NodePicture { terminating: true, ..NodePicture::default() };
    assert_eq!(effective_spec(Some(&terminating), Some(&stored)).maintenance, Some(Maintenance::Termination));
}

proptest! {
    /// What is stored of a spec shows through whatever the Node says, and what is not stored is the Node's.
    #[test]
    fn each_field_has_exactly_one_origin(
        stored in proptest::sample::subsequence(fields(), 0..=15),
        said in proptest::sample::select(sayings()),
    ) {
        let intent: Map<String, Value> =
            stored.iter().map(|(name, _, other)| ((*name).to_owned(), other.clone())).collect();
        let spec = serde_json::to_value(effective_spec(Some(&said.0), Some(&Value::Object(intent.clone())))).unwrap();
        for (name, default, _) in fields() {
            let found = spec.get(name).cloned().unwrap_or(Value::Null);
            let expected = intent.get(name).or_else(|| said.1.get(name)).unwrap_or(&default);
            prop_assert_eq!(&found, expected, "{}", name);
        }
    }
}
