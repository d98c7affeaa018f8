//! The measurements, the same whichever way the client takes.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use c5c3_apiserver::simulation::RunningFleet;
use futures::TryStreamExt as _;
use http::Request;
use kube::Client;
use kube::api::WatchEvent;
use serde::Deserialize;
use uuid::Uuid;

use crate::server::Child;

const PATH: &str = "/apis/hypervisor.c5c3.io/v1/hypervisors";
/// How long the server is left alone to see what it costs.
const IDLE: Duration = Duration::from_secs(20);
/// The longest that a fleet may take to be seen.
const SEEN_WITHIN: Duration = Duration::from_secs(300);

/// What is measured.
pub(crate) struct Plan {
    pub(crate) hosts: usize,
    pub(crate) instances: usize,
    pub(crate) events: usize,
}

/// One row.
pub(crate) struct Measured {
    way: &'static str,
    plan: (usize, usize),
    seen: Duration,
    events: Vec<Duration>,
    lists: Vec<Duration>,
    list_bytes: usize,
    fresh: Vec<Duration>,
    known: Vec<Duration>,
    memory: (f64, f64),
    idle: f64,
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
    id: String,
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
    fleet: &RunningFleet,
    child: &Child,
    client: Client,
) -> Measured {
    eprintln!("{} hosts, {way}", plan.hosts);
    let started = Instant::now();
    wait_until_seen(plan, child, &client).await;
    let seen = started.elapsed();
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
    for host in fleet.model().hosts.iter().cycle().take(100) {
        // A second and more after the last reading of this host, its sources are read again first.
        if plan.hosts < 50 {
            tokio::time::sleep(Duration::from_millis(1_100)).await;
        }
        let path = format!("{PATH}/{}", host.name);
        fresh.push(ask(&client, &path).await.0);
        known.push(ask(&client, &path).await.0);
    }
    let memory = (before, child.memory());
    Measured {
        way,
        plan: (plan.hosts, plan.instances),
        seen,
        events,
        lists,
        list_bytes,
        fresh,
        known,
        memory,
        idle,
    }
}

async fn ask(client: &Client, path: &str) -> (Duration, String) {
    let began = Instant::now();
    let text = client.request_text(Request::get(path).body(Vec::new()).unwrap()).await.unwrap();
    (began.elapsed(), text)
}

/// Every host is there with all of its instances, and Nova knows it.
async fn wait_until_seen(plan: &Plan, child: &Child, client: &Client) {
    let hosts = u32::try_from(plan.hosts).unwrap_or(u32::MAX);
    let mut seen = 0;
    let limit = Instant::now() + SEEN_WITHIN;
    loop {
        let request = Request::get(PATH).body(Vec::new()).unwrap();
        // Refused while the server starts, or is not reachable through kube-apiserver yet.
        if let Ok(list) = client.request::<List>(request).await {
            let whole = |seen: &&Seen| {
                seen.status.instances.len() == plan.instances && seen.status.hypervisor_id.is_some()
            };
            seen = list.items.iter().filter(whole).count();
            if seen == plan.hosts {
                return;
            }
        }
        assert!(
            Instant::now() < limit,
            "only {seen} hosts were seen in {SEEN_WITHIN:?}:\n{}",
            child.log_end()
        );
        // Seldom for a large fleet: the list of it is megabytes, and asking shall not be what takes the time.
        tokio::time::sleep(Duration::from_millis(50).max(Duration::from_millis(5) * hosts)).await;
    }
}

/// The time from a domain's stop or start on its host to the event at the client, again and again on other hosts.
async fn events(plan: &Plan, fleet: &RunningFleet, child: &Child, client: &Client) -> Vec<Duration> {
    let list: List = client.request(Request::get(PATH).body(Vec::new()).unwrap()).await.unwrap();
    let version = list.metadata.resource_version;
    let request =
        Request::get(format!("{PATH}?watch=true&resourceVersion={version}")).body(Vec::new()).unwrap();
    let mut watch = Box::pin(client.request_events::<Seen>(request).await.unwrap());
    let mut took = Vec::new();
    let mut running: BTreeMap<usize, bool> = BTreeMap::new();
    for event in 0..plan.events {
        let index = event % plan.hosts;
        let host = fleet.host(index).unwrap();
        let domain: Uuid = host.read(|state| *state.domains.keys().next().unwrap());
        let runs = running.entry(index).or_insert(true);
        *runs = !*runs;
        let began = Instant::now();
        assert!(if *runs { host.start(domain) } else { host.stop(domain) });
        let wanted = (domain.to_string(), *runs);
        loop {
            let next = tokio::time::timeout(Duration::from_secs(30), watch.try_next());
            let event = next
                .await
                .unwrap_or_else(|_| panic!("no event of {}:\n{}", host.name, child.log_end()))
                .unwrap()
                .expect("the watch was ended");
            let WatchEvent::Modified(seen) = event else { continue };
            let instances = seen.status.instances.into_iter().map(|found| (found.id, found.active));
            if seen.metadata.name == host.name && instances.into_iter().any(|found| found == wanted) {
                break;
            }
        }
        took.push(began.elapsed());
    }
    took
}

impl Measured {
    pub(crate) const HEADING: &'static str = "\
| way | hosts × instances | all seen after | event → watch p50 / p99 | LIST p50 / p99 | LIST size | GET refreshed p50 / p99 | GET again p50 | memory at rest / after | processor at rest |
|---|---|---|---|---|---|---|---|---|---|";
}

impl fmt::Display for Measured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { way, plan: (hosts, instances), seen, list_bytes, memory: (before, after), idle, .. } =
            self;
        let both = |times: &[Duration]| format!("{} / {} ms", at(times, 50), at(times, 99));
        write!(
            formatter,
            "| {way} | {hosts} × {instances} | {:.1} s | {} | {} ",
            seen.as_secs_f64(),
            both(&self.events),
            both(&self.lists)
        )?;
        write!(
            formatter,
            "| {} KiB | {} | {} ms ",
            list_bytes / 1024,
            both(&self.fresh),
            at(&self.known, 50)
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
