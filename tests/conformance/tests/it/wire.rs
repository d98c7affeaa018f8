//! What the clients' sources say they send, and what they must get: through kube-apiserver, word for word.

use anyhow::{Context as _, Result, ensure};
use c5c3_conformance::curl::{Answer, ask, ask_replica};
use c5c3_conformance::fleet::HOSTS;
use c5c3_conformance::stage::Stage;
use serde_json::Value;

use crate::turns::on_the_stage;

const HYPERVISORS: &str = "/apis/hypervisor.c5c3.io/v1/hypervisors";
const EVICTIONS: &str = "/apis/hypervisor.c5c3.io/v1/evictions";
const STREAMING: &str = "watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=2";
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";
/// What kube-controller-manager's metadata client accepts, for lists and for single objects.
const PARTIAL_LIST: &str = "Accept: application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const PARTIAL: &str = "Accept: application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const TABLE: &str = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

fn list_version(stage: &Stage) -> Result<String> {
    let list = ask(stage, HYPERVISORS, &[])?.json()?;
    Ok(list["metadata"]["resourceVersion"].as_str().context("a list without a version")?.to_owned())
}

/// Checks a stream of initial events: so many additions, then the annotated bookmark.
fn complete(answer: &Answer, objects: usize, kind: &str, version: &str) -> Result<()> {
    let events = answer.events()?;
    let types: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    let first_other = types.iter().position(|type_| *type_ != "ADDED").context("nothing but additions")?;
    ensure!(first_other == objects && types[first_other] == "BOOKMARK", "{types:?}");
    let bookmark = &events[first_other]["object"];
    let of = |object: &Value| (object["kind"].clone(), object["apiVersion"].clone());
    ensure!(of(bookmark) == (kind.into(), version.into()), "the bookmark is {:?}", of(bookmark));
    ensure!(bookmark["metadata"]["annotations"][INITIAL_EVENTS_END] == "true", "{bookmark}");
    let number = |object: &Value| -> Result<u64> {
        Ok(object["metadata"]["resourceVersion"].as_str().context("an event without a version")?.parse()?)
    };
    let reached = number(bookmark)?;
    for event in &events[..objects] {
        ensure!(of(&event["object"]) == (kind.into(), version.into()), "{:?}", of(&event["object"]));
        ensure!(number(&event["object"])? <= reached, "an initial event is newer than the bookmark");
    }
    for event in &events[first_other + 1..] {
        ensure!(
            event["object"]["metadata"]["annotations"][INITIAL_EVENTS_END].is_null(),
            "a second end: {event}"
        );
    }
    Ok(())
}

/// covers: C1 C2 C3 R2 K3
#[test]
fn a_streamed_list_ends_with_its_bookmark_from_every_version_that_clients_send() -> Result<()> {
    on_the_stage(|stage| {
        let current = list_version(stage)?;
        for version in ["", "&resourceVersion=0", &format!("&resourceVersion={current}")] {
            let answer = ask(stage, &format!("{HYPERVISORS}?{STREAMING}{version}"), &[])?;
            complete(&answer, HOSTS, "Hypervisor", "hypervisor.c5c3.io/v1")
                .with_context(|| format!("from `{version}`"))?;
        }
        let answer = ask(stage, &format!("{EVICTIONS}?{STREAMING}"), &[])?;
        complete(&answer, 0, "Eviction", "hypervisor.c5c3.io/v1").context("a kind without objects")?;
        let answer = ask(stage, &format!("{HYPERVISORS}?{STREAMING}"), &[PARTIAL])?;
        complete(&answer, HOSTS, "PartialObjectMetadata", "meta.k8s.io/v1").context("as metadata")?;
        let answer = ask(stage, &format!("{EVICTIONS}?{STREAMING}"), &[PARTIAL])?;
        complete(&answer, 0, "PartialObjectMetadata", "meta.k8s.io/v1").context("no objects, as metadata")
    })
}

