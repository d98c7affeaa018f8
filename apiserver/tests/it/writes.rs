//! People and programs write Hypervisors and Evictions, while everything that is observed goes on moving.

use std::collections::BTreeMap;
use std::time::Duration;

use c5c3_api::{Eviction, Hypervisor, Maintenance};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::{Error, ResourceExt as _};
use serde_json::{Value, json};

use crate::fixture::{Ground, Server, Watch, seen, serve};

fn refused(error: &Error) -> (u16, String, String) {
    match error {
        Error::Api(status) => (status.code, status.reason.clone(), status.message.clone()),
        other => panic!("{other}"),
    }
}

fn apply(force: bool, manager: &str) -> PatchParams {
    let parameters = PatchParams::apply(manager);
    if force { parameters.force() } else { parameters }
}

fn hypervisor(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "hypervisor.c5c3.io/v1", "kind": "Hypervisor", "metadata": {"name": name}, "spec": spec})
}

async fn started(hosts: usize) -> (Ground, Server, Api<Hypervisor>) {
    let ground = Ground::new(hosts).await;
    let server = ground.serve().await;
    let hypervisors = server.all();
    (ground, server, hypervisors)
}

async fn any(hypervisors: &Api<Hypervisor>) -> Hypervisor {
    let list = hypervisors.list(&Default::default()).await.unwrap();
    list.items.into_iter().next().unwrap()
}

// covers: F6
#[tokio::test]
async fn a_host_is_taken_out_of_service_and_back_by_whoever_read_it() {
    let (_ground, server, hypervisors) = started(3).await;
    let mut host = any(&hypervisors).await;
    let name = host.name_any();
    assert_eq!(host.metadata.generation, Some(1));
    tokio::time::sleep(Duration::from_secs(2)).await;
    host.spec.maintenance = Some(Maintenance::Manual);
    let error = hypervisors.replace(&name, &PostParams::default(), &host).await.unwrap_err();
    let (code, reason, message) = refused(&error);
    assert_eq!((code, reason.as_str()), (422, "Invalid"));
    assert!(
        message.ends_with(
            "spec: Invalid value: maintenanceReason must be non-empty when maintenance is 'manual'"
        ),
        "{message}"
    );
    host.spec.maintenance_reason = Some("disk".to_owned());
    let written = hypervisors.replace(&name, &PostParams::default(), &host).await.unwrap();
    assert_eq!((written.spec.maintenance, written.metadata.generation), (Some(Maintenance::Manual), Some(2)));
    assert_eq!(written.metadata.uid, host.metadata.uid, "the first wish does not make it another one");
    assert!(written.status.is_some(), "the answer is what is shown");
    let shown = hypervisors.get(&name).await.unwrap();
    assert_eq!((&shown.spec, shown.metadata.generation), (&written.spec, Some(2)));
    let stale = hypervisors.replace(&name, &PostParams::default(), &host).await.unwrap_err();
    assert_eq!(refused(&stale).0, 409);
    let merged = Patch::Merge(json!({"spec": {"maintenance": null, "maintenanceReason": null}}));
    let back = hypervisors.patch(&name, &PatchParams::default(), &merged).await.unwrap();
    assert_eq!((back.spec.maintenance, back.metadata.generation), (None, Some(3)));
    server.stop().await;
}

#[tokio::test]
async fn what_is_stored_is_what_was_changed() {
    let (_ground, server, hypervisors) = started(2).await;
    let mut host = any(&hypervisors).await;
    let name = host.name_any();
    host.spec.skip_tests = true;
    host.labels_mut().insert("team".to_owned(), "blue".to_owned());
    hypervisors.replace(&name, &PostParams::default(), &host).await.unwrap();
    let records = server.running.intents().list("Hypervisor").await.unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(*records[0].spec(), json!({"skipTests": true}));
    assert_eq!(records[0].labels(), BTreeMap::from([("team".to_owned(), "blue".to_owned())]));
    let applied = hypervisor(&name, &json!({"highAvailability": true}));
    let owned = hypervisors.patch(&name, &apply(false, "flux"), &Patch::Apply(applied)).await.unwrap();
    assert!(owned.spec.high_availability && owned.spec.skip_tests);
    let records = server.running.intents().list("Hypervisor").await.unwrap();
    assert_eq!(
        *records[0].spec(),
        json!({"skipTests": true, "highAvailability": true}),
        "who applies a default wants it"
    );
    let given_up = hypervisor(&name, &json!({}));
    hypervisors.patch(&name, &apply(false, "flux"), &Patch::Apply(given_up)).await.unwrap();
    let records = server.running.intents().list("Hypervisor").await.unwrap();
    assert_eq!(*records[0].spec(), json!({"skipTests": true}));
    server.stop().await;
}

