//! Laws of a collection.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::definition::Scope;
use crate::testing::{self, station};

fn parsed(object: &PublishedObject) -> Value {
    serde_json::from_slice(object.json()).unwrap()
}

fn only(collection: &Collection) -> Arc<PublishedObject> {
    collection.list(None).objects.pop().unwrap()
}

fn events(collection: &Collection) -> Vec<Arc<Event>> {
    collection.events_from(0, usize::MAX).unwrap()
}

#[test]
fn what_is_published_is_completed_and_can_be_read() {
    let collection = testing::collection();
    let outcome = collection.publish(station("a", &json!({"spec": {"region": "north"}}))).unwrap();
    let PublishOutcome::Added(version) = outcome else { panic!("{outcome:?}") };
    let expected = json!({
        "apiVersion": "weather.example.com/v1", "kind": "Station",
        "metadata": {"name": "a", "uid": "uid-a", "resourceVersion": version.to_string()},
        "spec": {"region": "north"},
    });
    assert_eq!(parsed(&only(&collection)), expected);
    let event = events(&collection).remove(0);
    let line: Value = serde_json::from_slice(&event.frame).unwrap();
    assert_eq!(line, json!({"type": "ADDED", "object": expected}));
    assert!(event.frame.ends_with(b"\n"));
}

#[test]
fn repetition_is_no_change_whatever_the_order_of_keys() {
    let collection = testing::collection();
    collection
        .publish(serde_json::from_str(r#"{"metadata":{"name":"a","uid":"1"},"spec":{"x":1,"y":2}}"#).unwrap())
        .unwrap();
    let again =
        r#"{"spec":{"y":2,"x":1},"metadata":{"uid":"1","name":"a","resourceVersion":"7"},"kind":"Station"}"#;
    let outcome = collection.publish(serde_json::from_str(again).unwrap()).unwrap();
    assert!(matches!(outcome, PublishOutcome::Unchanged(_)));
    assert_eq!(events(&collection).len(), 1);
}

#[test]
fn an_amendment_is_seen_by_readers_only_until_it_is_published() {
    let collection = testing::collection();
    collection.publish(station("a", &json!({"status": {"n": 1}}))).unwrap();
    let before = only(&collection).version();
    let outcome = collection.amend(station("a", &json!({"status": {"n": 2}}))).unwrap();
    assert_eq!(outcome, AmendOutcome::Amended(before));
    assert_eq!(parsed(&only(&collection))["status"]["n"], 2);
    assert_eq!(events(&collection).len(), 1);
    let outcome = collection.publish(station("a", &json!({"status": {"n": 2}}))).unwrap();
    assert!(matches!(outcome, PublishOutcome::Modified(version) if version > before));
    assert_eq!(collection.amend(station("b", &json!({}))).unwrap(), AmendOutcome::Absent);
}

#[test]
fn an_amendment_that_selectors_can_tell_is_published() {
    let collection = testing::collection();
    collection.publish(station("a", &json!({"spec": {"region": "north"}}))).unwrap();
    let outcome = collection.amend(station("a", &json!({"spec": {"region": "south"}}))).unwrap();
    assert!(matches!(outcome, AmendOutcome::Published(PublishOutcome::Modified(_))));
}

// covers: C4 R7
#[test]
fn a_removal_has_a_version_of_its_own() {
    let collection = testing::collection();
    collection.publish(station("a", &json!({"spec": {"long": "x".repeat(100)}}))).unwrap();
    let last = only(&collection);
    let version = collection.withdraw(&ObjectKey::cluster("a")).unwrap();
    assert!(version > last.version());
    let event = events(&collection).pop().unwrap();
    let mut expected = parsed(&last);
    expected["metadata"]["resourceVersion"] = json!(version.to_string());
    assert_eq!(
        serde_json::from_slice::<Value>(&event.frame).unwrap(),
        json!({"type": "DELETED", "object": expected})
    );
    assert_eq!(serde_json::from_slice::<Value>(event.object.metadata_json()).unwrap(), expected["metadata"]);
    assert_eq!(collection.withdraw(&ObjectKey::cluster("a")), None);
    assert!(collection.is_empty());
}

// covers: C10
#[test]
fn another_uid_is_another_object() {
    let collection = testing::collection();
    collection.publish(station("a", &json!({}))).unwrap();
    collection.publish(json!({"metadata": {"name": "a", "uid": "other"}})).unwrap();
    let kinds: Vec<_> = events(&collection).iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::Added, EventKind::Deleted, EventKind::Added]);
    assert_eq!(collection.events(EventKind::Added), 2);
}

