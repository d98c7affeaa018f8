//! The task that owns the inventory: takes what comes in, publishes what follows, keeps source tasks running.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::OptionFuture;
use jiff::Timestamp;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use aggregated_apiserver::Latch;

use super::metrics::{AgeLabels, SourceLabels, UrgencyLabels};
use super::renewal::Unsettled;
use super::{Freshness, Inventory, Metrics, Publication, Urgency};
use crate::intent::{self, IntentChange, IntentChanges, IntentError, IntentKey, IntentRecord, IntentStore};
use crate::merge::Incarnation;
use crate::replicas::Ledger;
use crate::resources::{Bases, Shelves};
use crate::sources::libvirt::Inspectors;
use crate::sources::node::NodeChange;
use crate::sources::observation::{Observation, chain};
use crate::sources::report::{HostObserved, Report, Reports};
use crate::sources::{HostTasks, Settings};
use c5c3_api::SourceState;

/// Reports taken before what follows from them is published.
const BATCH: usize = 256;

/// Objects computed before other tasks get a turn.
const OBJECTS: usize = 8;

/// Kind under which the store keeps since when a configured host exists.
const HOST: &str = "Host";

/// What the follower works with.
#[derive(Debug)]
pub struct FollowerParts {
    /// Where objects are shown.
    pub shelves: Shelves,
    /// Where refresh handles are kept.
    pub freshness: Arc<Freshness>,
    /// Where it is said what Nodes say of their hosts.
    pub bases: Arc<Bases>,
    /// Where the ways to ask hosts about their domains are kept.
    pub inspectors: Arc<Inspectors>,
    /// Where intent is stored.
    pub intents: Arc<dyn IntentStore>,
    /// What this replica can state about the intent that it has applied.
    pub ledger: Arc<Ledger>,
    /// How sources behave.
    pub settings: Settings,
    /// Changes of Nodes; `None` when only configured hosts exist.
    pub nodes: Option<mpsc::Receiver<NodeChange>>,
    /// All tasks of the server.
    pub tasks: TaskTracker,
    /// The end of all tasks.
    pub end: CancellationToken,
    /// Opened when every host that exists is shown.
    pub hosts_known: Latch,
    /// What is counted.
    pub metrics: Metrics,
}

/// The owner of the inventory.
#[derive(Debug)]
pub struct Follower {
    inventory: Inventory,
    parts: FollowerParts,
    reports: Reports,
    running: BTreeMap<String, HostTasks>,
    /// The last write to the intent store that the inventory has taken.
    through: u64,
    /// Intent whose objects are shown at versions that this replica still speaks for.
    unsettled: Unsettled,
    /// Intent has to be read again.
    stale: bool,
}

impl Follower {
    /// A follower, and the queue that it reads reports from; `reports` is the other end.
    pub fn new(inventory: Inventory, parts: FollowerParts, reports: Reports) -> Self {
        Self {
            inventory,
            parts,
            reports,
            running: BTreeMap::new(),
            through: 0,
            unsettled: Unsettled::default(),
            stale: false,
        }
    }

