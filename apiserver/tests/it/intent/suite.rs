//! What every intent store does, whatever keeps it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use c5c3_apiserver::intent::{
    IntentChange, IntentChanges, IntentError, IntentKey, IntentRecord, IntentStore, StoreVersion, declaration,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Two ways into one store, and names that nobody else uses.
pub(crate) struct Stage {
    pub(crate) one: Arc<dyn IntentStore>,
    pub(crate) other: Arc<dyn IntentStore>,
    pub(crate) prefix: String,
}

impl Stage {
    pub(crate) fn key(&self, name: &str) -> IntentKey {
        IntentKey::cluster("Eviction", &format!("{}-{name}", self.prefix))
    }

    fn is_ours(&self, key: &IntentKey) -> bool {
        key.name.starts_with(&self.prefix)
    }

    /// What is stored under our names, as one of the ways in knows it.
    async fn stored(&self, store: &dyn IntentStore) -> BTreeMap<IntentKey, IntentRecord> {
        let records = store.snapshot().await.unwrap().records;
        let ours = records.into_iter().filter(|record| self.is_ours(&record.key));
        ours.map(|record| (record.key.clone(), record)).collect()
    }

    /// Removes all of it.
    pub(crate) async fn clear(&self) {
        for record in self.stored(&*self.one).await.into_values() {
            if let Some(record) = self.one.get(&record.key).await.unwrap() {
                self.one.remove(&record.key, &record.version).await.unwrap();
            }
        }
    }
}

pub(crate) fn spec(key: &IntentKey, number: u64) -> Value {
    declaration(key, &json!({ "number": number }))
}

fn number(record: &IntentRecord) -> u64 {
    record.spec()["number"].as_u64().unwrap()
}

fn is_conflict<T: std::fmt::Debug>(outcome: Result<T, IntentError>) {
    let error = outcome.unwrap_err();
    assert!(matches!(error, IntentError::Conflict { .. }), "{error:?}");
    assert_eq!(error.status(), 409);
}

/// The whole suite.
pub(crate) async fn run(stage: &Stage) {
    a_write_that_expects_another_version_changes_nothing(stage).await;
    what_is_stored_is_read_as_it_was_written(stage).await;
    keys_do_not_meet(stage).await;
    whoever_follows_hears_of_every_write_in_order(stage).await;
    two_writers_never_both_win(stage).await;
    a_snapshot_and_the_changes_after_it_are_everything(stage).await;
    what_is_too_large_is_refused(stage).await;
    stage.clear().await;
}

async fn a_write_that_expects_another_version_changes_nothing(stage: &Stage) {
    let (one, other) = (&stage.one, &stage.other);
    let key = stage.key("swap");
    let unknown: StoreVersion = "1".parse().unwrap();
    is_conflict(one.put(&key, Some(&unknown), spec(&key, 0)).await);
    is_conflict(one.remove(&key, &unknown).await);
    let first = one.put(&key, None, spec(&key, 1)).await.unwrap();
    is_conflict(other.put(&key, None, spec(&key, 2)).await);
    // The same again is a write as well: it has a version of its own.
    let second = other.put(&key, Some(&first.version), first.object.clone()).await.unwrap();
    assert_ne!(second.version, first.version);
    is_conflict(one.put(&key, Some(&first.version), spec(&key, 3)).await);
    is_conflict(one.remove(&key, &first.version).await);
    assert_eq!(one.get(&key).await.unwrap().unwrap(), second);
    other.remove(&key, &second.version).await.unwrap();
    is_conflict(one.put(&key, Some(&second.version), spec(&key, 4)).await);
    is_conflict(one.remove(&key, &second.version).await);
    assert_eq!(one.get(&key).await.unwrap(), None);
    let again = one.put(&key, None, spec(&key, 5)).await.unwrap();
    assert!(again.version != first.version && again.version != second.version);
}

