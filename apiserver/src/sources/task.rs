//! What all source tasks share: settings, the pause between attempts, and sending reports.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use c5c3_api::SourceState;
use jiff::Timestamp;
use libvirt_rpc::{TlsClient, TlsFiles};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Measures;
use super::observation::Observation;
use super::picture::DomainCapabilitiesPicture;
use super::report::{HostObserved, RefreshRequests, Report, Reports};
use crate::configuration::Refresh;

/// Shortest and longest pause between two attempts to connect.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// Connections that are made at the same time: a thousand hosts at once, after a start or a network that was away, would
/// make each other miss their deadlines.
const AT_A_TIME: usize = 64;
/// Whoever has not answered by then does not hold up others any longer: a thousand hosts that are silent cost all others
/// a few seconds at the start, and nothing after it.
const TURN: Duration = Duration::from_millis(250);

/// How source tasks behave. Clones share the turns.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Ages.
    pub refresh: Refresh,
    /// What is counted.
    pub measures: Measures,
    turns: Arc<Semaphore>,
    capabilities: Arc<Mutex<BTreeSet<Arc<DomainCapabilitiesPicture>>>>,
    tls_clients: Arc<Mutex<HashMap<TlsFiles, TlsClient>>>,
}

impl Settings {
    /// Settings with turns of their own.
    pub fn new(refresh: Refresh) -> Self {
        Self::measured(refresh, Measures::default())
    }

    /// Settings with turns of their own, that count there.
    pub fn measured(refresh: Refresh, measures: Measures) -> Self {
        let turns = Arc::new(Semaphore::new(AT_A_TIME));
        Self { refresh, measures, turns, capabilities: Arc::default(), tls_clients: Arc::default() }
    }

    /// The client with those certificates, read once for all hosts that are reached with them.
    pub fn tls_client(&self, files: TlsFiles) -> TlsClient {
        let mut clients = self.tls_clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.entry(files.clone()).or_insert_with(|| TlsClient::of_files(files)).clone()
    }

    /// The same capabilities, kept once for all hosts that have them: machines of one kind say the same at length.
    pub fn one_of(&self, found: DomainCapabilitiesPicture) -> Arc<DomainCapabilitiesPicture> {
        let mut known = self.capabilities.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&found) {
            return Arc::clone(known);
        }
        known.retain(|known| Arc::strong_count(known) > 1);
        let found = Arc::new(found);
        known.insert(Arc::clone(&found));
        found
    }

    /// Does costly work of a new connection when it is its turn.
    pub async fn in_turn<T>(&self, work: impl Future<Output = T>) -> T {
        // Never closed: an error would mean that nobody waits for turns any more.
        let turn = self.turns.acquire().await;
        let mut work = std::pin::pin!(work);
        match tokio::time::timeout(TURN, &mut work).await {
            Ok(done) => done,
            Err(_) => {
                drop(turn);
                work.await
            }
        }
    }

    /// When a host is read again for the first time: not at the same moment for all hosts that were connected to at the
    /// same moment.
    pub fn first_refresh(&self, every: Duration) -> Instant {
        Instant::now() + every.mul_f64(0.5 + fraction() / 2.0)
    }
}

/// A number from 0 to 1 by chance.
fn fraction() -> f64 {
    f64::from(uuid::Uuid::new_v4().as_bytes().first().copied().unwrap_or(128)) / 255.0
}

/// Why a source cannot be heard.
#[derive(Debug, Clone)]
pub struct Trouble {
    /// Stale, unreachable or denied.
    pub state: SourceState,
    /// The error chain in words.
    pub message: String,
}

/// One source of one host on its way to the inventory.
#[derive(Debug)]
pub struct Voice<T> {
    host: String,
    reports: Reports,
    wrap: fn(Observation<T>) -> HostObserved,
    last: Observation<T>,
    heard: watch::Sender<Observation<T>>,
    source: &'static str,
    measures: Measures,
}

