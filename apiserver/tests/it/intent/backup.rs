//! Backup while the server runs, and restore into another store.

use std::path::Path;

use c5c3_apiserver::intent::{EmbeddedStore, IntentKey, IntentRecord, IntentStore};

use super::suite::spec;
use crate::commands::{run, text};
use crate::fixture::Ground;

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

/// Keys and objects, whatever their versions.
fn wishes(records: Vec<IntentRecord>) -> Vec<(IntentKey, serde_json::Value)> {
    records.into_iter().map(|record| (record.key, record.object)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_backed_up_while_the_server_runs_can_be_restored() {
    let ground = Ground::new(1).await;
    let server = ground.serve().await;
    let store = server.running.intents();
    for name in ["ghost-1", "ghost-2"] {
        let key = IntentKey::cluster("Hypervisor", name);
        store.put(&key, None, spec(&key, 1)).await.unwrap();
    }
    let original = store.snapshot().await.unwrap().records;
    let file = ground.configuration().intent.file.unwrap();
    let (saved, again) = (ground.path().join("saved.jsonl"), ground.path().join("again.redb"));
    let output = run(&["intent", "backup", "--file", path(&file), "--to", path(&saved)]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = run(&["intent", "backup", "--file", path(&file), "--to", path(&saved)]).await;
    assert!(!output.status.success(), "an earlier backup is not overwritten");
    let output = run(&["intent", "list", "--file", path(&file)]).await;
    assert!(text(&output.stdout).contains("ghost-2"), "{}", text(&output.stdout));
    // The running server keeps its store.
    let output = run(&["intent", "restore", "--file", path(&file), "--from", path(&saved)]).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("in use by another process"), "{}", text(&output.stderr));
    server.stop().await;

    let output = run(&["intent", "restore", "--file", path(&again), "--from", path(&saved)]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    let restored = EmbeddedStore::open(&again).unwrap();
    assert_eq!(wishes(restored.snapshot().await.unwrap().records), wishes(original.clone()));
    // What has changed since is not overwritten by accident.
    let key = IntentKey::cluster("Hypervisor", "ghost-1");
    let found = restored.get(&key).await.unwrap().unwrap();
    restored.put(&key, Some(&found.version), spec(&key, 9)).await.unwrap();
    let other = IntentKey::cluster("Eviction", "new");
    restored.put(&other, None, spec(&other, 1)).await.unwrap();
    drop(restored);
    let output = run(&["intent", "restore", "--file", path(&again), "--from", path(&saved)]).await;
    assert!(text(&output.stderr).contains("--replace"), "{}", text(&output.stderr));
    let output =
        run(&["intent", "restore", "--file", path(&again), "--from", path(&saved), "--replace"]).await;
    assert_eq!(text(&output.stderr).trim(), "1 records stored, 1 removed");
    let restored = EmbeddedStore::open(&again).unwrap().snapshot().await.unwrap().records;
    assert_eq!(wishes(restored), wishes(original));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_is_not_whole_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (file, saved) = (folder.path().join("intent.redb"), folder.path().join("saved.jsonl"));
    let store = EmbeddedStore::open(&file).unwrap();
    for name in ["a", "b"] {
        let key = IntentKey::cluster("Eviction", name);
        store.put(&key, None, spec(&key, 1)).await.unwrap();
    }
    let whole = text(&run(&["intent", "backup", "--file", path(&file)]).await.stdout);
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(lines.len(), 4, "{whole}");
    let damaged = [
        (lines[..3].join("\n"), "the end is missing"),
        ([lines[0], lines[1], lines[3]].join("\n"), "2 records were written, 1 are here"),
        (whole.replace("\"format\":1", "\"format\":7"), "line 1: format 7"),
        (lines[1..].join("\n"), "line 1"),
        (whole.replace("\"b\"", "b"), "line 3"),
        (String::new(), "the end is missing"),
    ];
    let fresh = folder.path().join("fresh.redb");
    for (content, complaint) in damaged {
        std::fs::write(&saved, &content).unwrap();
        let output = run(&["intent", "restore", "--file", path(&fresh), "--from", path(&saved)]).await;
        assert_eq!(output.status.code(), Some(1), "{content}");
        assert!(text(&output.stderr).contains(complaint), "{}", text(&output.stderr));
        assert!(!fresh.exists());
    }
}
