//! Many watches, as cheap to read as possible: they share the machine with the server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::Method;
use hyper::body::Incoming;
use tokio::task::JoinSet;

use crate::client::Target;
use crate::measure::LIST;
use crate::objects;

/// Watches on one connection.
const SHARED: usize = 50;
/// One watch of so many looks at the time of each event; the others only count.
const SAMPLED: usize = 50;

#[derive(Default)]
struct Seen {
    events: AtomicUsize,
    ended: AtomicUsize,
    latencies: Mutex<Vec<Duration>>,
}

pub(crate) struct Watchers {
    seen: Arc<Seen>,
    _tasks: JoinSet<()>,
}

impl Watchers {
    pub(crate) async fn open(target: &Target, count: usize) -> Self {
        let seen = Arc::new(Seen::default());
        let mut tasks = JoinSet::new();
        let mut connection = target.connect().await;
        let list: serde_json::Value =
            serde_json::from_slice(&connection.get(&format!("{LIST}?limit=1"), &[]).await).unwrap();
        let version = list["metadata"]["resourceVersion"].as_str().unwrap();
        let path = format!("{LIST}?watch=true&resourceVersion={version}&timeoutSeconds=600");
        for number in 0..count {
            if number % SHARED == SHARED - 1 {
                connection = target.connect().await;
            }
            let answer = connection.send(Method::GET, &path, &[], Bytes::new()).await;
            assert!(answer.status().is_success());
            tasks.spawn(follow(answer.into_body(), seen.clone(), number % SAMPLED == 0));
        }
        Self { seen, _tasks: tasks }
    }

    /// Begins to count anew.
    pub(crate) fn forget(&self) {
        self.seen.events.store(0, Ordering::SeqCst);
        self.seen.latencies.lock().unwrap().clear();
    }

    pub(crate) fn events(&self) -> usize {
        self.seen.events.load(Ordering::SeqCst)
    }

    pub(crate) fn ended(&self) -> usize {
        self.seen.ended.load(Ordering::SeqCst)
    }

    pub(crate) fn latencies(&self) -> Vec<Duration> {
        self.seen.latencies.lock().unwrap().clone()
    }
}

async fn follow(mut body: Incoming, seen: Arc<Seen>, sampled: bool) {
    let mut rest = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(data) = frame.into_data() else { continue };
        if !sampled {
            seen.events.fetch_add(data.iter().filter(|byte| **byte == b'\n').count(), Ordering::Relaxed);
            continue;
        }
        rest.extend_from_slice(&data);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            seen.events.fetch_add(1, Ordering::Relaxed);
            let changed = changed(&line);
            let latency = Duration::from_micros(objects::now().saturating_sub(changed));
            seen.latencies.lock().unwrap().push(latency);
        }
    }
    seen.ended.fetch_add(1, Ordering::SeqCst);
}

/// When the object of an event was changed.
fn changed(line: &[u8]) -> u64 {
    let text = std::str::from_utf8(line).unwrap();
    let (_, after) = text.split_once(objects::CHANGED).unwrap_or_else(|| panic!("{text}"));
    let digits = after.trim_start_matches(['"', ':', ' ']);
    digits.split('"').next().unwrap().parse().unwrap()
}
