//! What was committed once: fields that keep their value, releases that do not go down, and removals that are declared, staged and watched.

use c5c3_renderer::{CommitOptions, Diff, GitError, Observed, Outcome, Rendered};
use serde_json::{Value, json};

use crate::fixture::{edited, rendered, sample, second_control_plane};
use crate::git::Bench;

const PLANE: &str = "/spec/controlPlanes/0";

/// Fields of the control plane and their values.
type Edits = Vec<(&'static str, Value)>;

fn at(pointer: &str) -> String {
    format!("{PLANE}{pointer}")
}

fn with(edits: &[(&str, Value)]) -> Rendered {
    let edits: Vec<(String, Value)> =
        edits.iter().map(|(pointer, value)| (at(pointer), value.clone())).collect();
    let edits: Vec<(&str, Value)> =
        edits.iter().map(|(pointer, value)| (pointer.as_str(), value.clone())).collect();
    rendered(&edited(&edits))
}

fn options(observed: Option<Observed>, accepted_removals: usize) -> CommitOptions {
    CommitOptions { observed, accepted_removals, ..CommitOptions::default() }
}

/// The rules that stop the second commit after the first.
fn refused(first: &[(&str, Value)], second: &[(&str, Value)]) -> Vec<(&'static str, String)> {
    let bench = Bench::new();
    bench.commit(&with(first)).unwrap();
    let tip = bench.tip();
    match bench.commit(&with(second)) {
        Ok(_) => Vec::new(),
        Err(GitError::History(findings)) => {
            assert_eq!(bench.tip(), tip, "a refused commit moves nothing");
            findings.0.into_iter().map(|finding| (finding.rule, finding.to_string())).collect()
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn fields_that_cannot_change_keep_their_value_and_others_may_change() {
    let storage = |edit: (&str, Value)| {
        let mut storage = json!([{ "name": "s1", "monitors": ["192.0.2.11"], "networks": ["192.0.2.0/24"] }]);
        crate::fixture::set(&mut storage, edit.0, edit.1);
        vec![
            ("/volumes", json!({ "nfs": [{ "name": "nfs", "server": "nfs.example.org", "path": "/v" }] })),
            ("/compute/0/libvirt", json!({ "image": "registry.example.org/libvirt:1" })),
            ("/storage", storage),
        ]
    };
    let fsid = |text: &str| storage(("/0/fsid", json!(text)));
    let services =
        |name: &str| vec![("/services", json!([{ "name": name, "services": [{ "service": "glance" }] }]))];
    let frozen: Vec<(Edits, Edits, &str)> = vec![
        (vec![], vec![("/region", json!("Elsewhere"))], "spec.region"),
        (vec![], vec![("/ovn", json!({ "cluster": "network-a1" }))], "spec.targetClusterRef"),
        (vec![], vec![("/ovn", json!({ "northbound": { "replicas": 5 } }))], "spec.northbound.replicas"),
        (vec![], vec![("/ovn", json!({ "southbound": { "storage": "2Gi" } }))], "spec.southbound.storage"),
        (vec![], vec![("/ovn", json!({ "name": "other" }))], "spec.centralRef"),
        (services("one"), services("two"), "spec.services.glance.targetClusterRef"),
        (
            storage(("/0/volumes", json!({}))),
            storage(("/0/volumes", json!({ "secretUuid": "8f4c1ad0-7b5e-4c11-9a53-1d0e5a4ce001" }))),
            "spec.rbd.secretUUID",
        ),
        (
            fsid("8f4c1ad0-7b5e-4c11-9a53-1d0e5a4ce001"),
            fsid("8f4c1ad0-7b5e-4c11-9a53-1d0e5a4ce002"),
            "topology.c5c3.io/fsid",
        ),
    ];
    for (first, second, field) in frozen {
        let found = refused(&first, &second);
        let hit = found.iter().find(|(rule, text)| *rule == "immutable-field" && text.contains(field));
        let (_, text) = hit.unwrap_or_else(|| panic!("{field}: {found:#?}"));
        assert!(text.starts_with("topology.yaml:"), "points at the topology: {text}");
    }
    let free: Vec<Edits> = vec![
        vec![("/release", json!("2026.1"))],
        vec![("/compute/0/pools/0", json!({ "name": "pool1", "cpuMode": "host-model" }))],
        vec![("/ovn", json!({ "relay": {} }))],
        fsid("8f4c1ad0-7b5e-4c11-9a53-1d0e5a4ce001"),
    ];
    for second in free {
        assert_eq!(refused(&[], &second), [], "{second:?}");
    }
}

#[test]
fn a_release_does_not_go_down() {
    let found = refused(&[("/release", json!("2026.1"))], &[("/release", json!("2025.2"))]);
    assert!(
        found
            .iter()
            .any(|(rule, text)| *rule == "release-downgrade" && text.contains("from 2026.1 to 2025.2")),
        "{found:#?}"
    );
    assert_eq!(refused(&[("/release", json!("2025.2"))], &[("/release", json!("2025.2"))]), []);
}

#[test]
fn what_is_in_use_is_neither_removed_nor_renamed() {
    let two = [("/compute/0/pools/1", json!({ "name": "pool2" }))];
    let found = refused(&two, &[]);
    assert!(
        found
            .iter()
            .any(|(rule, text)| *rule == "drain-first" && text.contains("compute-a1-pool2 would be removed")),
        "{found:#?}"
    );
    let selector = json!({ "openstack.c5c3.io/chassis": "true", "p": "1" });
    let pool = |name: &str| vec![("/compute/0/pools/0", json!({ "name": name, "nodeSelector": selector }))];
    let found = refused(&pool("old"), &pool("new"));
    assert!(
        found.iter().any(|(rule, text)| *rule == "drain-first" && text.contains("renamed to compute-a1-new")),
        "{found:#?}"
    );
    let draining = [("/compute/0/pools/1", json!({ "name": "pool2", "lifecycle": "Draining" }))];
    assert_eq!(refused(&draining, &[]), []);
}

/// Kustomizations in Git, as Flux would have them after it applied the tip.
fn applied(bench: &Bench) -> Value {
    let repository = bench.repository();
    let tree = repository.find_commit(bench.tip()).unwrap().tree().unwrap();
    let folder = tree.get_path(std::path::Path::new("clusters/management/flux")).unwrap().id();
    let items: Vec<Value> = repository
        .find_tree(folder)
        .unwrap()
        .iter()
        .map(|entry| {
            let blob = repository.find_blob(entry.id()).unwrap();
            serde_saphyr::from_str(std::str::from_utf8(blob.content()).unwrap()).unwrap()
        })
        .collect();
    json!({ "kind": "List", "items": items })
}

fn observed(list: &Value) -> Option<Observed> {
    Some(Observed::parse(&list.to_string()).unwrap())
}

fn leaving(outcome: &Outcome) -> Vec<&str> {
    match outcome {
        Outcome::Committed { leaving, .. } | Outcome::Unchanged { leaving, .. } => {
            leaving.keys().map(String::as_str).collect()
        }
    }
}

#[test]
fn a_cluster_leaves_in_the_reverse_of_its_order_and_each_step_is_seen_to_be_applied() {
    let draining = || with(&[("/compute/0/lifecycle", json!("Draining"))]);
    let without = || with(&[("/compute", json!([]))]);
    let bench = Bench::new();
    bench.commit(&rendered(&sample())).unwrap();
    assert!(matches!(bench.commit(&without()), Err(GitError::History(_))), "it is in use");
    let before_draining = applied(&bench);
    bench.commit(&draining()).unwrap();

    // Announced: nothing leaves, nothing is forgotten.
    assert!(
        matches!(bench.commit(&without()), Err(GitError::Removals { accepted: 0, ref layers }) if layers.len() == 7)
    );
    let outcome = bench.commit_with(&without(), &options(None, 7)).unwrap();
    assert_eq!(leaving(&outcome).len(), 7, "{outcome:?}");
    assert_eq!(applied(&bench)["items"].as_array().unwrap().len(), 18 - 1);

    // Flux still has the policy of before: whoever removed the layer now would leave the pools behind.
    let outcome = bench.commit_with(&without(), &options(observed(&before_draining), 0)).unwrap();
    assert!(matches!(outcome, Outcome::Unchanged { .. }), "{outcome:?}");

    let waves: [&[&str]; 5] = [
        &["compute-a1-pools"],
        &["compute-a1-metadata"],
        &["compute-a1-base", "compute-a1-chassis"],
        &["compute-a1-registration"],
        &["compute-a1-access"],
    ];
    for wave in waves {
        let on_the_cluster = applied(&bench);
        let outcome = bench.commit_with(&without(), &options(observed(&on_the_cluster), 0)).unwrap();
        let still: Vec<String> = applied(&bench)["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
            .collect();
        for name in wave {
            assert!(!still.contains(&(*name).to_owned()), "{name} should have left: {outcome:?}");
        }
        // As long as Flux has not taken the wave down, nothing more leaves.
        let outcome = bench.commit_with(&without(), &options(observed(&on_the_cluster), 0)).unwrap();
        assert!(matches!(outcome, Outcome::Unchanged { .. }), "{outcome:?}");
    }
    let outcome = bench.commit_with(&without(), &options(observed(&applied(&bench)), 0)).unwrap();
    assert_eq!(leaving(&outcome), [] as [&str; 0]);
    assert_eq!(bench.text("clusters/compute-a1/base/kustomization.yaml"), None);
    let last = bench.commit_with(&without(), &options(None, 0)).unwrap();
    assert!(matches!(last, Outcome::Unchanged { .. }), "{last:?}");
}

#[test]
fn while_a_cluster_leaves_others_come_and_change() {
    let bench = Bench::new();
    bench.commit(&with(&[("/network/0/lifecycle", json!("Draining"))])).unwrap();
    bench.commit_with(&with(&[("/network", json!([]))]), &options(None, 4)).unwrap();
    let mut document =
        edited(&[(&at("/network"), json!([])), ("/spec/controlPlanes/1", second_control_plane())]);
    document["spec"]["controlPlanes"][0]["release"] = json!("2026.1");
    let outcome = bench.commit(&rendered(&document)).unwrap();
    assert_eq!(leaving(&outcome).len(), 4, "{outcome:?}");
    let index = bench.text("clusters/management/kustomization.yaml").unwrap();
    assert!(index.contains("network-a1-chassis.yaml") && index.contains("compute-b1-pools.yaml"), "{index}");
    // It comes back before it has left: as if nothing had been.
    document["spec"]["controlPlanes"][0]["network"] = sample()["spec"]["controlPlanes"][0]["network"].clone();
    let outcome = bench.commit(&rendered(&document)).unwrap();
    assert_eq!(leaving(&outcome), [] as [&str; 0], "{outcome:?}");
}

#[test]
fn the_diff_says_what_leaves_when_and_what_is_refused() {
    let bench = Bench::new();
    bench.commit(&rendered(&sample())).unwrap();
    let diff: Diff =
        bench.diff(&with(&[("/network", json!([])), ("/release", json!("2024.1"))]), &options(None, 0));
    let rules: Vec<&str> = diff.refused.iter().map(|finding| finding.rule).collect();
    assert!(rules.contains(&"drain-first") && rules.contains(&"release-downgrade"), "{rules:?}");
    assert_eq!(diff.unaccepted.len(), 4);
    let text = diff.to_string();
    assert!(
        text.contains("leaves later: network-a1-access: network-a1-registration needs it and leaves first"),
        "{text}"
    );
    assert!(text.contains("commit with --accept-removals 4"), "{text}");
}

#[test]
fn what_is_no_list_of_kustomizations_is_not_taken_for_an_empty_cluster() {
    for text in [
        "",
        "[]",
        "{}",
        r#"{"items": [{}]}"#,
        r#"{"items": [{"kind": "Pod", "metadata": {"name": "x"}}]}"#,
        r#"{"kind": "List", "items": ["#,
    ] {
        assert!(Observed::parse(text).is_err(), "{text}");
    }
}