    /// Works until told to end.
    ///
    /// # Errors
    /// When the intent store cannot be read at the start: without it, what people want would seem to be gone.
    pub async fn run(mut self, mut reports: mpsc::Receiver<Report>) -> Result<(), IntentError> {
        let mut intents = self.parts.intents.changes();
        self.load().await?;
        self.state_what_was_applied();
        self.publish().await;
        if self.parts.nodes.is_none() {
            self.complete();
        }
        let end = self.parts.end.clone();
        let mut nodes = self.parts.nodes.take();
        let mut tick = interval(std::time::Duration::from_secs(1));
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut batch = Vec::with_capacity(BATCH);
        let mut asked: Vec<oneshot::Sender<()>> = Vec::new();
        let mut news: Vec<Timestamp> = Vec::new();
        loop {
            let node_change: OptionFuture<_> = nodes.as_mut().map(|nodes| nodes.recv()).into();
            tokio::select! {
                biased;
                () = end.cancelled() => return Ok(()),
                Some(Some(change)) = node_change => self.take_node(change).await,
                change = intents.recv() => self.take_intent_changes(change, &mut intents).await,
                _ = tick.tick() => self.slow_tick().await,
                taken = reports.recv_many(&mut batch, BATCH) => {
                    if taken == 0 {
                        return Ok(());
                    }
                    self.parts.metrics.reports.inc_by(u64::try_from(taken).unwrap_or_default());
                    self.parts.metrics.waiting.set(i64::try_from(reports.len()).unwrap_or(i64::MAX));
                    for report in batch.drain(..) {
                        match report {
                            Report::Asked { host, waiting } => {
                                self.inventory.touch_asked(&host);
                                asked.extend(waiting);
                            }
                            report => {
                                let read = match &report {
                                    Report::Host { observed, .. } => observed.read_at(),
                                    _ => None,
                                };
                                if self.inventory.take(report) {
                                    news.extend(read);
                                }
                            }
                        }
                    }
                }
                // Nothing else to do, for the moment: one of the things that could wait.
                () = std::future::ready(()), if self.inventory.has_patient_news() => self.publish_patient().await,
            }
            self.state_what_was_applied();
            self.publish().await;
            let now = Timestamp::now();
            for read in news.drain(..) {
                self.parts.metrics.latency.observe(now.duration_since(read).as_secs_f64().max(0.0));
            }
            for waiting in asked.drain(..) {
                // Whoever asked may have given up.
                let _ = waiting.send(());
            }
        }
    }

    /// Every host that exists is shown: readers may come.
    fn complete(&self) {
        self.parts.shelves.complete();
        self.parts.hosts_known.open();
    }

    /// Reads all intent and makes configured hosts known. What is not stored any more is forgotten.
    async fn load(&mut self) -> Result<(), IntentError> {
        let snapshot = self.parts.intents.snapshot().await?;
        let known =
            [c5c3_api::hypervisor::KIND.kind, c5c3_api::eviction::KIND.kind].into_iter().flat_map(|kind| {
                self.inventory.intent_names(kind).into_iter().map(move |name| IntentKey::cluster(kind, &name))
            });
        let stored: BTreeSet<&IntentKey> = snapshot.records.iter().map(|record| &record.key).collect();
        let gone: Vec<IntentKey> = known.filter(|key| !stored.contains(key)).collect();
        for key in gone {
            self.take_record(&key, None);
        }
        self.through = snapshot.through;
        let configured: Vec<String> = self.inventory.configured().map(str::to_owned).collect();
        let unknown = configured.into_iter().filter(|name| !self.inventory.has_host(name));
        for name in unknown.collect::<Vec<_>>() {
            let incarnation = self.configured_incarnation(&name).await?;
            self.add_host(&name, incarnation);
        }
        for record in snapshot.records {
            self.take_record(&record.key.clone(), Some(record));
        }
        self.stale = false;
        Ok(())
    }

    fn add_host(&mut self, name: &str, incarnation: Incarnation) {
        self.inventory.add_host(name, incarnation);
        self.start_sources(name);
    }

    /// Since when a configured host exists: written down the first time it is seen.
    async fn configured_incarnation(&self, name: &str) -> Result<Incarnation, IntentError> {
        let key = IntentKey::cluster(HOST, name);
        let record = match self.parts.intents.get(&key).await? {
            Some(record) => record,
            None => match self.parts.intents.put(&key, None, intent::identity(&key)).await {
                // Another replica was faster.
                Err(IntentError::Conflict { .. }) => match self.parts.intents.get(&key).await? {
                    Some(record) => record,
                    None => return Err(IntentError::Interrupted),
                },
                stored => stored?,
            },
        };
        Ok(Incarnation::of_record(&record))
    }

