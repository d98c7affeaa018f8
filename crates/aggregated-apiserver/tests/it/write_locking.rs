//! Who has seen what: live status never stands in a writer's way, newer intent always does, on one replica and on two.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aggregated_apiserver::{ObjectKey, Replicas, ResourceVersion, Revision};
use serde_json::{Value, json};

use crate::stored::{BALLOONS, Store, Written, balloon, refusal};

const PATH: &str = "/apis/weather.example.com/v1/balloons/a";

fn key() -> ObjectKey {
    ObjectKey::cluster("a")
}

fn higher(object: &Value) -> Value {
    let mut object = object.clone();
    object["spec"]["height"] = json!(object["spec"]["height"].as_i64().unwrap_or_default() + 1);
    object
}

#[tokio::test]
async fn a_status_that_moves_stands_in_nobodys_way() {
    let server = Written::start().await;
    let read = server.with_balloon("a", json!({"site": "roof"})).await;
    for _ in 0..5 {
        server.balloons.show(&key());
    }
    assert_ne!(server.shown("a").await["metadata"]["resourceVersion"], read["metadata"]["resourceVersion"]);
    let written = server.put(PATH, &higher(&read)).await;
    assert_eq!((written.code, &written.json()["spec"]["height"]), (200, &json!(1)));
    let lost = server.put(PATH, &higher(&read)).await;
    assert_eq!(refusal(&lost).1, "Conflict", "the first one has changed what the second one saw");
    let between = written.json();
    server.balloons.show(&key());
    assert_eq!(server.put(PATH, &higher(&between)).await.code, 200);
}