/// covers: C3 L3
#[test]
fn a_watch_without_a_version_begins_with_what_is_there_and_one_with_a_version_does_not() -> Result<()> {
    on_the_stage(|stage| {
        for version in ["", "&resourceVersion=0"] {
            let events =
                ask(stage, &format!("{HYPERVISORS}?watch=true&timeoutSeconds=1{version}"), &[])?.events()?;
            let added = events.iter().take_while(|event| event["type"] == "ADDED").count();
            ensure!(added == HOSTS, "from `{version}`: {added} additions first");
            ensure!(
                !events.iter().any(|event| event["type"] == "BOOKMARK"),
                "bookmarks that nobody asked for"
            );
        }
        // The replica whose list this is: another one would repeat what is within the overlap.
        let list = ask_replica(stage, 0, HYPERVISORS, &[])?.json()?;
        let version = list["metadata"]["resourceVersion"].as_str().context("no version")?;
        let path = format!("{HYPERVISORS}?watch=true&timeoutSeconds=1&resourceVersion={version}");
        let events = ask_replica(stage, 0, &path, &[])?.events()?;
        ensure!(!events.iter().any(|event| event["type"] == "ADDED"), "{events:?}");
        Ok(())
    })
}

/// covers: C6 K4 R10
#[test]
fn too_old_is_an_event_and_too_large_is_a_timeout_with_its_cause() -> Result<()> {
    on_the_stage(|stage| {
        let events =
            ask(stage, &format!("{HYPERVISORS}?watch=true&timeoutSeconds=5&resourceVersion=1"), &[])?
                .events()?;
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(events[0]["type"], "ERROR");
        let status = &events[0]["object"];
        assert_eq!(
            (&status["kind"], &status["apiVersion"], &status["status"]),
            (&"Status".into(), &"v1".into(), &"Failure".into())
        );
        assert_eq!((&status["reason"], &status["code"]), (&"Expired".into(), &410.into()));

        let far = "9000000000000000000";
        for path in [
            format!("{HYPERVISORS}?resourceVersion={far}&resourceVersionMatch=NotOlderThan"),
            format!("{HYPERVISORS}/host-1?resourceVersion={far}"),
        ] {
            let answer = ask(stage, &path, &[])?;
            let status = answer.json()?;
            assert_eq!(
                (answer.code, &status["code"], &status["reason"]),
                (504, &504.into(), &"Timeout".into()),
                "{path}"
            );
            assert_eq!(status["details"]["causes"][0]["reason"], "ResourceVersionTooLarge", "{path}");
            ensure!(
                status["details"]["retryAfterSeconds"].as_u64().is_some_and(|seconds| seconds <= 5),
                "{status}"
            );
        }
        Ok(())
    })
}

/// covers: L1 L2 L4 L5 C7
#[test]
fn parameters_that_make_no_sense_together_are_refused_as_kube_apiserver_refuses_them() -> Result<()> {
    on_the_stage(|stage| {
        let (invalid, bad) = (422, 400);
        for (query, code) in [
            ("resourceVersionMatch=Exact", invalid),
            ("resourceVersionMatch=Nonsense&resourceVersion=1", invalid),
            ("resourceVersionMatch=Exact&resourceVersion=0", invalid),
            ("resourceVersionMatch=NotOlderThan&resourceVersion=1&continue=abc", invalid),
            ("sendInitialEvents=true&resourceVersionMatch=NotOlderThan", invalid),
            ("watch=true&sendInitialEvents=true", invalid),
            ("watch=true&sendInitialEvents=false", invalid),
            ("watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=1", invalid),
            ("watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=abc", invalid),
            ("resourceVersion=words", bad),
            ("limit=words", bad),
            ("continue=bm9uZQ", bad),
            ("fieldSelector=spec.nothing%3D1", bad),
            ("labelSelector=a%20in%20(", bad),
            ("watch=true&resourceVersion=words", bad),
        ] {
            let answer = ask(stage, &format!("{HYPERVISORS}?{query}"), &[])?;
            let status = answer.json()?;
            assert_eq!(
                (answer.code, &status["kind"], &status["code"]),
                (code, &"Status".into(), &code.into()),
                "{query}: {status}"
            );
        }
        let answer = ask(
            stage,
            &format!("{HYPERVISORS}/host-1?watch=true&fieldSelector=metadata.name%3Dhost-2"),
            &[],
        )?;
        assert_eq!(answer.code, 400, "{}", answer.body);
        let list = ask(stage, &format!("{HYPERVISORS}?resourceVersion=0"), &[])?.json()?;
        assert_eq!(list["items"].as_array().map(Vec::len), Some(HOSTS));
        Ok(())
    })
}

