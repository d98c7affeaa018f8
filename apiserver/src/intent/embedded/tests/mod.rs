//! The embedded store: what is its own beside what every store does.

pub(crate) mod faulty;

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _};

use proptest::prelude::*;
use serde_json::json;

use self::faulty::FaultyDisk;
use super::super::declaration;
use super::super::record::LARGEST;
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

/// The write of that number, of a size that varies.
fn numbered(number: u64) -> (IntentKey, Value) {
    let key = IntentKey::cluster("Eviction", &format!("e-{}", number % 3));
    let text = "x".repeat(usize::try_from(number * 977 % 9_000).unwrap());
    let object = json!({"metadata": {"uid": "u"}, "spec": {"number": number, "text": text}});
    (key, object)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Power goes at any step, of the unsynced writes any part survives, several times over.
    #[test]
    fn no_loss_of_power_loses_an_acknowledged_write(
        deaths in proptest::collection::vec((0_usize..60, any::<u32>()), 1..6),
    ) {
        let disk = FaultyDisk::default();
        let mut acknowledged = 0;
        for (step, mut seed) in deaths {
            let store = EmbeddedStore::at(Place::Faulty(disk.clone())).unwrap();
            let through = store.inner.durable.revision();
            prop_assert!(through == acknowledged || through == acknowledged + 1, "{through} after {acknowledged}");
            let last: BTreeMap<IntentKey, Value> = (1..=through).map(numbered).collect();
            let found: BTreeMap<IntentKey, Value> =
                store.inner.durable.snapshot().records.into_iter().map(|record| (record.key, record.object)).collect();
            prop_assert_eq!(found, last);
            acknowledged = through;
            disk.fail_after(step, ErrorKind::Other);
            loop {
                let (key, object) = numbered(acknowledged + 1);
                let expected = store.inner.durable.get(&key).map(|record| record.version);
                match store.inner.write(&key, expected.as_ref(), Some(object)) {
                    Ok(_) => acknowledged += 1,
                    Err(_) => break,
                }
            }
            drop(store);
            disk.lose_power(|| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                seed >> 16
            });
        }
    }
}

#[tokio::test]
async fn a_file_of_the_first_release_is_read_with_the_identities_that_it_showed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intent.redb");
    let mut bytes = Vec::new();
    let packed: &[u8] = include_bytes!("format-1.redb.gz");
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    std::fs::write(&file, bytes).unwrap();
    assert!(matches!(read_only(&file), Err(IntentError::Format { found: 1, .. })), "only a server migrates");
    for _ in 0..2 {
        let store = EmbeddedStore::open(&file).unwrap();
        let hypervisors = store.list("Hypervisor").await.unwrap();
        let names: Vec<&str> = hypervisors.iter().map(|record| record.key.name.as_str()).collect();
        assert_eq!(names, ["ghost", "host-1"]);
        let maintenance = &hypervisors[1];
        assert_eq!(maintenance.spec(), &json!({"maintenance": "manual", "maintenanceReason": "two disks"}));
        assert_eq!((maintenance.generation(), maintenance.version.as_str()), (Some(3), "4"));
        assert_eq!(maintenance.labels(), [("team".to_owned(), "blue".to_owned())].into());
        assert_eq!(maintenance.created().unwrap().to_string(), "2026-11-30T19:19:16Z");
        let shown =
            |kind: &str, name: &str, of: &str| crate::merge::uid("hypervisor.c5c3.io", kind, "", name, of);
        let (host, ghost) = ("3f3ec5f1-fe91-4c94-a399-f4566850abf4", "09ee3387-e073-4f04-a749-a8918044f03e");
        assert_eq!(maintenance.uid(), Some(shown("Hypervisor", "host-1", host).as_str()));
        assert_eq!(hypervisors[0].uid(), Some(shown("Hypervisor", "ghost", ghost).as_str()));
        let eviction = store.list("Eviction").await.unwrap().remove(0);
        let of = "c75a146d-21b0-4c99-9679-61cccd3846fe";
        assert_eq!(eviction.uid(), Some(shown("Eviction", "host-1", of).as_str()));
        let hosts = store.list("Host").await.unwrap();
        assert_eq!((hosts[0].uid(), hosts[0].is_declaration()), (Some(host), false));
        assert_eq!(store.snapshot().await.unwrap().through, 6);
    }
}

#[tokio::test]
async fn a_file_of_a_later_release_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intent.redb");
    drop(EmbeddedStore::open(&file).unwrap());
    let database = redb::Database::create(&file).unwrap();
    let transaction = database.begin_write().unwrap();
    let numbers: redb::TableDefinition<'_, &str, u64> = redb::TableDefinition::new("numbers");
    transaction.open_table(numbers).unwrap().insert("format", 9).unwrap();
    transaction.commit().unwrap();
    drop(database);
    let error = EmbeddedStore::open(&file).unwrap_err();
    assert!(matches!(error, IntentError::Format { found: 9, supported: 2 }), "{error:?}");
}

#[tokio::test]
async fn a_process_that_died_while_it_made_the_file_left_nothing_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intent.redb");
    std::fs::write(folder.path().join("intent.redb.new"), b"half").unwrap();
    std::fs::write(&file, b"").unwrap();
    drop(EmbeddedStore::open(&file).unwrap());
    std::fs::write(&file, b"not a database").unwrap();
    assert!(
        matches!(EmbeddedStore::open(&file), Err(IntentError::Open { .. })),
        "what is not ours is not touched"
    );
    assert_eq!(std::fs::read(&file).unwrap(), b"not a database");
}