    async fn take_node(&mut self, change: NodeChange) {
        match change {
            NodeChange::Present { name, node } => {
                let created = node.created.unwrap_or(Timestamp::UNIX_EPOCH);
                self.parts.bases.set(&name, &node);
                self.inventory.add_host(&name, Incarnation { of: node.uid.clone(), created });
                let observed = HostObserved::Node(Observation::fresh(*node, Timestamp::now()));
                self.inventory.take(Report::Host { host: name.clone(), observed });
                self.start_sources(&name);
            }
            NodeChange::Gone { name } => self.node_gone(&name).await,
            NodeChange::Complete { names } => {
                for name in self.inventory.hosts_with_node() {
                    if !names.contains(&name) {
                        self.node_gone(&name).await;
                    }
                }
                self.inventory.nodes_complete();
                self.publish().await;
                self.complete();
            }
            NodeChange::Silent { message } => {
                for (name, node) in self.inventory.nodes() {
                    let observed = node.failed(SourceState::Unreachable, message.clone(), Timestamp::now());
                    self.inventory.take(Report::Host { host: name, observed: HostObserved::Node(observed) });
                }
            }
        }
    }

    /// A host without a Node goes, unless the configuration or somebody's intent wants it: then it is the host that they
    /// declare, as it would be after a restart.
    async fn node_gone(&mut self, name: &str) {
        self.parts.bases.remove(name);
        let declared = if self.inventory.is_configured(name) {
            match self.configured_incarnation(name).await {
                Ok(incarnation) => Some(incarnation),
                Err(error) => {
                    tracing::error!(host = name, error = %chain(&error), "intent could not be read");
                    return;
                }
            }
        } else {
            self.inventory.declared(name)
        };
        let Some(incarnation) = declared else {
            self.forget_identity(name).await;
            self.remove_host(name);
            return;
        };
        let observed = HostObserved::Node(Observation::disabled());
        self.inventory.take(Report::Host { host: name.to_owned(), observed });
        self.add_host(name, incarnation);
    }

    fn remove_host(&mut self, name: &str) {
        self.running.remove(name);
        self.parts.freshness.remove(name);
        self.parts.inspectors.set(name, None);
        self.inventory.remove_host(name);
    }

    /// Before what follows from it is published: whatever is published later reflects it.
    fn state_what_was_applied(&mut self) {
        if let Some(forgotten) = self.parts.ledger.applied(self.through) {
            for key in self.unsettled.forgotten(forgotten) {
                self.inventory.renew(&key);
            }
        }
    }

    /// Takes a change and those that wait behind it.
    async fn take_intent_changes(
        &mut self,
        first: Result<IntentChange, broadcast::error::RecvError>,
        changes: &mut IntentChanges,
    ) {
        self.take_intent_change(first, changes).await;
        for _ in 0..BATCH {
            let next = match changes.try_recv() {
                Ok(change) => Ok(change),
                Err(broadcast::error::TryRecvError::Lagged(count)) => {
                    Err(broadcast::error::RecvError::Lagged(count))
                }
                Err(broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed) => return,
            };
            self.take_intent_change(next, changes).await;
        }
    }

    async fn take_intent_change(
        &mut self,
        change: Result<IntentChange, broadcast::error::RecvError>,
        changes: &mut IntentChanges,
    ) {
        match change {
            Ok(change) if change.revision > self.through => {
                self.unsettled.applied(change.revision, &change.key, change.record.as_ref());
                self.take_record(&change.key, change.record);
                self.through = change.revision;
            }
            // It was in the snapshot.
            Ok(_) => {}
            Err(broadcast::error::RecvError::Lagged(_)) => {
                *changes = self.parts.intents.changes();
                self.reload().await;
            }
            // The store is gone: the server is stopping.
            Err(broadcast::error::RecvError::Closed) => self.parts.end.cancelled().await,
        }
    }

    /// Reads all intent again; if that fails, the next tick tries once more.
    async fn reload(&mut self) {
        self.stale = true;
        if let Err(error) = self.load().await {
            tracing::error!(error = %chain(&error), "intent could not be read");
        }
    }

