//! What happens to servers: a replica dies and another takes its place, clocks step back, readers stop.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aggregated_apiserver::{CollectionOptions, Limits, ObjectKey, VersionClock};
use futures::{Stream, TryStreamExt as _};
use http::Method;
use http_body_util::BodyExt as _;
use kube::ResourceExt as _;
use kube::api::DynamicObject;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event};
use serde_json::json;

use crate::fixture::{Fixture, STATIONS, Settings, station};
use crate::kube_clients::{client_at, stations};
use crate::relay::Relay;

/// A replica of another slot.
fn slot(slot: u8) -> Settings {
    Settings { clock: VersionClock::new(slot), ..Settings::default() }
}

/// A cache as programs keep it, filled by kube-rs from whatever replica answers.
struct Informer {
    events: Pin<Box<dyn Stream<Item = Result<Event<DynamicObject>, watcher::Error>> + Send>>,
    cache: BTreeMap<String, String>,
    fresh: Option<BTreeMap<String, String>>,
}

impl Informer {
    async fn start(fixture: &Fixture, relay: &Relay) -> Self {
        let (api, _) = stations(client_at(fixture, relay.address).await);
        let events = watcher::watcher(api, watcher::Config::default()).default_backoff();
        Self { events: Box::pin(events), cache: BTreeMap::new(), fresh: None }
    }

    /// Follows until the cache is as wanted. Errors on the way are what the informer is there for.
    async fn until(&mut self, wanted: &[(&str, &str)]) {
        let wanted: BTreeMap<_, _> = wanted.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let start = Instant::now();
        while self.cache != wanted {
            let next = tokio::time::timeout(Duration::from_secs(30), self.events.try_next()).await;
            let event = next.unwrap_or_else(|_| panic!("{:?} is not {wanted:?}", self.cache));
            assert!(start.elapsed() < Duration::from_secs(60), "{:?} is not {wanted:?}", self.cache);
            let region = |object: &DynamicObject| object.data["spec"]["region"].as_str().unwrap().to_owned();
            match event {
                Ok(Some(Event::Init)) => self.fresh = Some(BTreeMap::new()),
                Ok(Some(Event::InitApply(object))) => {
                    self.fresh.as_mut().unwrap().insert(object.name_any(), region(&object));
                }
                Ok(Some(Event::InitDone)) => self.cache = self.fresh.take().unwrap(),
                Ok(Some(Event::Apply(object))) => {
                    self.cache.insert(object.name_any(), region(&object));
                }
                Ok(Some(Event::Delete(object))) => {
                    self.cache.remove(&object.name_any());
                }
                Ok(None) => panic!("the informer ended"),
                Err(_) => {}
            }
        }
    }
}

// covers: C3 C6 R5 K4
#[tokio::test]
async fn a_replica_is_killed_and_replaced_and_informers_lose_nothing() {
    let one = Fixture::start().await;
    let other = one.replica(slot(2)).await;
    let everywhere = |replicas: &[&Fixture], name: &str, region: &str| {
        for replica in replicas {
            replica.stations.publish(station(name, region)).unwrap();
        }
    };
    everywhere(&[&one, &other], "a", "north");
    everywhere(&[&one, &other], "b", "north");
    let relay = Relay::start(one.address).await;
    let mut informer = Informer::start(&one, &relay).await;
    informer.until(&[("a", "north"), ("b", "north")]).await;
    everywhere(&[&one, &other], "a", "west");
    informer.until(&[("a", "west"), ("b", "north")]).await;

    // The first dies with all its connections; what happens meanwhile is told by the other one.
    one.task.abort();
    relay.break_and_lead_to(other.address);
    other.stations.withdraw(&ObjectKey::cluster("b"));
    everywhere(&[&other], "c", "south");
    informer.until(&[("a", "west"), ("c", "south")]).await;

    // Its successor has the same slot and began from nothing: it does not know what was shown before.
    let successor = one.replica(slot(1)).await;
    everywhere(&[&successor], "a", "west");
    everywhere(&[&successor], "d", "east");
    relay.break_and_lead_to(successor.address);
    informer.until(&[("a", "west"), ("d", "east")]).await;
}