#[tokio::test]
async fn a_host_is_declared_before_it_exists_and_taken_back() {
    let (_ground, server, hypervisors) = started(1).await;
    let mut watch = Watch::open(&hypervisors).await;
    let new: Hypervisor =
        serde_json::from_value(hypervisor("later", &json!({"skipTests": true, "overcommit": {"cpu": 2}})))
            .unwrap();
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    assert_eq!(hypervisors.create(&dry, &new).await.unwrap().metadata.resource_version, None);
    let created = hypervisors.create(&PostParams::default(), &new).await.unwrap();
    assert_eq!((created.spec.skip_tests, created.metadata.generation), (true, Some(1)));
    let shown = watch.until("later", |_| true).await;
    assert_eq!(
        (shown.metadata.uid.clone(), shown.spec.overcommit["cpu"]),
        (created.metadata.uid.clone(), 2.0)
    );
    let again = hypervisors.create(&PostParams::default(), &new).await.unwrap_err();
    assert_eq!(refused(&again).1, "AlreadyExists");
    let wrong = json!({"metadata": {"name": "worse"}, "spec": {"overcommit": {"cpu": 0.5}}});
    let wrong: Hypervisor = serde_json::from_value(wrong).unwrap();
    assert_eq!(refused(&hypervisors.create(&PostParams::default(), &wrong).await.unwrap_err()).0, 422);
    hypervisors.delete("later", &DeleteParams::default()).await.unwrap();
    assert!(hypervisors.get_opt("later").await.unwrap().is_none(), "whoever deletes does not see it again");
    server.stop().await;
}

#[tokio::test]
async fn a_host_that_is_there_comes_back_with_defaults_as_somebody_else() {
    let (ground, server, hypervisors) = started(2).await;
    let name = any(&hypervisors).await.name_any();
    let patch = Patch::Merge(json!({"spec": {"skipTests": true}, "metadata": {"labels": {"team": "blue"}}}));
    let before = hypervisors.patch(&name, &PatchParams::default(), &patch).await.unwrap();
    let uid = before.metadata.uid.clone().unwrap();
    let other = DeleteParams {
        preconditions: Some(Preconditions { uid: Some("x".into()), resource_version: None }),
        ..DeleteParams::default()
    };
    assert_eq!(refused(&hypervisors.delete(&name, &other).await.unwrap_err()).0, 409);
    hypervisors.delete(&name, &DeleteParams::default()).await.unwrap();
    let back = hypervisors.get(&name).await.unwrap();
    assert_ne!(back.metadata.uid.as_deref(), Some(uid.as_str()));
    assert!(!back.spec.skip_tests && !back.labels().contains_key("team"));
    assert_eq!(back.metadata.generation, Some(1));
    let second = hypervisors.delete(&name, &DeleteParams::default()).await;
    assert!(second.is_ok(), "also when nothing is stored but that");
    let third = hypervisors.get(&name).await.unwrap();
    assert_ne!(third.metadata.uid, back.metadata.uid);
    let configuration = ground.configuration();
    server.stop().await;
    if configuration.intent.file.is_some() {
        let again = serve(&ground.certificates, configuration).await;
        let kept = seen(&again.all::<Hypervisor>(), &name, |_| true).await;
        assert_eq!(kept.metadata.uid, third.metadata.uid, "who it is, is kept over a restart");
        again.stop().await;
    }
}