/// covers: C8 R8 G1
#[test]
fn the_controllers_of_kube_controller_manager_read_metadata_as_json() -> Result<()> {
    on_the_stage(|stage| {
        for user in
            ["system:serviceaccount:kube-system:generic-garbage-collector", "system:kube-controller-manager"]
        {
            // A controller's account has these groups; RBAC lets the collector read everything.
            let fields =
                [&format!("Impersonate-User: {user}"), "Impersonate-Group: system:masters", PARTIAL_LIST];
            for (path, objects) in [(HYPERVISORS, HOSTS), (EVICTIONS, 0)] {
                let answer = ask(stage, path, &fields)?;
                let list = answer.json()?;
                assert_eq!(
                    (&list["kind"], &list["apiVersion"]),
                    (&"PartialObjectMetadataList".into(), &"meta.k8s.io/v1".into()),
                    "{user}"
                );
                let items = list["items"].as_array().context("no items")?;
                assert_eq!(items.len(), objects);
                for item in items {
                    assert_eq!(
                        (&item["kind"], &item["apiVersion"]),
                        (&"PartialObjectMetadata".into(), &"meta.k8s.io/v1".into())
                    );
                    ensure!(
                        item["metadata"]["uid"].is_string()
                            && item["status"].is_null()
                            && item["spec"].is_null(),
                        "{item}"
                    );
                }
                ensure!(
                    list["metadata"]["resourceVersion"].as_str().is_some_and(|version| version != "0"),
                    "{list}"
                );
                let kind = answer.field("content-type").unwrap_or_default();
                ensure!(kind.starts_with("application/json"), "{kind}");
            }
        }
        Ok(())
    })
}

/// covers: C27
#[test]
fn binary_formats_are_declined_where_json_would_do_and_refused_where_not() -> Result<()> {
    on_the_stage(|stage| {
        for (accept, code) in [
            ("application/vnd.kubernetes.protobuf,application/json", 200),
            ("application/vnd.kubernetes.protobuf, */*", 200),
            ("application/json;q=0.9,application/cbor;q=1", 200),
            ("application/vnd.kubernetes.protobuf", 406),
            ("text/html", 406),
        ] {
            let answer = ask(stage, HYPERVISORS, &[&format!("Accept: {accept}")])?;
            assert_eq!(answer.code, code, "{accept}: {:.300}", answer.body);
            let kind = answer.json()?["kind"].clone();
            assert_eq!(kind, if code == 200 { "HypervisorList" } else { "Status" }, "{accept}");
        }
        Ok(())
    })
}