async fn what_is_stored_is_read_as_it_was_written(stage: &Stage) {
    let key = stage.key("verbatim");
    let object = json!({
        "metadata": {
            "name": key.name, "uid": "0b1e", "generation": 9_007_199_254_740_993_i64,
            "labels": {"a/b": "ü", "empty": ""}, "annotations": {"text": "line\nline \u{1f98a} \"quoted\""},
            "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {"f:a": {}, "k:{\"x\":1}": {".": {}}}}}],
        },
        "spec": {"list": [1, 2.5, -3, true, "", {}, []], "big": u32::MAX, "nested": {"a": {"b": {"c": []}}}},
    });
    let stored = stage.one.put(&key, None, object.clone()).await.unwrap();
    assert_eq!(stored.object, object);
    assert_eq!(stage.other.get(&key).await.unwrap().unwrap(), stored);
    let bare = json!({"metadata": {"name": key.name}});
    let stored = stage.other.put(&key, Some(&stored.version), bare.clone()).await.unwrap();
    assert_eq!((stage.one.get(&key).await.unwrap().unwrap().object, stored.is_declaration()), (bare, false));
}

async fn keys_do_not_meet(stage: &Stage) {
    let prefix = &stage.prefix;
    let names = [format!("{prefix}-a"), format!("{prefix}-a.b"), format!("{prefix}-{}", "x".repeat(200))];
    let mut keys = Vec::new();
    for kind in ["Eviction", "Hypervisor"] {
        for namespace in ["", "a", "b"] {
            for name in &names {
                let (kind, namespace, name) = (kind.to_owned(), namespace.to_owned(), name.clone());
                keys.push(IntentKey { kind, namespace, name });
            }
        }
    }
    for (number, key) in (0..).zip(&keys) {
        stage.one.put(key, None, spec(key, number)).await.unwrap();
    }
    for (expected, key) in (0..).zip(&keys) {
        let found = stage.other.get(key).await.unwrap().unwrap();
        assert_eq!((&found.key, number(&found)), (key, expected));
        stage.other.remove(key, &found.version).await.unwrap();
    }
}

/// Changes of our keys, until `count` of them have come.
async fn heard(stage: &Stage, changes: &mut IntentChanges, count: usize) -> Vec<IntentChange> {
    let mut list = Vec::new();
    while list.len() < count {
        let change = timeout(Duration::from_secs(20), changes.recv()).await.expect("a change").unwrap();
        if stage.is_ours(&change.key) {
            list.push(change);
        }
    }
    list
}

async fn whoever_follows_hears_of_every_write_in_order(stage: &Stage) {
    let (mut near, mut far) = (stage.one.changes(), stage.other.changes());
    let key = stage.key("follow");
    let mut written = Vec::new();
    let mut last: Option<StoreVersion> = None;
    for round in 0..12 {
        let store = if round % 3 == 0 { &stage.other } else { &stage.one };
        match (round % 4, &last) {
            (3, Some(version)) => {
                store.remove(&key, version).await.unwrap();
                (written.push(None), last = None).0
            }
            _ => {
                let record = store.put(&key, last.as_ref(), spec(&key, round)).await.unwrap();
                last = Some(record.version.clone());
                written.push(Some(record));
            }
        }
    }
    for changes in [&mut near, &mut far] {
        // What earlier cases wrote may still come; it is not of this key.
        let mut told = Vec::new();
        while told.len() < written.len() {
            told.extend(heard(stage, changes, 1).await.into_iter().filter(|change| change.key == key));
        }
        assert_eq!(told.iter().map(|change| change.record.clone()).collect::<Vec<_>>(), written);
        assert!(told.is_sorted_by(|one, next| one.revision < next.revision), "{told:?}");
        for change in &told {
            let version = change.record.as_ref().map(|record| record.version.revision().unwrap());
            assert!(version.is_none_or(|version| version == change.revision), "{change:?}");
        }
    }
}

/// One win in a compare-and-swap: what was expected, and what came of it.
type Win = (StoreVersion, StoreVersion);