#[tokio::test]
async fn an_eviction_is_asked_for_changed_and_cancelled() {
    let (_ground, server, hypervisors) = started(2).await;
    let host = any(&hypervisors).await.name_any();
    let evictions: Api<Eviction> = server.all();
    let new: Eviction = serde_json::from_value(
        json!({"metadata": {"name": "e"}, "spec": {"hypervisor": host, "reason": "fan"}}),
    )
    .unwrap();
    let created = evictions.create(&PostParams::default(), &new).await.unwrap();
    assert_eq!(created.spec.reason, "fan");
    let owner = &created.metadata.owner_references.clone().unwrap_or_default()[0];
    assert_eq!((owner.kind.as_str(), owner.name.as_str()), ("Hypervisor", host.as_str()));
    let reason = Patch::Merge(json!({"spec": {"reason": "disk"}}));
    let changed = evictions.patch("e", &PatchParams::default(), &reason).await.unwrap();
    assert_eq!((changed.spec.reason.as_str(), changed.metadata.generation), ("disk", Some(2)));
    let record = &server.running.intents().list("Eviction").await.unwrap()[0];
    assert!(record.labels().is_empty(), "what is computed is not stored");
    assert_eq!(record.owner_references()[0].name, host, "for whom it was made, is");
    let elsewhere = Patch::Merge(json!({"spec": {"hypervisor": "another"}}));
    let (code, _, message) =
        refused(&evictions.patch("e", &PatchParams::default(), &elsewhere).await.unwrap_err());
    assert_eq!(code, 422);
    assert!(message.contains("spec.hypervisor: Invalid value: \"another\": Value is immutable"), "{message}");
    for empty in [json!({"spec": {"reason": ""}}), json!({"spec": {"reason": null}})] {
        let error = evictions.patch("e", &PatchParams::default(), &Patch::Merge(empty)).await.unwrap_err();
        assert_eq!(refused(&error).0, 422);
    }
    let held = Patch::Merge(json!({"metadata": {"finalizers": ["example.com/backup"]}}));
    evictions.patch("e", &PatchParams::default(), &held).await.unwrap();
    evictions.delete("e", &DeleteParams::default()).await.unwrap();
    let leaving = evictions.get("e").await.unwrap();
    assert!(leaving.metadata.deletion_timestamp.is_some());
    let released = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    evictions.patch("e", &PatchParams::default(), &released).await.unwrap();
    assert!(evictions.get_opt("e").await.unwrap().is_none());
    server.stop().await;
}

// covers: CR2
#[tokio::test]
async fn ten_writers_who_create_or_update_lose_nothing() {
    let (_ground, server, _) = started(2).await;
    let evictions: Api<Eviction> = server.all();
    let writers = (0..10).map(|writer| {
        let evictions = evictions.clone();
        async move {
            for round in 0..3 {
                create_or_update(&evictions, &format!("w{writer}-r{round}")).await;
            }
        }
    });
    futures::future::join_all(writers).await;
    let object = evictions.get("shared").await.unwrap();
    assert_eq!(object.annotations().len(), 30, "{:?}", object.annotations().keys());
    server.stop().await;
}

/// As controller-runtime does it: read, create if there is none, else change and send the whole back; again on a conflict.
async fn create_or_update(evictions: &Api<Eviction>, mark: &str) {
    loop {
        let outcome = match evictions.get_opt("shared").await.unwrap() {
            None => {
                let mut new: Eviction = serde_json::from_value(
                    json!({"metadata": {"name": "shared"}, "spec": {"hypervisor": "h", "reason": "x"}}),
                )
                .unwrap();
                new.annotations_mut().insert(mark.to_owned(), String::new());
                evictions.create(&PostParams::default(), &new).await
            }
            Some(mut object) => {
                object.annotations_mut().insert(mark.to_owned(), String::new());
                evictions.replace("shared", &PostParams::default(), &object).await
            }
        };
        match outcome {
            Ok(_) => return,
            Err(error) => assert_eq!(refused(&error).0, 409, "{error}"),
        }
    }
}

#[tokio::test]
async fn what_is_only_observed_cannot_be_written() {
    let (_ground, server, hypervisors) = started(1).await;
    let name = any(&hypervisors).await.name_any();
    let nodes = server.ovs_nodes();
    let patch = Patch::Merge(json!({"spec": {"nodeRef": {"name": "x"}}}));
    assert_eq!(refused(&nodes.patch(&name, &PatchParams::default(), &patch).await.unwrap_err()).0, 405);
    assert_eq!(refused(&nodes.delete(&name, &DeleteParams::default()).await.unwrap_err()).0, 405);
    let status =
        hypervisors.patch_status(&name, &PatchParams::default(), &Patch::Merge(json!({"status": {}}))).await;
    let (code, _, message) = refused(&status.unwrap_err());
    assert_eq!(
        (code, message.as_str()),
        (405, "the status of hypervisors is computed and cannot be written")
    );
    server.stop().await;
}

// covers: F4
#[tokio::test]
async fn a_second_apply_of_the_same_is_silent() {
    let (_ground, server, hypervisors) = started(1).await;
    let name = any(&hypervisors).await.name_any();
    let applied = hypervisor(
        &name,
        &json!({"skipTests": true, "customTraits": ["CUSTOM_A"], "overcommit": {"cpu": 2.0}}),
    );
    let first = hypervisors.patch(&name, &apply(false, "flux"), &Patch::Apply(&applied)).await.unwrap();
    let stored = server.running.intents().list("Hypervisor").await.unwrap();
    let second = hypervisors.patch(&name, &apply(false, "flux"), &Patch::Apply(&applied)).await.unwrap();
    assert_eq!(server.running.intents().list("Hypervisor").await.unwrap(), stored);
    assert_eq!((second.spec, second.metadata.generation), (first.spec, first.metadata.generation));
    server.stop().await;
}
