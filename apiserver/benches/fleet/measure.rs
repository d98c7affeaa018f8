//! The measurements, the same whichever way the client takes.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use futures::TryStreamExt as _;
use http::Request;
use kube::Client;
use kube::api::WatchEvent;
use serde::Deserialize;

use crate::server::Child;
use crate::simulator::Simulator;

const PATH: &str = "/apis/hypervisor.c5c3.io/v1/hypervisors";
/// How long the server is left alone before its cost is taken: the last of the cloud's lists come after the hosts.
const SETTLE: Duration = Duration::from_secs(10);
/// How long the server is left alone to see what it costs: one slow tick, in which every object has its turn.
const IDLE: Duration = Duration::from_secs(60);
const METRICS: &str = "/metrics";
/// The longest that a fleet may take to be seen.
const SEEN_WITHIN: Duration = Duration::from_secs(300);

/// What is measured.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) hosts: usize,
    pub(crate) instances: usize,
    pub(crate) events: usize,
    /// Hosts that accept connections and never answer.
    pub(crate) silent: usize,
    /// More arguments of fleet-simulator.
    pub(crate) simulator: Vec<String>,
}

/// One row.
pub(crate) struct Measured {
    way: &'static str,
    plan: Plan,
    ready: Duration,
    seen: Duration,
    starting: Duration,
    events: Vec<Duration>,
    lists: Vec<Duration>,
    list_bytes: usize,
    fresh: Vec<Duration>,
    known: Vec<Duration>,
    memory: (f64, f64),
    idle: f64,
    scrapes: Vec<Duration>,
    scrape_bytes: usize,
}

#[derive(Debug, Clone, Deserialize)]
struct Seen {
    metadata: Metadata,
    #[serde(default)]
    status: Status,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    #[serde(default)]
    name: String,
    #[serde(default)]
    resource_version: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    hypervisor_id: Option<String>,
    instances: Vec<Instance>,
}

#[derive(Debug, Clone, Deserialize)]
struct Instance {
    active: bool,
}

#[derive(Debug, Deserialize)]
struct List {
    metadata: Metadata,
    items: Vec<Seen>,
}

/// All measurements of one server.
pub(crate) async fn measure(
    way: &'static str,
    plan: &Plan,
    fleet: &mut Simulator,
    child: &Child,
    client: Client,
) -> Measured {
    eprintln!("{} hosts, {} of them silent, {way}", plan.hosts, plan.silent);
    wait_until_ready(child, &client).await;
    let ready = child.age();
    wait_until_seen(plan, child, &client).await;
    let (seen, starting) = (child.age(), child.processor());
    tokio::time::sleep(SETTLE).await;
    let before = child.memory();
    let (busy, began) = (child.processor(), Instant::now());
    tokio::time::sleep(IDLE).await;
    let idle = (child.processor() - busy).as_secs_f64() / began.elapsed().as_secs_f64();

    let events = events(plan, fleet, child, &client).await;
    let mut lists = Vec::new();
    let mut list_bytes = 0;
    for _ in 0..20 {
        let (took, text) = ask(&client, PATH).await;
        lists.push(took);
        list_bytes = text.len();
    }
    let (mut fresh, mut known) = (Vec::new(), Vec::new());
    for number in (1..=plan.hosts).skip(plan.silent).cycle().take(100) {
        // A second and more after the last reading of this host, its sources are read again first.
        if plan.hosts < 50 {
            tokio::time::sleep(Duration::from_millis(1_100)).await;
        }
        let path = format!("{PATH}/host-{number}");
        fresh.push(ask(&client, &path).await.0);
        known.push(ask(&client, &path).await.0);
    }
    let mut scrapes = Vec::new();
    let mut scrape_bytes = 0;
    // Through kube-apiserver there is no way to the metrics of an aggregated server.
    if let Ok(text) = metrics(&client).await {
        scrape_bytes = text.len();
        for _ in 0..5 {
            scrapes.push(ask(&client, METRICS).await.0);
        }
    }
    let memory = (before, child.memory());
    Measured {
        way,
        plan: plan.clone(),
        ready,
        seen,
        starting,
        events,
        lists,
        list_bytes,
        fresh,
        known,
        memory,
        idle,
        scrapes,
        scrape_bytes,
    }
}

async fn ask(client: &Client, path: &str) -> (Duration, String) {
    let began = Instant::now();
    let text = client.request_text(Request::get(path).body(Vec::new()).unwrap()).await.unwrap();
    (began.elapsed(), text)
}

async fn metrics(client: &Client) -> Result<String, kube::Error> {
    client.request_text(Request::get(METRICS).body(Vec::new()).unwrap()).await
}