async fn two_writers_never_both_win(stage: &Stage) {
    const WRITERS: u64 = 10;
    const EACH: u64 = 8;
    let key = stage.key("contended");
    let first = stage.one.put(&key, None, spec(&key, 0)).await.unwrap();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let store = Arc::clone(if writer % 2 == 0 { &stage.one } else { &stage.other });
        let key = key.clone();
        writers.spawn(async move {
            let mut wins: Vec<Win> = Vec::new();
            while wins.len() < usize::try_from(EACH).unwrap() {
                let found = store.get(&key).await.unwrap().unwrap();
                match store.put(&key, Some(&found.version), spec(&key, number(&found) + 1)).await {
                    Ok(stored) => wins.push((found.version, stored.version)),
                    Err(IntentError::Conflict { .. }) => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
            wins
        });
    }
    let wins: Vec<Win> = writers.join_all().await.into_iter().flatten().collect();
    let last = stage.one.get(&key).await.unwrap().unwrap();
    assert_eq!(number(&last), WRITERS * EACH, "no win was lost");
    let next: BTreeMap<&str, &str> =
        wins.iter().map(|(expected, stored)| (expected.as_str(), stored.as_str())).collect();
    assert_eq!(next.len(), wins.len(), "two writers won the same compare-and-swap");
    let mut at = first.version.as_str();
    let mut seen = BTreeSet::new();
    while let Some(following) = next.get(at) {
        assert!(seen.insert(at));
        at = following;
    }
    assert_eq!((at, seen.len()), (last.version.as_str(), wins.len()), "one unbroken chain");
    // Of many who want to be the first, one is.
    let key = stage.key("first");
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let store = Arc::clone(if writer % 2 == 0 { &stage.one } else { &stage.other });
        let key = key.clone();
        writers.spawn(async move { store.put(&key, None, spec(&key, writer)).await.is_ok() });
    }
    let won = writers.join_all().await.into_iter().filter(|won| *won).count();
    assert_eq!(won, 1);
}

async fn a_snapshot_and_the_changes_after_it_are_everything(stage: &Stage) {
    let writing = {
        let (one, other) = (Arc::clone(&stage.one), Arc::clone(&stage.other));
        let keys: Vec<IntentKey> = (0..4).map(|index| stage.key(&format!("replay-{index}"))).collect();
        tokio::spawn(async move {
            for round in 0..40_usize {
                let key = &keys[round * 7 % keys.len()];
                let store = if round % 2 == 0 { &one } else { &other };
                let found = store.get(key).await.unwrap();
                match found {
                    Some(found) if round % 5 == 4 => store.remove(key, &found.version).await.unwrap(),
                    found => {
                        let version = found.map(|found| found.version);
                        store.put(key, version.as_ref(), spec(key, round as u64)).await.unwrap();
                    }
                }
            }
        })
    };
    tokio::task::yield_now().await;
    let mut changes = stage.other.changes();
    let snapshot = stage.other.snapshot().await.unwrap();
    writing.await.unwrap();
    let end = stage.key("replay-end");
    stage.one.put(&end, None, spec(&end, 0)).await.unwrap();
    let mut known: BTreeMap<IntentKey, IntentRecord> =
        snapshot.records.into_iter().map(|record| (record.key.clone(), record)).collect();
    loop {
        let change = timeout(Duration::from_secs(20), changes.recv()).await.expect("a change").unwrap();
        if change.revision <= snapshot.through {
            continue;
        }
        let is_end = change.key == end;
        match change.record {
            Some(record) => known.insert(change.key, record),
            None => known.remove(&change.key),
        };
        if is_end {
            break;
        }
    }
    known.retain(|key, _| stage.is_ours(key));
    assert_eq!(known, stage.stored(&*stage.other).await);
    for (key, record) in known {
        assert_eq!(stage.one.get(&key).await.unwrap(), Some(record));
    }
}

async fn what_is_too_large_is_refused(stage: &Stage) {
    let key = stage.key("large");
    let error = stage.one.put(&key, None, declaration(&key, &json!("x".repeat(1 << 20)))).await.unwrap_err();
    assert_eq!(error.status(), 413, "{error:?}");
    assert_eq!(stage.one.get(&key).await.unwrap(), None);
    let large = declaration(&key, &json!({ "text": "x".repeat(900_000) }));
    let stored = stage.one.put(&key, None, large.clone()).await.unwrap();
    assert_eq!(stored.object, large);
    stage.one.remove(&key, &stored.version).await.unwrap();
}
