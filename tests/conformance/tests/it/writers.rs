//! What Flux, the collector and other writers send, word for word, and Flux itself.

use anyhow::{Context as _, Result, ensure};
use c5c3_conformance::curl::{Answer, ask, ask_replica, send};
use c5c3_conformance::stage::Stage;
use c5c3_e2e::patience::{SOON, eventually};
use serde_json::{Value, json};

use crate::turns::on_the_stage;

const HYPERVISORS: &str = "/apis/hypervisor.c5c3.io/v1/hypervisors";
const APPLY: &str = "application/apply-patch+yaml";
const JSON: &str = "application/json";

/// A host that a test declares and takes back.
struct Declared<'a> {
    stage: &'a Stage,
    path: String,
}

impl<'a> Declared<'a> {
    fn new(stage: &'a Stage, name: &str) -> Self {
        Self { stage, path: format!("{HYPERVISORS}/{name}") }
    }

    fn apply(&self, query: &str, body: &Value) -> Result<Answer> {
        send(self.stage, "PATCH", &format!("{}?fieldManager=flux&force=true{query}", self.path), APPLY, body)
    }

    fn get(&self) -> Result<Answer> {
        ask(self.stage, &self.path, &[])
    }

    fn generation(&self) -> Result<u64> {
        self.get()?.json()?["metadata"]["generation"].as_u64().context("no generation")
    }
}

impl Drop for Declared<'_> {
    fn drop(&mut self) {
        if let Err(error) = send(self.stage, "DELETE", &self.path, JSON, &json!({})) {
            eprintln!("{error:#}");
        }
    }
}

fn hypervisor(name: &str, reason: &str) -> Value {
    json!({
        "apiVersion": "hypervisor.c5c3.io/v1", "kind": "Hypervisor", "metadata": {"name": name},
        "spec": {"maintenance": "manual", "maintenanceReason": reason},
    })
}

/// The steps of Flux's apply: a dry run that is compared, then the apply; and again, when nothing is to be done.
///
/// covers: C20 C21 F1 F2 F3 F4 F7
#[test]
fn an_apply_is_tried_compared_and_done_as_flux_does_it() -> Result<()> {
    on_the_stage(|stage| {
        let declared = Declared::new(stage, "by-flux");
        let wish = hypervisor("by-flux", "disk");
        let tried = declared.apply("&dryRun=All", &wish)?;
        ensure!(matches!(tried.code, 200 | 201), "{} {}", tried.code, tried.body);
        let version = &tried.json()?["metadata"]["resourceVersion"];
        ensure!(version.is_null() || version == "", "the dry run of a creation has the version {version}");
        assert_eq!(declared.get()?.code, 404, "a dry run has created it");

        let done = declared.apply("", &wish)?;
        assert_eq!(done.code, 201, "{}", done.body);
        let shown = declared.get()?.json()?;
        let again = declared.apply("&dryRun=All", &wish)?.json()?;
        ensure!(
            again["metadata"]["resourceVersion"].as_str().is_some_and(|version| !version.is_empty()),
            "{again}"
        );
        for part in ["spec", "apiVersion", "kind"] {
            assert_eq!(again[part], shown[part], "the dry run of what is there differs in {part}");
        }
        for part in ["labels", "annotations", "generation", "uid", "managedFields"] {
            assert_eq!(
                again["metadata"][part], shown["metadata"][part],
                "the dry run of what is there differs in {part}"
            );
        }
        let generation = declared.generation()?;
        assert_eq!(declared.apply("", &wish)?.code, 200);
        assert_eq!(declared.generation()?, generation, "an apply without change is one");

        let tried = declared.apply("&dryRun=All", &hypervisor("by-flux", "memory"))?.json()?;
        assert_eq!(tried["spec"]["maintenanceReason"], "memory");
        assert_eq!(declared.get()?.json()?["spec"]["maintenanceReason"], "disk", "a dry run has written");

        let mut with_managers = wish.clone();
        with_managers["metadata"]["managedFields"] = shown["metadata"]["managedFields"].clone();
        assert_eq!(declared.apply("", &with_managers)?.code, 400);
        let nobody = send(stage, "PATCH", &declared.path, APPLY, &wish)?;
        ensure!(
            nobody.code == 422 || nobody.code == 400,
            "an apply by nobody: {} {}",
            nobody.code,
            nobody.body
        );

        let cleared = json!([{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]);
        let answer = send(stage, "PATCH", &declared.path, "application/json-patch+json", &cleared)?;
        assert_eq!(answer.code, 200, "{}", answer.body);
        let left = &declared.get()?.json()?["metadata"]["managedFields"];
        ensure!(
            left.as_array().is_none_or(|left| left.iter().all(|entry| entry["manager"] != "flux")),
            "{left}"
        );
        Ok(())
    })
}

/// covers: G3 G4 C20 C23 C27 R10
#[test]
fn deletions_and_patches_are_what_the_collector_needs() -> Result<()> {
    on_the_stage(|stage| {
        let declared = Declared::new(stage, "by-collector");
        assert_eq!(send(stage, "POST", HYPERVISORS, JSON, &hypervisor("by-collector", "disk"))?.code, 201);
        let uid = declared.get()?.json()?["metadata"]["uid"].clone();

        let patch = json!({"metadata": {"labels": {"a": "b"}}});
        let strategic =
            send(stage, "PATCH", &declared.path, "application/strategic-merge-patch+json", &patch)?;
        assert_eq!((strategic.code, &strategic.json()?["code"]), (415, &415.into()));
        assert_eq!(send(stage, "PATCH", &declared.path, "application/merge-patch+json", &patch)?.code, 200);
        let binary = send(stage, "PUT", &declared.path, "application/cbor", &patch)?;
        assert_eq!(binary.code, 415, "{}", binary.body);

        let options = |uid: &Value| json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}, "propagationPolicy": "Background"});
        let stranger = send(
            stage,
            "DELETE",
            &declared.path,
            JSON,
            &options(&"00000000-0000-4000-8000-000000000000".into()),
        )?;
        assert_eq!((stranger.code, &stranger.json()?["reason"]), (409, &"Conflict".into()));
        let tried = send(stage, "DELETE", &format!("{}?dryRun=All", declared.path), JSON, &options(&uid))?;
        assert_eq!(tried.code, 200, "{}", tried.body);
        assert_eq!(declared.get()?.json()?["metadata"]["uid"], uid, "a dry run has deleted it");
        assert_eq!(send(stage, "DELETE", &declared.path, JSON, &options(&uid))?.code, 200);
        assert_eq!(declared.get()?.code, 404);
        Ok(())
    })
}

