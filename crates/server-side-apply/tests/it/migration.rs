//! What the recordings do not show of kubectl's way from client-side to server-side apply, of versions, and of many updaters.

use serde_json::{Value, json};
use server_side_apply::{ApplyError, Manager, Schema, apply, update};

use crate::laws::{host, manager};

const LAST: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn schema() -> Schema {
    let schema = Schema::new(&serde_json::from_str(include_str!("../data/schema.json")).unwrap()).unwrap();
    schema.with_api_versions(["ssa.example.com/v1", "ssa.example.com/v2"])
}

fn at(second: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_780_000_000 + second).unwrap()
}

/// As `kubectl apply` without `--server-side` creates it.
fn client_side(spec: &Value) -> Value {
    let mut object = host(spec);
    object["metadata"]["annotations"] = json!({LAST: format!("{}\n", host(spec))});
    update(&schema(), None, &object, &manager("kubectl-client-side-apply"), at(0))
}

#[test]
fn kubectl_takes_only_what_nobody_changed_since_it_applied() {
    let live = client_side(&json!({"mode": "auto", "priority": 1}));
    let mut edited = live.clone();
    edited["spec"]["priority"] = json!(5);
    let live = update(&schema(), Some(&live), &edited, &manager("editor"), at(1));
    let config = host(&json!({"mode": "ha", "priority": 2}));
    let refused = apply(&schema(), Some(&live), &config, &manager("kubectl"), false, at(2)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        r#"Apply failed with 1 conflict: conflict with "editor" using ssa.example.com/v1: .spec.priority"#,
        "the mode is its own, the priority is the editor's"
    );
}

#[test]
fn an_annotation_that_cannot_be_understood_gives_nothing_away() {
    for text in [
        "{",
        "[]",
        r#"{"apiVersion":"ssa.example.com/v9","kind":"Host","spec":{"mode":"auto"}}"#,
        r#"{"apiVersion":"ssa.example.com/v1","kind":"Host","spec":{"mode":1}}"#,
    ] {
        let mut live = client_side(&json!({"mode": "auto"}));
        live["metadata"]["annotations"][LAST] = json!(text);
        let refused =
            apply(&schema(), Some(&live), &host(&json!({"mode": "ha"})), &manager("kubectl"), false, at(2));
        assert!(matches!(refused, Err(ApplyError::Conflicts(_))), "{text}");
    }
}

#[test]
fn the_annotation_follows_and_goes_when_it_does_not_fit() {
    let live = client_side(&json!({"mode": "auto"}));
    let config = host(&json!({"mode": "ha", "note": "<&>"}));
    let after = apply(&schema(), Some(&live), &config, &manager("kubectl"), false, at(2)).unwrap().object;
    let text = after["metadata"]["annotations"][LAST].as_str().unwrap();
    assert!(text.contains(r#""note":"\u003c\u0026\u003e""#) && text.ends_with("}\n"), "{text}");
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), config);

    let large = host(&json!({"mode": "ha", "note": "x".repeat(300_000)}));
    let after = apply(&schema(), Some(&live), &large, &manager("kubectl"), false, at(2)).unwrap().object;
    assert_eq!(after["metadata"]["annotations"].get(LAST), None);
}

#[test]
fn an_applier_keeps_one_entry_when_it_moves_to_another_version() {
    let live =
        apply(&schema(), None, &host(&json!({"mode": "auto"})), &manager("m"), false, at(0)).unwrap().object;
    let mut config = host(&json!({"note": "x"}));
    config["apiVersion"] = json!("ssa.example.com/v2");
    let mut converted = live;
    converted["apiVersion"] = json!("ssa.example.com/v2");
    let newer = Manager { api_version: "ssa.example.com/v2".into(), ..manager("m") };
    let after = apply(&schema(), Some(&converted), &config, &newer, false, at(1)).unwrap().object;
    assert_eq!(after["metadata"]["managedFields"].as_array().unwrap().len(), 1);
    assert_eq!(
        after["spec"],
        json!({"note": "x"}),
        "what it applied in the old version it can give up in the new one"
    );
}

#[test]
fn updaters_above_ten_become_one_and_appliers_are_not_counted() {
    let schema = schema();
    let mut live = apply(&schema, None, &host(&json!({"mode": "auto"})), &manager("applier"), false, at(0))
        .unwrap()
        .object;
    for n in 0..30_i64 {
        let mut new = live.clone();
        new["spec"]["overcommit"][format!("k{n}")] = json!(n);
        live = update(&schema, Some(&live), &new, &manager(&format!("u{n}")), at(n));
        let entries = live["metadata"]["managedFields"].as_array().unwrap();
        let updaters = entries.iter().filter(|entry| entry["operation"] == "Update").count();
        assert_eq!(updaters, usize::try_from(n + 1).unwrap().min(10));
    }
    let entries = live["metadata"]["managedFields"].as_array().unwrap();
    let ancient: Vec<_> = entries.iter().filter(|entry| entry["manager"] == "ancient-changes").collect();
    assert_eq!(ancient.len(), 1);
    assert_eq!(
        ancient[0]["fieldsV1"]["f:spec"]["f:overcommit"].as_object().unwrap().len(),
        22,
        "the map itself and k0 to k20"
    );
    assert_eq!(
        ancient[0]["time"],
        "2026-05-28T20:27:00Z".replace("20:27:00", &at(20).strftime("%H:%M:%S").to_string())
    );
}
