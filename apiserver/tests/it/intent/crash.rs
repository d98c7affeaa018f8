//! Death at any moment: a process that writes is killed a thousand times, and nothing that it acknowledged is lost.
//!
//! The child is this test binary itself, asked for the one test that writes until it dies. It says each write that was
//! acknowledged on its standard output; the parent reads that, opens the file, and compares. A few children at a time,
//! each with a file of its own that goes through all its deaths.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use c5c3_apiserver::intent::{EmbeddedStore, IntentKey, IntentRecord, IntentStore, declaration};
use serde_json::{Value, json};

/// Tells the child which file to write to.
const FILE: &str = "C5C3_TEST_CRASH_FILE";
const CHILD: &str = "intent::crash::the_child_writes_until_it_dies";
const KEYS: u64 = 5;
/// Deaths in all.
const KILLS: usize = 1_000;
/// Files, each with its children one after the other.
const LANES: usize = 4;

fn key(number: u64) -> IntentKey {
    IntentKey::cluster("Hypervisor", &format!("host-{}", number % KEYS))
}

/// What the write of that number stores: large enough to need several pages, and all of it to be seen.
fn object(number: u64) -> Value {
    let text = format!("{number} ").repeat(usize::try_from(number % 97).unwrap() * 20);
    let mut object = declaration(&key(number), &json!({ "number": number, "text": text }));
    object["metadata"]["uid"] = json!("u");
    object["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
    object
}

/// Not a test by itself: what the parent below kills.
#[tokio::test]
async fn the_child_writes_until_it_dies() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let store = EmbeddedStore::open(Path::new(&file)).unwrap();
    let first = store.snapshot().await.unwrap().through + 1;
    println!();
    for number in first.. {
        let found = store.get(&key(number)).await.unwrap();
        let stored = match found {
            // A removal is a write as well.
            Some(found) if number % 11 == 0 => {
                store.remove(&found.key, &found.version).await.unwrap();
                number
            }
            found => {
                let version = found.map(|found| found.version);
                let record = store.put(&key(number), version.as_ref(), object(number)).await.unwrap();
                record.version.revision().unwrap()
            }
        };
        assert_eq!(stored, number);
        let mut output = std::io::stdout().lock();
        writeln!(output, "ack {number}").unwrap();
        output.flush().unwrap();
    }
}

/// What is stored after all writes up to that number.
fn expected(through: u64) -> BTreeMap<IntentKey, (u64, Value)> {
    let mut last = BTreeMap::new();
    for number in 1..=through {
        if number % 11 != 0 || last.remove(&(number % KEYS)).is_none() {
            last.insert(number % KEYS, number);
        }
    }
    last.into_values().map(|number| (key(number), (number, object(number)))).collect()
}

fn found(records: Vec<IntentRecord>) -> BTreeMap<IntentKey, (u64, Value)> {
    let entry = |record: IntentRecord| (record.key, (record.version.revision().unwrap(), record.object));
    records.into_iter().map(entry).collect()
}

/// Runs a child for that long, kills it, and returns the last write that it acknowledged.
fn live_and_die(file: &Path, life: Duration) -> Option<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", CHILD, "--nocapture", "--test-threads=1"])
        .env(FILE, file)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    std::thread::sleep(life);
    // SIGKILL. A child that ended by itself failed.
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9), "{status}");
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().rev().find_map(|line| line.strip_prefix("ack ")?.parse().ok())
}

/// Lives and dies many times on one file; returns the deaths that came while it was writing, and the writes.
fn lane(file: &Path, number: usize, kills: usize) -> (usize, u64) {
    let (mut acknowledged, mut while_writing) = (0_u64, 0);
    // Each death may leave one write that was stored and not acknowledged any more.
    let mut unseen = 0;
    // How long a child needs to begin is measured, so that most die while they write, and some before.
    let mut start = 20_u64;
    for death in 0..kills {
        let random = uuid::Uuid::new_v4().as_u128();
        let life = start * u64::try_from(random % 100).unwrap() / 50;
        let acks = live_and_die(file, Duration::from_millis(life));
        unseen = if acks.is_some() { 1 } else { unseen + 1 };
        match acks {
            Some(last) => {
                assert!(last > acknowledged);
                acknowledged = last;
                while_writing += 1;
                start = start.saturating_sub(1).max(5);
            }
            None => start = (start + 4).min(2_000),
        }
        // Sometimes the next child finds the file as death left it, and repairs it itself.
        if random.is_multiple_of(3) || death + 1 == kills {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let snapshot = runtime.block_on(EmbeddedStore::open(file).unwrap().snapshot()).unwrap();
            let through = snapshot.through;
            assert!(
                (acknowledged..=acknowledged + unseen).contains(&through),
                "lane {number}, death {death}: {acknowledged} was acknowledged, {through} is stored"
            );
            assert_eq!(found(snapshot.records), expected(through), "lane {number}, death {death}");
            (acknowledged, unseen) = (through, 0);
        }
    }
    (while_writing, acknowledged)
}

#[test]
fn no_acknowledged_write_is_lost_and_no_half_write_is_seen_in_a_thousand_deaths() {
    let folder = tempfile::tempdir().unwrap();
    let begun = std::time::Instant::now();
    let lanes: Vec<(usize, u64)> = std::thread::scope(|scope| {
        let lane = |number: usize| {
            let file: PathBuf = folder.path().join(format!("{number}.redb"));
            scope.spawn(move || lane(&file, number, KILLS / LANES))
        };
        let lanes: Vec<_> = (0..LANES).map(lane).collect();
        lanes.into_iter().map(|lane| lane.join().unwrap()).collect()
    });
    let while_writing: usize = lanes.iter().map(|(deaths, _)| deaths).sum();
    let writes: u64 = lanes.iter().map(|(_, writes)| writes).sum();
    println!(
        "{KILLS} kills, {while_writing} of them after a first write, {writes} writes, {:?}",
        begun.elapsed()
    );
    assert!(while_writing > KILLS / 10, "most died before they wrote: {while_writing}");
}
