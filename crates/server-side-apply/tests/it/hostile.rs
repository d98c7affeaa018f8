//! What nobody sends by mistake: deep, wide, wrong. It is refused or survived, and never a panic.

use proptest::prelude::*;
use serde_json::{Value, json};
use server_side_apply::{ApplyError, FieldSet, MAX_DEPTH, Schema, apply, update};

use crate::laws::{host, manager};

fn schema() -> Schema {
    Schema::new(&serde_json::from_str(include_str!("../data/schema.json")).unwrap()).unwrap()
}

fn now() -> jiff::Timestamp {
    "2026-06-01T00:00:00Z".parse().unwrap()
}

/// Any JSON, with keys that mean something here.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        Just(json!("2026-06-01T00:00:00Z")),
        Just(json!("FieldsV1")),
        Just(json!("Apply")),
        Just(json!("Update")),
        Just(json!("ssa.example.com/v1")),
    ];
    let keys = prop_oneof![
        prop::sample::select(vec![
            "f:spec",
            "f:taints",
            "k:{\"key\":\"a\"}",
            "k:{",
            "v:1",
            "v:",
            "i:0",
            "i:-",
            ".",
            "x:y",
            "",
            "é:",
            "f:",
            "taints",
            "key",
            "ports",
            "port",
            "aggregates",
            "cores",
            "extra",
            "maintenance",
            "window",
            "overcommit",
            "ref",
            "note",
            "quantity",
            "labels",
            "ownerReferences",
            "finalizers",
            "uid",
            "managedFields",
            "manager",
            "operation",
            "apiVersion",
            "fieldsType",
            "fieldsV1",
            "time",
            "subresource",
            "name",
        ])
        .prop_map(str::to_owned),
        ".{0,4}",
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(keys.clone(), inner, 0..5).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_json_as_a_field_set_is_read_or_refused(value in any_json()) {
        if let Ok(set) = FieldSet::parse(&value) {
            prop_assert_eq!(FieldSet::parse(&set.to_value()).unwrap(), set);
        }
    }

    #[test]
    fn any_json_as_an_object_is_merged_or_refused(live in any_json(), applied in any_json(), metadata in any_json(), fields in any_json()) {
        let schema = schema();
        let mut live = host(&live);
        live["metadata"]["managedFields"] = fields;
        let mut config = host(&applied);
        let first = apply(&schema, Some(&live), &config, &manager("kubectl"), true, now());
        config["metadata"] = metadata;
        let second = apply(&schema, Some(&live), &config, &manager("kubectl"), false, now());
        for object in [first, second].into_iter().flatten() {
            let settled = update(&schema, Some(&object.object), &object.object, &manager("x"), now());
            prop_assert_eq!(settled, object.object);
        }
        let _ = update(&schema, Some(&live), &config, &manager("x"), now());
        let _ = update(&schema, None, &config, &manager("x"), now());
        let _ = update(&schema, Some(&applied), &live, &manager("x"), now());
        let _ = apply(&schema, Some(&applied), &live, &manager("x"), true, now());
    }
}

fn deep(levels: usize, wrap: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(json!({}), |inner, _| wrap(inner))
}

#[test]
fn depth_has_an_end_and_what_is_within_can_be_read_again() {
    let schema = schema();
    let map = |key: &str, value: Value| Value::Object([(key.to_owned(), value)].into_iter().collect());
    let with_spec = |spec: Value| {
        let mut host = host(&json!({}));
        host["spec"] = spec;
        host
    };
    let too_deep = with_spec(map("extra", deep(1500, |inner| map("a", inner))));
    assert!(matches!(
        apply(&schema, None, &too_deep, &manager("m"), false, now()),
        Err(ApplyError::Invalid { .. })
    ));
    let lists = with_spec(map("extra", map("a", deep(1500, |inner| Value::Array(vec![inner])))));
    assert!(matches!(
        apply(&schema, None, &lists, &manager("m"), false, now()),
        Err(ApplyError::Invalid { .. })
    ));
    // An update cannot be refused here; it goes without owners, and validation has its say.
    assert!(
        update(&schema, None, &too_deep, &manager("m"), now())["metadata"].get("managedFields").is_none()
    );
    let just_fits = host(&json!({"extra": deep(MAX_DEPTH - 3, |inner| json!({"a": inner}))}));
    let stored = apply(&schema, None, &just_fits, &manager("m"), false, now()).unwrap().object;
    let read: Value = serde_json::from_str(&stored.to_string()).unwrap();
    assert_eq!(read, stored);
    assert!(!apply(&schema, Some(&read), &just_fits, &manager("m"), false, now()).unwrap().changed);

    assert!(FieldSet::parse(&deep(1500, |inner| map("f:a", inner))).is_err());
}

/// How long an object with so many fields and items takes, at best, to be applied twice.
fn time_of(size: i64) -> std::time::Duration {
    let schema = schema();
    let wide: serde_json::Map<String, Value> = (0..size).map(|n| (format!("k{n}"), json!(n))).collect();
    let taints: Vec<Value> = (0..size / 4).map(|n| json!({"key": format!("k{n}"), "value": "x"})).collect();
    let config = host(&json!({"overcommit": wide, "taints": taints}));
    let attempt = || {
        let started = std::time::Instant::now();
        let stored = apply(&schema, None, &config, &manager("m"), false, now()).unwrap().object;
        assert!(!apply(&schema, Some(&stored), &config, &manager("m"), false, now()).unwrap().changed);
        started.elapsed()
    };
    (0..4).map(|_| attempt()).min().unwrap()
}

#[test]
fn a_wide_object_takes_time_in_proportion() {
    let (small, large) = (time_of(250), time_of(4000));
    assert!(large < small * 16 * 6, "{small:?} and, for 16 times as much, {large:?}: something is quadratic");
}

#[test]
fn entries_that_cannot_be_read_do_not_replace_those_that_can() {
    let schema = schema();
    let live =
        apply(&schema, None, &host(&json!({"note": "a"})), &manager("m"), false, now()).unwrap().object;
    let fields = live["metadata"]["managedFields"].clone();
    for (field, wrong) in [
        ("operation", json!("Delete")),
        ("operation", json!(1)),
        ("fieldsType", json!("FieldsV2")),
        ("fieldsType", Value::Null),
        ("apiVersion", json!("")),
        ("fieldsV1", json!({"spec": {}})),
        ("fieldsV1", json!([])),
        ("time", json!("yesterday")),
        ("manager", json!({})),
    ] {
        let mut new = live.clone();
        new["metadata"]["managedFields"][0][field] = wrong.clone();
        let after = update(&schema, Some(&live), &new, &manager("ed"), now());
        assert_eq!(after["metadata"]["managedFields"], fields, "{field}: {wrong}");
    }
    let mut stored = live.clone();
    stored["metadata"]["managedFields"][0]["operation"] = json!("Delete");
    let refused = apply(&schema, Some(&stored), &host(&json!({})), &manager("m"), false, now()).unwrap_err();
    assert!(matches!(refused, ApplyError::LiveManagers(_)), "{refused}");
}