#[tokio::test]
async fn versions_that_were_never_given_out_show_nothing() {
    let server = Written::start().await;
    let read = server.with_balloon("a", json!({"site": "roof"})).await;
    let version: u64 = read["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    let hour = 3_600_000_000_u64 << 10;
    for invented in [version + hour, version - hour, 7, u64::MAX] {
        let mut object = higher(&read);
        object["metadata"]["resourceVersion"] = json!(invented.to_string());
        assert_eq!(server.put(PATH, &object).await.code, 409, "{invented}");
    }
}

// covers: CR2
#[tokio::test]
async fn ten_writers_who_read_and_write_lose_nothing() {
    let server = Arc::new(Written::start().await);
    server.with_balloon("a", json!({"site": "roof", "height": 0})).await;
    let ticking = tokio::spawn({
        let server = Arc::clone(&server);
        async move {
            loop {
                server.balloons.show(&key());
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    });
    let writers = (0..10).map(|_| {
        let server = Arc::clone(&server);
        async move {
            for _ in 0..5 {
                loop {
                    let answer = server.put(PATH, &higher(&server.shown("a").await)).await;
                    match answer.code {
                        200 => break,
                        code => assert_eq!(code, 409),
                    }
                }
            }
        }
    });
    futures::future::join_all(writers).await;
    ticking.abort();
    assert_eq!(server.shown("a").await["spec"]["height"], 50);
}

#[tokio::test]
async fn patches_without_a_version_never_conflict_on_one_replica() {
    let server = Arc::new(Written::start().await);
    server.with_balloon("a", json!({"site": "roof"})).await;
    let patches = (0..30).map(|number| {
        let server = Arc::clone(&server);
        async move {
            let label = format!("l{number}");
            let patch = json!({"metadata": {"labels": {label: "x"}}});
            assert_eq!(server.merge(PATH, &patch).await.code, 200);
        }
    });
    futures::future::join_all(patches).await;
    assert_eq!(server.shown("a").await["metadata"]["labels"].as_object().unwrap().len(), 30);
}

/// What each replica says in its lease: everything up to this revision was shown before this version.
#[derive(Default)]
struct Leases(Mutex<Vec<(u8, ResourceVersion, u64)>>);

impl Replicas for Leases {
    fn had_applied(&self, version: ResourceVersion, _key: &ObjectKey, revision: &Revision) -> bool {
        let needed: u64 = revision.as_str().parse().unwrap();
        let leases = self.0.lock().unwrap();
        leases
            .iter()
            .any(|(slot, at, through)| *slot == version.slot() && *through >= needed && version > *at)
    }
}

/// Two replicas on one store.
struct Pair {
    store: Arc<Store>,
    leases: Arc<Leases>,
    replicas: [Written; 2],
}

impl Pair {
    async fn start() -> Self {
        let (store, leases) = (Arc::<Store>::default(), Arc::<Leases>::default());
        let replica = |slot| Written::beside(Arc::clone(&store), slot, leases.clone() as Arc<dyn Replicas>);
        let replicas = [replica(1).await, replica(2).await];
        Self { store, leases, replicas }
    }

    fn hears(&self, replica: usize, hears: bool) {
        self.replicas[replica].balloons.hears.store(hears, Ordering::SeqCst);
    }

    /// The replica catches up with the store.
    fn catch_up(&self, replica: usize) {
        self.replicas[replica].balloons.show(&key());
    }

    /// The replica says in its lease how far it has come.
    fn state(&self, replica: usize) {
        let balloons = &self.replicas[replica].balloons;
        let Some((through, _)) = self.store.record(&key()) else { return };
        let slot = balloons.collection.clock().slot();
        self.leases.0.lock().unwrap().push((slot, balloons.collection.clock().read(), through));
    }
}

#[tokio::test]
async fn what_another_replica_showed_counts_once_it_is_proven_that_it_knew() {
    let pair = Pair::start().await;
    let [first, second] = &pair.replicas;
    first.with_balloon("a", json!({"site": "roof"})).await;
    pair.catch_up(1);
    let read = second.shown("a").await;
    assert_eq!(first.put(PATH, &higher(&read)).await.code, 409, "nothing is known of the second replica");
    pair.state(1);
    assert_eq!(first.put(PATH, &higher(&read)).await.code, 409, "this was read before what it said");
    pair.catch_up(1);
    let read = second.shown("a").await;
    assert_eq!(first.put(PATH, &higher(&read)).await.code, 200);
    assert_eq!(first.put(PATH, &higher(&read)).await.code, 409, "it has not heard of that write");
    let stale = second.shown("a").await;
    assert_eq!(
        second.put(PATH, &higher(&stale)).await.code,
        409,
        "it was outrun, and shows so after the attempt"
    );
}

#[tokio::test]
async fn a_replica_that_has_not_heard_never_overwrites() {
    let pair = Pair::start().await;
    let [first, second] = &pair.replicas;
    first.with_balloon("a", json!({"site": "roof"})).await;
    pair.catch_up(1);
    pair.hears(1, false);
    let stale = second.shown("a").await;
    assert_eq!(first.merge(PATH, &json!({"spec": {"height": 7}})).await.code, 200);
    let refused = second.put(PATH, &higher(&stale)).await;
    assert_eq!(refused.code, 409);
    let refused = second.merge(PATH, &json!({"spec": {"note": "x"}})).await;
    assert_eq!(refused.code, 409, "and a patch waits for the news, but not for ever");
    pair.hears(1, true);
    pair.catch_up(1);
    let patched = second.merge(PATH, &json!({"spec": {"note": "x"}})).await.json();
    assert_eq!((&patched["spec"]["height"], &patched["spec"]["note"]), (&json!(7), &json!("x")));
    let (_, stored) = pair.store.record(&key()).unwrap();
    assert_eq!(stored["spec"], patched["spec"]);
}

/// Random histories on two replicas: whoever wins has seen the newest intent, and who has seen it on an up-to-date replica wins.
#[tokio::test]
async fn in_any_history_winners_have_seen_the_newest_intent() {
    for seed in 0..12_u64 {
        history(seed).await;
    }
}

async fn history(seed: u64) {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % below as u64).unwrap()
    };
    let pair = Pair::start().await;
    pair.replicas[0].with_balloon("a", json!({"site": "roof", "height": 0})).await;
    pair.catch_up(1);
    pair.hears(0, false);
    pair.hears(1, false);
    let mut reads: Vec<(usize, Value)> = Vec::new();
    let (mut won, mut lost) = (0, 0);
    for _ in 0..60 {
        let replica = next(2);
        match next(6) {
            0 => pair.catch_up(replica),
            1 => pair.state_of_shown(replica),
            2 | 3 => reads.push((replica, pair.replicas[replica].shown("a").await)),
            _ => {
                let Some((origin, read)) = reads.get(next(reads.len().max(1))).cloned() else { continue };
                let (before, stored) = pair.store.record(&key()).unwrap();
                let newest = read["spec"] == stored["spec"];
                let current = pair.replicas[replica].balloons.collection.get(&key()).unwrap();
                let current: Value = serde_json::from_slice(current.json()).unwrap();
                let shows_newest = current["spec"] == stored["spec"];
                // A write is shown when it is acknowledged: this replica hears of its own writes.
                pair.hears(replica, true);
                let answer = pair.replicas[replica].put(PATH, &higher(&read)).await;
                pair.hears(replica, false);
                let (after, _) = pair.store.record(&key()).unwrap();
                match answer.code {
                    200 => {
                        assert!(newest, "seed {seed}: a stale object won");
                        assert_eq!(after, before + 1);
                        won += 1;
                    }
                    409 => {
                        assert_eq!(after, before, "seed {seed}: a refused write was stored");
                        let may_not_lose = newest && shows_newest && origin == replica;
                        assert!(!may_not_lose, "seed {seed}: who has seen everything lost");
                        lost += 1;
                    }
                    code => panic!("{code}: {:?}", answer.body),
                }
            }
        }
    }
    assert!(won > 0 && lost > 0, "seed {seed}: {won} won, {lost} lost");
}

impl Pair {
    /// What an honest replica says: not how far the store is, but how far it is itself.
    fn state_of_shown(&self, replica: usize) {
        let balloons = &self.replicas[replica].balloons;
        let shown = balloons.collection.get(&key()).unwrap();
        let shown: Value = serde_json::from_slice(shown.json()).unwrap();
        let (through, stored) = self.store.record(&key()).unwrap();
        if shown["spec"] == stored["spec"] {
            let clock = balloons.collection.clock();
            self.leases.0.lock().unwrap().push((clock.slot(), clock.read(), through));
        }
    }
}

#[tokio::test]
async fn creators_race_and_one_wins() {
    let pair = Pair::start().await;
    let object = balloon("a", json!({"site": "roof"}));
    let (one, other) =
        futures::join!(pair.replicas[0].post(BALLOONS, &object), pair.replicas[1].post(BALLOONS, &object));
    let mut codes = [one.code, other.code];
    codes.sort_unstable();
    assert_eq!(codes, [201, 409]);
    assert_eq!(pair.store.writes.load(Ordering::SeqCst), 1);
}
