//! A real file system that is full, and one that is read-only: a reason instead of a crash, and no restart when it is mended.
//!
//! The child is this test binary itself, in a mount namespace of its own with a file system of one megabyte.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use c5c3_apiserver::intent::{EmbeddedStore, IntentError, IntentKey, IntentStore, declaration};
use serde_json::json;

/// Tells the child where its file system is.
const FOLDER: &str = "C5C3_TEST_DISK";

/// Runs one test of this binary on a small file system, after those commands; `None` where namespaces are not allowed.
fn on_a_small_disk(test: &str, before: &str) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    let allowed = Command::new("unshare").args(["--user", "--map-root-user", "--mount", "true"]).output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        println!("not tested: this machine allows no mount namespaces");
        return None;
    }
    let script =
        format!("mount -t tmpfs -o size=1m none \"$1\" && {before} exec \"$2\" --exact \"$3\" --nocapture");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    Some(output)
}

fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

fn has_succeeded(output: Option<Output>) {
    let Some(output) = output else { return };
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn a_full_disk_is_507_and_mended_without_a_restart() {
    has_succeeded(on_a_small_disk("intent::disk::the_child_fills_its_disk", ""));
}

#[test]
fn a_read_only_disk_says_so() {
    let remount = "touch \"$1/rw\" && mount -o remount,ro \"$1\" &&";
    has_succeeded(on_a_small_disk("intent::disk::the_child_finds_its_disk_read_only", remount));
}

/// Not a test by itself.
#[tokio::test]
async fn the_child_fills_its_disk() {
    let Some(folder) = folder() else { return };
    let filler = folder.join("filler");
    std::fs::write(&filler, vec![1; 400_000]).unwrap();
    let store = EmbeddedStore::open(&folder.join("intent.redb")).unwrap();
    let mut stored = Vec::new();
    let error = loop {
        let key = IntentKey::cluster("Eviction", &format!("e-{}", stored.len()));
        let object = declaration(&key, &json!({ "text": "x".repeat(30_000) }));
        match store.put(&key, None, object).await {
            Ok(record) => stored.push(record),
            Err(error) => break error,
        }
    };
    assert_eq!(error.status(), 507, "{error:?}");
    assert!(error.to_string().contains("no space is left"), "{error}");
    assert!(stored.len() > 2, "{}", stored.len());
    // Again, and again: always a reason, never a crash.
    let last = IntentKey::cluster("Eviction", "last");
    for _ in 0..3 {
        let error = store.put(&last, None, declaration(&last, &json!({ "text": "x".repeat(30_000) }))).await;
        assert_eq!(error.unwrap_err().status(), 507);
        assert_eq!(store.snapshot().await.unwrap().records.len(), stored.len(), "reads go on");
    }
    std::fs::remove_file(&filler).unwrap();
    store.put(&last, None, declaration(&last, &json!({}))).await.unwrap();
    drop(store);
    let records = EmbeddedStore::open(&folder.join("intent.redb")).unwrap().snapshot().await.unwrap().records;
    assert_eq!(records.len(), stored.len() + 1);
    assert!(stored.iter().all(|record| records.contains(record)));
}

/// Not a test by itself.
#[test]
fn the_child_finds_its_disk_read_only() {
    let Some(folder) = folder() else { return };
    let error = EmbeddedStore::open(Path::new(&folder.join("intent.redb"))).unwrap_err();
    assert!(matches!(error, IntentError::Open { .. }), "{error:?}");
    let why = std::error::Error::source(&error).unwrap().to_string();
    assert!(why.to_lowercase().contains("read-only"), "{why}");
}
