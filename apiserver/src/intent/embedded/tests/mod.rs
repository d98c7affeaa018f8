//! The embedded store: what is its own beside what every store does.

pub(crate) mod faulty;

use std::io::ErrorKind;

use serde_json::json;

use self::faulty::FaultyDisk;
use super::super::declaration;
use super::*;

fn object(key: &IntentKey, reason: &str) -> Value {
    declaration(key, &json!({ "reason": reason }))
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intent.redb");
    let key = IntentKey::cluster("Eviction", "host-1");
    let stored = {
        let store = EmbeddedStore::open(&file).unwrap();
        store.put(&key, None, object(&key, "a")).await.unwrap()
    };
    let store = EmbeddedStore::open(&file).unwrap();
    assert_eq!(store.list("Eviction").await.unwrap(), vec![stored]);
    assert_eq!(store.list("Evictio").await.unwrap(), vec![]);
}

/// At every step of a write at which the disk can fail: the error says why, nothing half is seen, and when the disk is
/// well again, so is the store.
#[tokio::test]
async fn a_disk_that_fails_at_any_step_is_an_error_and_never_half_a_write() {
    let key = IntentKey::cluster("Eviction", "host-1");
    for (kind, status) in
        [(ErrorKind::StorageFull, 507), (ErrorKind::ReadOnlyFilesystem, 503), (ErrorKind::Other, 503)]
    {
        let mut failed = 0;
        for step in 0.. {
            let disk = FaultyDisk::default();
            let store = EmbeddedStore::at(Place::Faulty(disk.clone())).unwrap();
            let first = store.put(&key, None, object(&key, "first")).await.unwrap();
            disk.fail_after(step, kind);
            let second = object(&key, "second");
            let outcome = store.put(&key, Some(&first.version), second.clone()).await;
            let again = store.put(&key, Some(&first.version), object(&key, "again")).await;
            disk.mend();
            let Err(error) = outcome else { break };
            failed += 1;
            // 504: the file, opened again, has it all the same.
            assert!([status, 504].contains(&error.status()), "{kind} at step {step}: {error:?}");
            assert!(again.is_err(), "{kind} at step {step}");
            assert!(store.get(&key).await.unwrap().is_some(), "reads go on");
            let probe = IntentKey::cluster("Eviction", "probe");
            store.put(&probe, None, object(&probe, "probe")).await.unwrap();
            let found = store.get(&key).await.unwrap().unwrap();
            assert!(found == first || found.object == second, "{found:?}");
            drop(store);
            let reopened = EmbeddedStore::at(Place::Faulty(disk)).unwrap();
            assert_eq!(reopened.get(&key).await.unwrap().unwrap(), found);
        }
        assert!(failed > 2, "the disk never failed");
    }
}

#[tokio::test]
async fn a_store_in_use_is_refused_and_can_be_read_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intent.redb");
    let store = EmbeddedStore::open(&file).unwrap();
    let key = IntentKey::cluster("Eviction", "host-1");
    let stored = store.put(&key, None, object(&key, "a")).await.unwrap();
    assert!(matches!(EmbeddedStore::open(&file).unwrap_err(), IntentError::InUse { .. }));
    let seen = read_only(&file).unwrap();
    assert_eq!((seen.records, seen.through), (vec![stored.clone()], 1));
    store.put(&key, Some(&stored.version), object(&key, "b")).await.unwrap();
    assert_eq!(read_only(&file).unwrap().through, 2);
}

#[tokio::test]
async fn an_object_that_is_too_large_is_refused() {
    let store = EmbeddedStore::in_memory().unwrap();
    let key = IntentKey::cluster("Eviction", "host-1");
    let error = store.put(&key, None, object(&key, &"x".repeat(LARGEST))).await.unwrap_err();
    assert_eq!(error.status(), 413);
    assert_eq!(store.snapshot().await.unwrap(), IntentSnapshot::default());
}