    fn take_record(&mut self, key: &IntentKey, record: Option<IntentRecord>) {
        let name = key.name.as_str();
        if key.kind == c5c3_api::eviction::KIND.kind {
            self.inventory.take_eviction(name, record);
        } else if key.kind == c5c3_api::hypervisor::KIND.kind {
            self.inventory.take_intent(name, record);
            if self.inventory.has_node(name) || self.inventory.is_configured(name) {
                return;
            }
            match self.inventory.declared(name) {
                // Also when the host is known: a wish that was taken back and made again declares another one.
                Some(incarnation) => self.add_host(name, incarnation),
                None => self.remove_host(name),
            }
        }
    }

    /// Removes what only said who the Hypervisor of a host was that is gone: the next of its name is somebody else.
    async fn forget_identity(&mut self, name: &str) {
        let Some(record) = self.inventory.leftover(name).cloned() else { return };
        match self.parts.intents.remove(&record.key, &record.version).await {
            // Somebody was faster.
            Ok(_) | Err(IntentError::Conflict { .. }) => {}
            Err(error) => tracing::warn!(host = name, error = %chain(&error), "identity was not forgotten"),
        }
    }

    /// Starts the sources of a host, or starts them anew when it is reached in another way.
    fn start_sources(&mut self, name: &str) {
        let reach = self.inventory.reach(name);
        if self.running.get(name).is_some_and(|running| *running.reach() == reach) {
            return;
        }
        // The earlier tasks end with this.
        self.running.remove(name);
        self.inventory.expect_sources(name, &reach);
        let FollowerParts { settings, tasks, end, .. } = &self.parts;
        let started = HostTasks::start(name, reach, settings, &self.reports, tasks, end);
        self.parts.freshness.set(name, started.handles());
        self.parts.inspectors.set(name, started.inspector());
        self.running.insert(name.to_owned(), started);
    }

    /// Publishes all that is new, a few objects at a time. Computing them is work without a pause, and what this task
    /// has woken waits in its worker's own slot, where nobody else can take it: it has to let it run.
    async fn publish(&mut self) {
        while self.inventory.has_news() {
            let publications = self.inventory.next_publications(OBJECTS, Timestamp::now());
            self.put(publications);
            tokio::task::yield_now().await;
        }
    }

    /// Publishes one thing that could wait.
    async fn publish_patient(&mut self) {
        let publications = self.inventory.patient_publications(Timestamp::now());
        self.put(publications);
        tokio::task::yield_now().await;
    }

    /// Withdraws what is over, and has counters and ages shown, of a share of the hosts each second, so that they do not all
    /// come at once.
    async fn slow_tick(&mut self) {
        if self.stale {
            self.reload().await;
        }
        let now = Timestamp::now();
        let share = self.parts.settings.refresh.slow_tick.duration().as_secs().max(1);
        let turn = u64::try_from(now.as_second()).unwrap_or_default() % share;
        let names: Vec<String> = (0_u64..)
            .zip(self.inventory.host_names())
            .filter(|(index, _)| index % share == turn)
            .map(|(_, name)| name.to_owned())
            .collect();
        self.inventory.touch_expired(now);
        for name in names {
            self.inventory.touch_due(&name);
        }
        for (source, age) in self.inventory.oldest(now) {
            self.parts.metrics.ages.get_or_create(&AgeLabels { source }).set(age);
        }
        self.parts.metrics.sources.clear();
        for ((source, state), hosts) in self.inventory.source_states() {
            let labels = SourceLabels { source: source.to_owned(), state: state.to_owned() };
            self.parts.metrics.sources.get_or_create(&labels).set(hosts);
        }
    }

    fn put(&self, publications: Vec<Publication>) {
        for publication in publications {
            let urgency = match &publication {
                Publication::Show { urgency: Urgency::Quiet, .. } => "quiet",
                _ => "change",
            };
            let labels = UrgencyLabels { urgency: urgency.to_owned() };
            self.parts.metrics.publications.get_or_create(&labels).inc();
            if let Err(error) = self.parts.shelves.put(publication) {
                tracing::error!(error = %chain(&error), "object could not be shown");
            }
        }
    }
}