/// The server lets readers in.
async fn wait_until_ready(child: &Child, client: &Client) {
    loop {
        let request = Request::get(PATH.to_owned() + "?limit=1").body(Vec::new()).unwrap();
        // Refused while the server starts, or is not reachable through kube-apiserver yet.
        if client.request::<List>(request).await.is_ok() {
            return;
        }
        assert!(child.age() < SEEN_WITHIN, "not ready in {SEEN_WITHIN:?}:\n{}", child.log_end());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What the metrics say of how many hosts have their libvirt connected; lists of a large fleet would take what they measure.
async fn connected(client: &Client) -> Option<usize> {
    const CONNECTED: &str = "c5c3_sources{source=\"libvirt\",state=\"Connected\"} ";
    let text = metrics(client).await.ok()?;
    let counted = text.lines().find_map(|line| line.strip_prefix(CONNECTED));
    // No line: none is connected yet.
    Some(counted.and_then(|count| count.trim().parse().ok()).unwrap_or_default())
}

/// Every host that answers is there with all of its instances, and Nova knows it.
async fn wait_until_seen(plan: &Plan, child: &Child, client: &Client) {
    let hosts = u32::try_from(plan.hosts).unwrap_or(u32::MAX);
    let wanted = plan.hosts - plan.silent;
    let mut seen = 0;
    let limit = Instant::now() + SEEN_WITHIN;
    while plan.hosts > 500 && connected(client).await.is_some_and(|seen| seen < wanted) {
        assert!(Instant::now() < limit, "not all hosts in {SEEN_WITHIN:?}:\n{}", child.log_end());
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    loop {
        let request = Request::get(PATH).body(Vec::new()).unwrap();
        if let Ok(list) = client.request::<List>(request).await {
            let whole = |seen: &&Seen| {
                seen.status.instances.len() == plan.instances && seen.status.hypervisor_id.is_some()
            };
            seen = list.items.iter().filter(whole).count();
            if seen == wanted {
                return;
            }
        }
        assert!(
            Instant::now() < limit,
            "only {seen} hosts were seen in {SEEN_WITHIN:?}:\n{}",
            child.log_end()
        );
        // Seldom for a large fleet: the list of it is megabytes, and asking shall not be what takes the time.
        let pause = Duration::from_millis(5) * hosts;
        tokio::time::sleep(pause.clamp(Duration::from_millis(50), Duration::from_secs(2))).await;
    }
}

/// The time from a domain's stop or start on its host to the event at the client, again and again on other hosts.
async fn events(plan: &Plan, fleet: &mut Simulator, child: &Child, client: &Client) -> Vec<Duration> {
    let list: List =
        client.request(Request::get(PATH.to_owned() + "?limit=1").body(Vec::new()).unwrap()).await.unwrap();
    let version = list.metadata.resource_version;
    let request =
        Request::get(format!("{PATH}?watch=true&resourceVersion={version}")).body(Vec::new()).unwrap();
    let mut watch = Box::pin(client.request_events::<Seen>(request).await.unwrap());
    let mut took = Vec::new();
    let mut running: BTreeMap<usize, bool> = BTreeMap::new();
    // Far from each other, and those that come back to a host start what the first stopped.
    let stride = ((plan.hosts - plan.silent) / plan.events).max(1);
    for event in 0..plan.events {
        let number = plan.silent + 1 + event * stride % (plan.hosts - plan.silent);
        let host = format!("host-{number}");
        let runs = running.entry(number).or_insert(true);
        *runs = !*runs;
        let began = Instant::now();
        fleet.tell(&format!("{} {host}", if *runs { "start" } else { "stop" }));
        loop {
            let next = tokio::time::timeout(Duration::from_secs(30), watch.try_next());
            let event = next
                .await
                .unwrap_or_else(|_| panic!("no event of {host}:\n{}", child.log_end()))
                .unwrap()
                .expect("the watch was ended");
            let WatchEvent::Modified(seen) = event else { continue };
            // The first instance, in the order of ids, is the one that was told to.
            if seen.metadata.name == host
                && seen.status.instances.first().is_some_and(|one| one.active == *runs)
            {
                break;
            }
        }
        took.push(began.elapsed());
    }
    took
}

impl Measured {
    pub(crate) const HEADING: &'static str = "\
| way | hosts × instances | ready after | all seen after | processor until then | event → watch p50 / p99 | LIST p50 / p99 | LIST size | GET refreshed p50 / p99 | GET again p50 | scrape p50 | memory at rest / after | processor at rest |
|---|---|---|---|---|---|---|---|---|---|---|---|---|";
}

impl fmt::Display for Measured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { way, plan, ready, seen, starting, list_bytes, memory: (before, after), idle, .. } = self;
        let silent = if plan.silent > 0 { format!(", {} silent", plan.silent) } else { String::new() };
        let both = |times: &[Duration]| format!("{} / {} ms", at(times, 50), at(times, 99));
        write!(
            formatter,
            "| {way} | {} × {}{silent} | {:.1} s | {:.1} s | {:.1} s | {} | {} ",
            plan.hosts,
            plan.instances,
            ready.as_secs_f64(),
            seen.as_secs_f64(),
            starting.as_secs_f64(),
            both(&self.events),
            both(&self.lists)
        )?;
        write!(
            formatter,
            "| {} KiB | {} | {} ms | {} ms, {} KiB ",
            list_bytes / 1024,
            both(&self.fresh),
            at(&self.known, 50),
            at(&self.scrapes, 50),
            self.scrape_bytes / 1024
        )?;
        write!(formatter, "| {before:.0} / {after:.0} MiB | {:.1} % of one core |", idle * 100.0)
    }
}

/// A percentile in milliseconds.
fn at(times: &[Duration], percent: usize) -> String {
    let mut sorted = times.to_vec();
    sorted.sort();
    let place = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    format!("{:.1}", sorted.get(place).copied().unwrap_or_default().as_secs_f64() * 1_000.0)
}