#[test]
fn retaining_removes_the_rest() {
    let collection = testing::collection();
    for name in ["a", "b", "c"] {
        collection.publish(station(name, &json!({}))).unwrap();
    }
    assert_eq!(collection.retain(|key| key.name == "b"), 2);
    assert_eq!(only(&collection).key(), &ObjectKey::cluster("b"));
}

#[test]
fn namespaces_are_listed_apart_and_in_order() {
    let definition = ResourceDefinition { scope: Scope::Namespaced, ..testing::stations() };
    let clock = Arc::new(VersionClock::new(1));
    let collection = Collection::new(definition, clock, CollectionOptions::default()).unwrap();
    for (namespace, name) in [("b", "1"), ("a", "2"), ("aa", "0"), ("a", "1")] {
        let metadata = json!({"name": name, "namespace": namespace, "uid": format!("{namespace}{name}")});
        collection.publish(json!({"metadata": metadata})).unwrap();
    }
    let names = |namespace| {
        let objects = collection.list(namespace).objects;
        objects.iter().map(|object| object.key().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(None), ["a/1", "a/2", "aa/0", "b/1"]);
    assert_eq!(names(Some("a")), ["a/1", "a/2"]);
    assert!(names(Some("none")).is_empty());
}

#[test]
fn what_would_confuse_clients_is_refused() {
    let collection = testing::collection();
    let refused = |object: Value| collection.publish(object).unwrap_err();
    assert!(matches!(refused(json!([])), PublishError::NotAnObject { .. }));
    assert!(matches!(refused(json!({})), PublishError::Name { .. }));
    assert!(matches!(refused(json!({"metadata": {"name": "a/b", "uid": "1"}})), PublishError::Name { .. }));
    assert!(matches!(refused(json!({"metadata": {"name": "a"}})), PublishError::Uid { .. }));
    let namespaced = json!({"metadata": {"name": "a", "uid": "1", "namespace": "n"}});
    assert!(matches!(refused(namespaced), PublishError::Namespace { .. }));
    assert!(matches!(
        refused(station("a", &json!({"kind": "Other"}))),
        PublishError::OtherKind { field: "kind", .. }
    ));
    let labels = json!({"metadata": {"name": "a", "uid": "1", "labels": {"n": 1}}});
    assert!(matches!(refused(labels), PublishError::Labels { .. }));
    assert!(collection.is_empty());
}

fn bounded(retention: Duration, max_events: usize, slot: u8) -> (Arc<Collection>, Arc<AtomicU64>) {
    let time = Arc::new(AtomicU64::new(1_000_000_000));
    let now = time.clone();
    let clock = Arc::new(VersionClock::with_time(slot, move || now.load(Ordering::SeqCst)));
    let options = CollectionOptions { retention, max_events, ..CollectionOptions::default() };
    (Collection::new(testing::stations(), clock, options).unwrap(), time)
}

#[test]
fn the_past_is_forgotten_by_age_and_by_number() {
    let (collection, time) = bounded(Duration::from_secs(300), 3, 1);
    let start = collection.list(None).version;
    for n in 0..3 {
        collection.publish(station("a", &json!({"status": {"n": n}}))).unwrap();
    }
    assert_eq!(collection.position_after(start), Ok(0));
    collection.publish(station("a", &json!({"status": {"n": 3}}))).unwrap();
    assert!(collection.position_after(start).is_err(), "the first of four events is gone");
    let middle = collection.list(None).version;
    assert!(collection.position_after(middle).is_ok());
    time.fetch_add(301_000_000, Ordering::SeqCst);
    collection.publish(station("a", &json!({"status": {"n": 4}}))).unwrap();
    assert_eq!(collection.events_from(4, 9).unwrap().len(), 1);
    assert!(collection.events_from(3, 9).is_err());
    assert!(collection.position_after(middle).is_ok(), "nothing above it was dropped");
}

#[test]
fn a_version_of_another_replica_goes_back_by_the_overlap() {
    let (collection, time) = bounded(Duration::from_secs(300), 100, 1);
    time.fetch_add(100_000_000, Ordering::SeqCst);
    collection.publish(station("a", &json!({}))).unwrap();
    time.fetch_add(10_000_000, Ordering::SeqCst);
    let own = collection.list(None).version;
    let others = ResourceVersion::from_parts(own.micros(), 2);
    assert_eq!(collection.position_after(own), Ok(1));
    assert_eq!(collection.position_after(others), Ok(0), "the event of ten seconds ago is repeated");
    let gone = ResourceVersion::from_parts(1_000_000, 2);
    assert!(collection.position_after(gone).is_err(), "from before this process began");
}

proptest! {
    #[test]
    fn bytes_are_the_json_that_was_published(
        name in "[a-z]{1,5}", text in "\\PC{0,12}", number: i64, version_in_text: bool, extra in "[a-z]{1,16}",
    ) {
        let collection = testing::collection();
        let trap = if version_in_text { "\"resourceVersion\":\"7\"" } else { "" };
        let mut object = json!({
            "metadata": {
                "name": name, "uid": "1", "annotations": {"a": trap, "resourceVersion": "7"}, "zzz": text,
            },
            "spec": {"resourceVersion": "8", "metadata": {"name": trap}, "n": number, "list": [null, true, 1.5, {}, []]},
            "zz": {&extra: text},
        });
        object["aa"] = json!(text);
        collection.publish(object.clone()).unwrap();
        let shown = only(&collection);
        object["apiVersion"] = json!("weather.example.com/v1");
        object["kind"] = json!("Station");
        object["metadata"]["resourceVersion"] = json!(shown.version().to_string());
        prop_assert_eq!(&parsed(&shown), &object);
        prop_assert_eq!(&serde_json::from_slice::<Value>(shown.metadata_json()).unwrap(), &object["metadata"]);
        let (frame, again) = shown.reissued(ResourceVersion::from_parts(5, 0), EventKind::Deleted);
        object["metadata"]["resourceVersion"] = json!(again.version().to_string());
        prop_assert_eq!(&parsed(&again), &object);
        prop_assert_eq!(&serde_json::from_slice::<Value>(again.metadata_json()).unwrap(), &object["metadata"]);
        let line: Value = serde_json::from_slice(&frame).unwrap();
        prop_assert_eq!(&line["type"], &json!("DELETED"));
    }

    /// Two replicas publish the same changes, each a little later than they happen; a client lists at one and watches at the
    /// other. Within the overlap it ends up with what the other shows.
    // covers: C3
    #[test]
    fn a_watch_at_another_replica_loses_nothing(
        changes in proptest::collection::vec((0u8..4, 0u8..3, 0u64..20_000_000), 1..25),
        delays in (0u64..9_000_000, 0u64..9_000_000), listed_at in 0u64..300_000_000,
    ) {
        let (one, one_time) = bounded(Duration::from_secs(3600), 1000, 1);
        let (other, other_time) = bounded(Duration::from_secs(3600), 1000, 2);
        let start = 1_000_000_000 + 60_000_000;
        let feed = |collection: &Collection, time: &AtomicU64, delay: u64, until: u64| {
            let mut moment = start;
            for (name, content, pause) in &changes {
                moment += pause;
                if moment + delay > until {
                    break;
                }
                time.fetch_max(moment + delay, Ordering::SeqCst);
                if *content == 2 {
                    collection.withdraw(&ObjectKey::cluster(format!("n{name}")));
                } else {
                    collection.publish(station(&format!("n{name}"), &json!({"status": {"c": content}}))).unwrap();
                }
            }
            time.fetch_max(until, Ordering::SeqCst);
        };
        let content = |object: &PublishedObject| parsed(object)["status"].to_string();
        feed(&one, &one_time, delays.0, start + listed_at);
        feed(&other, &other_time, delays.1, u64::MAX >> 8);
        let list = one.list(None);
        let mut cache: BTreeMap<_, _> =
            list.objects.iter().map(|object| (object.key().clone(), content(object))).collect();
        let position = other.position_after(list.version).unwrap();
        for event in other.events_from(position, usize::MAX).unwrap() {
            match event.kind {
                EventKind::Deleted => cache.remove(event.object.key()),
                _ => cache.insert(event.object.key().clone(), content(&event.object)),
            };
        }
        let now: BTreeMap<_, _> =
            other.list(None).objects.iter().map(|object| (object.key().clone(), content(object))).collect();
        prop_assert_eq!(cache, now);
    }
}

/// A change of the model of a property: what happens, and how far the wall clock moves before it, back too.
fn happenings() -> impl Strategy<Value = Vec<(u8, u8, i64)>> {
    proptest::collection::vec((0u8..4, 0u8..4, -3_000_000i64..9_000_000), 1..40)
}

fn happen(collection: &Collection, name: u8, content: u8) {
    if content == 3 {
        collection.withdraw(&ObjectKey::cluster(format!("n{name}")));
    } else {
        collection.publish(station(&format!("n{name}"), &json!({"status": {"c": content}}))).unwrap();
    }
}

type Cache = BTreeMap<ObjectKey, String>;

fn cached(objects: &[Arc<PublishedObject>]) -> Cache {
    objects.iter().map(|object| (object.key().clone(), parsed(object)["status"].to_string())).collect()
}

/// What a client has that listed, and then watched for as long as there were events; none if it was told to list again.
fn followed(list: &Snapshot, watched: &Collection) -> Option<Cache> {
    let mut cache = cached(&list.objects);
    let position = watched.position_after(list.version).ok()?;
    for event in watched.events_from(position, usize::MAX).ok()? {
        match event.kind {
            EventKind::Deleted => cache.remove(event.object.key()),
            _ => cache.insert(event.object.key().clone(), parsed(&event.object)["status"].to_string()),
        };
    }
    Some(cache)
}

proptest! {
    /// Whatever the wall clock does and however little of the past is kept: whoever listed and then watches ends up with
    /// what is there, or is told to list again. Within the ring nobody is told.
    // covers: C3
    #[test]
    fn a_watch_tells_all_that_a_list_did_not_show_or_says_that_it_cannot(
        happenings in happenings(), kept in 1usize..12, slot in 0u8..16,
    ) {
        let (collection, time) = bounded(Duration::from_secs(3600), kept, slot);
        let mut lists = vec![collection.list(None)];
        for (name, content, pause) in &happenings {
            time.fetch_add(pause.unsigned_abs() * u64::from(*pause > 0), Ordering::SeqCst);
            time.fetch_sub(pause.unsigned_abs() * u64::from(*pause < 0), Ordering::SeqCst);
            happen(&collection, *name, *content);
            lists.push(collection.list(None));
        }
        let end = cached(&collection.list(None).objects);
        let events = collection.end_position();
        let mut last = None;
        for list in &lists {
            prop_assert!(Some(list.version) >= last, "versions of lists grow");
            prop_assert!(list.objects.iter().all(|object| object.version() <= list.version));
            last = Some(list.version);
            match followed(list, &collection) {
                Some(cache) => prop_assert_eq!(&cache, &end),
                None => prop_assert!(events - list.position > kept as u64, "all of it was still there"),
            }
        }
    }

    /// A replica is restarted while others go on, and nobody's clock can be trusted by more than the overlap. A client that
    /// listed at any process ends up with what the restarted one shows, or is told to list again.
    // covers: C3
    #[test]
    fn a_watch_at_a_restarted_replica_loses_nothing_or_is_told(
        happenings in happenings(), restart in 0usize..40, step in -14_000_000i64..14_000_000, ahead in 0u64..14_000_000,
    ) {
        let replica = |slot: u8, process: u8, time: &Arc<AtomicU64>| {
            let now = time.clone();
            let clock = VersionClock::with_time(slot, move || now.load(Ordering::SeqCst)).of_process(process);
            Collection::new(testing::stations(), Arc::new(clock), CollectionOptions::default()).unwrap()
        };
        let times = [0, ahead].map(|ahead| Arc::new(AtomicU64::new(1_000_000_000 + ahead)));
        let (mut one, other) = (replica(1, 0, &times[0]), replica(2, 0, &times[1]));
        let mut lists = Vec::new();
        for (index, (name, content, pause)) in happenings.iter().enumerate() {
            for time in &times {
                time.fetch_add(pause.unsigned_abs(), Ordering::SeqCst);
            }
            if index == restart {
                // The clock was set, and the new process learns what there is.
                let now = times[0].load(Ordering::SeqCst);
                times[0].store(now.saturating_add_signed(step), Ordering::SeqCst);
                let known = one.list(None).objects;
                one = replica(1, 1, &times[0]);
                for object in &known {
                    one.publish(parsed(object)).unwrap();
                }
            }
            for collection in [&one, &other] {
                happen(collection, *name, *content);
                lists.push(collection.list(None));
            }
        }
        let end = cached(&one.list(None).objects);
        for cache in lists.iter().filter_map(|list| followed(list, &one)) {
            prop_assert_eq!(&cache, &end);
        }
        prop_assert_eq!(followed(&one.list(None), &one), Some(end));
    }
}

#[test]
fn what_a_process_that_is_gone_had_shown_is_not_known() {
    let (collection, time) = bounded(Duration::from_secs(300), 100, 1);
    collection.publish(station("a", &json!({}))).unwrap();
    let before = VersionClock::with_time(1, move || time.load(Ordering::SeqCst) + 7_000_000).of_process(9);
    assert!(collection.position_after(before.next()).is_err(), "also when its clock was ahead");
}