// covers: C6 R9
#[tokio::test]
async fn versions_of_other_processes_are_repeated_from_or_gone() {
    let one = Fixture::start().await;
    one.stations.publish(station("a", "north")).unwrap();
    let options = CollectionOptions { overlap: Duration::from_millis(500), ..CollectionOptions::default() };
    let other = one.replica(Settings { options, ..slot(2) }).await;
    let client = other.reader().await;
    let gone = format!("{STATIONS}?watch=true&resourceVersion={}", one.version());
    let mut watch = client.watch(&gone).await;
    let error = watch.next().await.unwrap();
    assert_eq!((&error["type"], &error["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert_eq!(error["object"]["reason"], "Expired");
    assert_eq!(watch.next().await, None);

    tokio::time::sleep(Duration::from_millis(600)).await;
    other.stations.publish(station("a", "west")).unwrap();
    let known = format!("{STATIONS}?watch=true&resourceVersion={}", one.version());
    let mut watch = client.watch(&known).await;
    assert_eq!(watch.brief().await, ("ADDED".into(), "a".into()), "repeated rather than lost");
}

/// A clock that is set back, which versions must not show.
fn stepping() -> (Arc<AtomicU64>, impl Fn() -> u64 + Send + Sync + 'static) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let time = Arc::new(AtomicU64::new(u64::try_from(since.as_micros()).unwrap()));
    let now = time.clone();
    (time, move || now.load(Ordering::SeqCst))
}

// covers: C3 C4
#[tokio::test]
async fn a_clock_that_steps_back_changes_nothing_for_watches() {
    let (time, now) = stepping();
    let settings = Settings { clock: VersionClock::with_time(1, now), ..Settings::default() };
    let fixture = Fixture::with(settings, |builder| builder).await;
    fixture.stations.publish(station("a", "north")).unwrap();
    let client = fixture.reader().await;
    let from = fixture.version();
    let mut watch = client.watch(&format!("{STATIONS}?watch=true&resourceVersion={from}")).await;
    time.fetch_sub(3_600_000_000, Ordering::SeqCst);
    fixture.stations.publish(station("a", "west")).unwrap();
    let event = watch.next().await.unwrap();
    let version: u64 = event["object"]["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    assert!(version > from.parse().unwrap());
    let list = client.get(STATIONS).await.json();
    let listed: u64 = list["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    assert!(listed >= version);
    fixture.stations.publish(station("b", "west")).unwrap();
    assert_eq!(watch.brief().await, ("ADDED".into(), "b".into()));
    let mut late = client.watch(&format!("{STATIONS}?watch=true&resourceVersion={listed}")).await;
    assert_eq!(late.brief().await, ("ADDED".into(), "b".into()));

    // Restarted with the clock still an hour back: what the process before had shown is gone, not in the future.
    let now = move || time.load(Ordering::SeqCst);
    let clock = VersionClock::with_time(1, now).of_process(1);
    let again = fixture.replica(Settings { clock, ..Settings::default() }).await;
    let client = again.reader().await;
    let mut watch = client.watch(&format!("{STATIONS}?watch=true&resourceVersion={listed}")).await;
    assert_eq!(watch.next().await.unwrap()["object"]["code"], 410);
}

// covers: C31
#[tokio::test]
async fn a_reader_that_never_reads_again_is_cut_off_and_its_neighbours_are_not() {
    let limits = Limits { stalled: Duration::from_secs(1), ..Limits::default() };
    let fixture = Fixture::with(Settings::default(), |builder| builder.limits(limits)).await;
    let client = fixture.reader().await;
    let path = format!("{STATIONS}?watch=true&resourceVersion={}", fixture.version());
    let stopped = client.send(Method::GET, &path, &[]).await.unwrap();
    let mut reading = client.watch(&path).await;
    let open = async || {
        let text = String::from_utf8(client.get("/metrics").await.body.to_vec()).unwrap();
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()
        };
        (value("aggregated_apiserver_watches{"), value("aggregated_apiserver_readers_cut_off_total"))
    };
    assert_eq!(open().await, (2, 0));
    let start = Instant::now();
    for number in 0.. {
        let mut object = station(&format!("n{}", number % 10), "north");
        object["spec"]["text"] = json!("x".repeat(30_000));
        object["spec"]["number"] = json!(number);
        fixture.stations.publish(object).unwrap();
        reading.next().await.unwrap();
        if number % 50 == 0 && open().await == (1, 1) {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", open().await);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let rest = stopped.into_body().collect().await.unwrap_err();
    assert!(rest.to_string().contains("stream") || std::error::Error::source(&rest).is_some(), "{rest}");
    fixture.stations.publish(station("z", "north")).unwrap();
    assert_eq!(reading.brief().await, ("ADDED".into(), "z".into()));
}