impl<T: PartialEq> Voice<T> {
    /// A source that has not said anything yet.
    pub fn new(
        source: &'static str,
        host: &str,
        settings: &Settings,
        reports: Reports,
        wrap: fn(Observation<T>) -> HostObserved,
    ) -> Self {
        let heard = watch::Sender::new(Observation::default());
        let (host, measures) = (host.to_owned(), settings.measures.clone());
        Self { host, reports, wrap, last: Observation::default(), heard, source, measures }
    }

    /// What is said, for others who want to hear it.
    pub fn follow(&self) -> watch::Receiver<Observation<T>> {
        self.heard.subscribe()
    }

    /// The host.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Reports a value that was read just now. One that says nothing new is the earlier one, read again.
    pub async fn say(&mut self, value: T) {
        if matches!(&self.last.health, super::observation::Health::Failed(_)) {
            tracing::info!(host = %self.host, "source answers again");
        }
        if !self.last.is_connected() {
            self.measures.answers(self.source);
        }
        let known = self.last.value.take().filter(|known| **known == value);
        self.last = Observation::of(known.unwrap_or_else(|| Arc::new(value)), Timestamp::now());
        self.send().await;
    }

    /// Reports that the source cannot be heard.
    pub async fn fail(&mut self, trouble: Trouble) {
        if self.last.is_connected() {
            self.measures.fell_silent(self.source);
        }
        let next = self.last.failed(trouble.state, trouble.message, Timestamp::now());
        if next.health != self.last.health {
            tracing::warn!(host = %self.host, state = next.state().as_str(), error = next.message(), "source is silent");
        }
        self.last = next;
        self.send().await;
    }

    /// Has those who asked for a fresh value told, once what was said so far is published.
    pub async fn answer(&self, waiting: Vec<oneshot::Sender<()>>) {
        if !waiting.is_empty() {
            let host = self.host.clone();
            // An error means that the inventory is gone: the server is stopping.
            let _ = self.reports.send(Report::Asked { host, waiting }).await;
        }
    }

    async fn send(&self) {
        if self.heard.receiver_count() > 0 {
            self.heard.send_replace(self.last.clone());
        }
        let report = Report::Host { host: self.host.clone(), observed: (self.wrap)(self.last.clone()) };
        // An error means that the inventory is gone: the server is stopping.
        let _ = self.reports.send(report).await;
    }
}

/// Sends a report.
pub(super) async fn tell(reports: &Reports, report: Report) {
    // An error means that the inventory is gone: the server is stopping.
    let _ = reports.send(report).await;
}

/// The growing, jittered pause between attempts.
#[derive(Debug)]
pub struct Pause(Duration);

impl Default for Pause {
    fn default() -> Self {
        Self(FIRST_PAUSE)
    }
}

impl Pause {
    /// Starts over after a success.
    pub fn reset(&mut self) {
        self.0 = FIRST_PAUSE;
    }

    /// Waits; `false` when the task was told to end. Requests to refresh are answered at once meanwhile: there is
    /// nothing newer to be had.
    pub async fn wait(&mut self, requests: &mut RefreshRequests, end: &CancellationToken) -> bool {
        let until = Instant::now() + self.0.mul_f64(0.75 + fraction() / 2.0);
        self.0 = (self.0 * 2).min(LONGEST_PAUSE);
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(until) => return true,
                () = end.cancelled() => return false,
                Some(_) = requests.recv() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn whoever_does_not_answer_does_not_hold_up_others_for_longer_than_a_turn() {
        let settings = Settings::new(Refresh::default());
        let silent = (0..AT_A_TIME).map(|_| settings.in_turn(std::future::pending::<()>()));
        let silent = futures::future::join_all(silent);
        let began = Instant::now();
        tokio::select! {
            biased;
            _ = silent => panic!("nobody answers"),
            () = settings.in_turn(async {}) => {}
        }
        assert_eq!(began.elapsed(), TURN);
    }

    #[test]
    fn refreshes_are_spread_over_half_of_their_interval() {
        let refresh = Refresh::default();
        let every = refresh.counters.duration();
        let settings = Settings::new(refresh);
        for _ in 0..100 {
            let now = Instant::now();
            let first = settings.first_refresh(every) - now;
            assert!(first >= every / 2 && first < every + Duration::from_secs(1), "{first:?}");
        }
    }
}