/// covers: C25 Q1
#[test]
fn tables_carry_metadata_or_nothing_or_everything_as_asked() -> Result<()> {
    on_the_stage(|stage| {
        let plain = ask(stage, HYPERVISORS, &[TABLE])?.json()?;
        assert_eq!((&plain["kind"], &plain["apiVersion"]), (&"Table".into(), &"meta.k8s.io/v1".into()));
        assert_eq!(plain["rows"].as_array().map(Vec::len), Some(HOSTS));
        assert_eq!(plain["rows"][0]["object"]["kind"], "PartialObjectMetadata");
        ensure!(
            plain["metadata"]["resourceVersion"]
                .as_str()
                .is_some_and(|version| version.parse::<u64>().is_ok()),
            "{}",
            plain["metadata"]
        );
        let columns = plain["columnDefinitions"].as_array().map(Vec::len);
        assert_eq!(plain["rows"][0]["cells"].as_array().map(Vec::len), columns);
        let none = ask(stage, &format!("{HYPERVISORS}?includeObject=None"), &[TABLE])?.json()?;
        ensure!(none["rows"][0]["object"].is_null(), "{}", none["rows"][0]);
        let object = ask(stage, &format!("{HYPERVISORS}?includeObject=Object"), &[TABLE])?.json()?;
        assert_eq!(object["rows"][0]["object"]["kind"], "Hypervisor");
        assert_eq!(ask(stage, &format!("{HYPERVISORS}?includeObject=Wrong"), &[TABLE])?.code, 400);

        let events = ask(stage, &format!("{HYPERVISORS}?{STREAMING}"), &[TABLE])?.events()?;
        for (index, event) in events.iter().enumerate() {
            assert_eq!(event["object"]["kind"], "Table", "{event}");
            let columns = event["object"]["columnDefinitions"].as_array().map_or(0, Vec::len);
            assert_eq!(columns > 0, index == 0, "columns in event {index}");
        }
        ensure!(events.iter().any(|event| event["type"] == "BOOKMARK"), "no bookmark");
        Ok(())
    })
}

/// What the aggregator fetches, from each replica itself.
///
/// covers: C12 A2 A5 C28
#[test]
fn discovery_and_openapi_are_what_the_aggregator_fetches_also_with_every_backend_away() -> Result<()> {
    on_the_stage(|stage| {
        stage.fleet.silence(true);
        let checked = (0..2).try_for_each(|slot| aggregators_documents(stage, slot));
        stage.fleet.silence(false);
        checked?;
        stage.until_whole()
    })
}

fn aggregators_documents(stage: &Stage, slot: usize) -> Result<()> {
    let accept = "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let answer = ask_replica(stage, slot, "/apis", &[accept])?;
    let kind = answer.field("content-type").unwrap_or_default();
    for word in ["g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"] {
        ensure!(answer.code == 200 && kind.contains(word), "{} {kind}", answer.code);
    }
    let document = answer.json()?;
    let groups: Vec<&str> = document["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|group| group["metadata"]["name"].as_str())
        .collect();
    ensure!(["hypervisor.c5c3.io", "ovs.c5c3.io"].iter().all(|group| groups.contains(group)), "{groups:?}");
    let tag = answer.field("etag").context("no ETag")?;
    let again = ask_replica(stage, slot, "/apis", &[accept, &format!("If-None-Match: {tag}")])?;
    assert_eq!(again.code, 304);
    for (path, kind) in [
        ("/apis", "APIGroupList"),
        ("/apis/hypervisor.c5c3.io", "APIGroup"),
        ("/apis/hypervisor.c5c3.io/v1", "APIResourceList"),
        ("/apis/ovs.c5c3.io/v1alpha1", "APIResourceList"),
    ] {
        let legacy = ask_replica(stage, slot, path, &[])?;
        let document = legacy.json()?;
        assert_eq!(
            (legacy.code, &document["kind"], &document["apiVersion"]),
            (200, &kind.into(), &"v1".into()),
            "{path}"
        );
    }
    let index = ask_replica(stage, slot, "/openapi/v3", &[])?.json()?;
    let leaf =
        index["paths"]["apis/hypervisor.c5c3.io/v1"]["serverRelativeURL"].as_str().context("no leaf")?;
    ensure!(leaf.contains("hash="), "{leaf}");
    let document = ask_replica(stage, slot, leaf, &[])?.json()?;
    ensure!(
        document["openapi"].as_str().is_some_and(|version| version.starts_with("3.")),
        "{}",
        document["openapi"]
    );
    Ok(())
}
