//! The intent store, and what this replica is among those that share it: its slot, its clock, what it states.

use std::sync::Arc;
use std::time::Duration;

use aggregated_apiserver::{NoReplicas, Replicas, VersionClock};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;
use uuid::Uuid;

use super::{WiringError, access};
use crate::configuration::{Configuration, IntentInKubernetes, Kubernetes};
use crate::intent::{EmbeddedStore, IntentStore, KubernetesStore, StoreDefinition};
use crate::replicas::{self, Guarded, Ledger, Seat, SlotError, Standing, Terms};
use crate::sources::observation::chain;

/// How often the gauges are set.
const LOOK: Duration = Duration::from_secs(2);

/// The store, and this replica's part in it.
pub(super) struct Kept {
    pub(super) store: Arc<dyn IntentStore>,
    pub(super) clock: Arc<VersionClock>,
    pub(super) ledger: Arc<Ledger>,
    pub(super) replicas: Arc<dyn Replicas>,
    /// Ends with an error when another replica has taken the slot.
    pub(super) seat: Option<JoinHandle<Result<(), SlotError>>>,
}

/// Opens the configured store. `end` ends what was started for it, `server` is ended when the slot is lost.
pub(super) async fn open(
    configuration: &Configuration,
    registry: &mut Registry,
    tasks: &TaskTracker,
    end: &CancellationToken,
    server: &CancellationToken,
) -> Result<Kept, WiringError> {
    match (&configuration.intent.kubernetes, &configuration.kubernetes) {
        (Some(intent), Some(kubernetes)) => {
            in_cluster(intent, kubernetes, registry, tasks, end, server).await
        }
        _ => embedded(configuration, &Health::register(registry)),
    }
}

/// One server with a file, or with nothing.
fn embedded(configuration: &Configuration, health: &Health) -> Result<Kept, WiringError> {
    let clock = VersionClock::new(configuration.replica);
    let (store, clock) = match &configuration.intent.file {
        Some(file) => {
            let store = EmbeddedStore::open(file).map_err(WiringError::Intent)?;
            // Counted in the file, so that no two processes that used it share a number.
            let process = store.begin_process().map_err(WiringError::Intent)?;
            (store, clock.of_process(process))
        }
        None => (EmbeddedStore::in_memory().map_err(WiringError::Intent)?, clock),
    };
    // What one server has to itself it cannot lose sight of.
    health.held.set(1);
    health.followed.set(1);
    let clock = Arc::new(clock);
    Ok(Kept {
        store: Arc::new(store),
        ledger: Arc::new(Ledger::new(Arc::clone(&clock))),
        clock,
        replicas: Arc::new(NoReplicas),
        seat: None,
    })
}

async fn in_cluster(
    intent: &IntentInKubernetes,
    kubernetes: &Kubernetes,
    registry: &mut Registry,
    tasks: &TaskTracker,
    end: &CancellationToken,
    server: &CancellationToken,
) -> Result<Kept, WiringError> {
    let client = access::client(kubernetes).await?;
    if intent.install {
        StoreDefinition::install(&client).await.map_err(WiringError::Definition)?;
    }
    let store = KubernetesStore::open(&client, tasks, end.clone()).await.map_err(WiringError::Intent)?;
    let store: Arc<dyn IntentStore> = Arc::new(store);
    let seat = replicas::take_seat(&client, &intent.namespace, &holder()).await.map_err(WiringError::Slot)?;
    let seat = Arc::new(seat);
    let clock = Arc::new(VersionClock::new(seat.slot()).of_process(seat.process()));
    let ledger = Arc::new(Ledger::new(Arc::clone(&clock)));
    let terms = Arc::new(Terms::default());
    let listening = replicas::listen(client, intent.namespace.clone(), Arc::clone(&terms), end.child_token());
    tasks.spawn(listening.instrument(tracing::info_span!("replicas")));
    let (standing, server) = (seat.standing(), server.clone());
    tasks.spawn(show(Health::register(registry), Arc::clone(&store), Arc::clone(&seat), end.child_token()));
    let keeping = keep(seat, Arc::clone(&ledger), end.child_token(), server);
    let keeping = tasks.spawn(keeping.instrument(tracing::info_span!("slot")));
    Ok(Kept {
        store: Arc::new(Guarded::new(store, standing)),
        clock,
        ledger,
        replicas: terms,
        seat: Some(keeping),
    })
}

/// Who we are to the other replicas: the pod, and this process of it.
fn holder() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "c5c3-apiserver".to_owned());
    format!("{host}_{}", Uuid::new_v4())
}

/// Keeps the slot. A server that has lost it to another could never write again: it ends, and starts anew in another slot.
async fn keep(
    seat: Arc<Seat>,
    ledger: Arc<Ledger>,
    end: CancellationToken,
    server: CancellationToken,
) -> Result<(), SlotError> {
    let kept = seat.keep(ledger, end).await;
    if let Err(error) = &kept {
        tracing::error!(error = %chain(error), "the slot is lost, the server ends");
        server.cancel();
    }
    kept
}

/// Whether this replica can write, and knows the newest intent.
#[derive(Debug)]
struct Health {
    held: Gauge,
    followed: Gauge,
}

impl Health {
    fn register(registry: &mut Registry) -> Self {
        let health = Self { held: Gauge::default(), followed: Gauge::default() };
        registry.register(
            "c5c3_replica_slot_held",
            "1 while this replica holds its slot and may write",
            health.held.clone(),
        );
        registry.register(
            "c5c3_intent_store_followed",
            "1 while the intent store is heard, 0 while what is known of it may be old",
            health.followed.clone(),
        );
        health
    }
}

async fn show(health: Health, store: Arc<dyn IntentStore>, seat: Arc<Seat>, end: CancellationToken) {
    let standing = seat.standing();
    loop {
        health.held.set(i64::from(*standing.borrow() == Standing::Held));
        health.followed.set(i64::from(store.silence().is_none()));
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = end.cancelled() => return,
        }
    }
}