/// covers: G5 C23
#[test]
fn what_cannot_be_deleted_does_not_promise_it() -> Result<()> {
    on_the_stage(|stage| {
        let document = ask(stage, "/apis/ovs.c5c3.io/v1alpha1", &[])?.json()?;
        let switches = &document["resources"][0];
        assert_eq!(switches["name"], "ovsnodes");
        let verbs: Vec<&str> =
            switches["verbs"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        ensure!(!verbs.iter().any(|verb| verb.starts_with("delete") || *verb == "create"), "{verbs:?}");
        let path = "/apis/ovs.c5c3.io/v1alpha1/namespaces/ovn-system/ovsnodes";
        assert_eq!(send(stage, "DELETE", path, JSON, &json!({}))?.code, 405);
        Ok(())
    })
}

/// A write that was acknowledged outlives the replica that acknowledged it, and both replicas tell it alike.
///
/// covers: CR2 C10
#[test]
fn what_a_killed_replica_has_acknowledged_the_other_one_shows() -> Result<()> {
    on_the_stage(|stage| {
        let declared = Declared::new(stage, "outlives");
        assert_eq!(declared.apply("", &hypervisor("outlives", "disk"))?.code, 201);
        let slot = stage.serving_replica();
        stage.kill(slot)?;
        let shown = eventually(SOON, "the other replica shows it", || {
            let answer = declared.get()?;
            ensure!(answer.code == 200, "{} {}", answer.code, answer.body);
            answer.json()
        });
        let written = declared.apply("", &hypervisor("outlives", "memory"));
        stage.replace(slot)?;
        let shown = shown?;
        assert_eq!(shown["spec"]["maintenanceReason"], "disk");
        assert_eq!(written?.code, 200);
        for slot in 0..2 {
            eventually(SOON, "every replica shows what was written last", || {
                let object = ask_replica(stage, slot, &declared.path, &[])?.json()?;
                ensure!(object["spec"]["maintenanceReason"] == "memory", "{}", object["spec"]);
                ensure!(object["metadata"]["uid"] == shown["metadata"]["uid"], "it is another one");
                Ok(())
            })?;
        }
        Ok(())
    })
}
