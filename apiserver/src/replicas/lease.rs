//! Taking a slot, keeping it, and hearing what the holders of the others state.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{ListParams, PostParams};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client};
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::ledger::Ledger;
use super::slot::{Choice, DURATION, choose, held};
use super::terms::{Terms, lease_name, process_of};
use crate::sources::observation::chain;

/// How often a Lease is renewed.
const RENEW: Duration = Duration::from_secs(5);
/// New statements are gathered for so long before they are published.
const GATHER: Duration = Duration::from_millis(200);
/// How long one call may take.
const DEADLINE: Duration = Duration::from_secs(5);
/// How often it is looked whether a slot has become free.
const LOOK: Duration = Duration::from_secs(2);

/// Why there is no slot.
#[derive(Debug, Error)]
pub enum SlotError {
    /// The Leases cannot be read or written.
    #[error("the Leases of the replicas' slots in namespace {namespace} cannot be used")]
    Leases {
        /// Where they are.
        namespace: String,
        /// Why.
        #[source]
        source: Box<kube::Error>,
    },
    /// The cluster does not answer.
    #[error("the Leases of the replicas' slots in namespace {0}: no answer in time")]
    Late(String),
    /// Another replica has taken the slot over: this one was not heard for too long.
    #[error("slot {slot} was taken over by {holder}")]
    Lost {
        /// The slot.
        slot: u8,
        /// Who has it now.
        holder: String,
    },
}

/// Whether a replica may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Its slot is its own.
    Held,
    /// It could not renew it for too long: reads go on, writes wait.
    Adrift(String),
}

/// A slot that this process holds.
#[derive(Debug)]
pub struct Seat {
    leases: Api<Lease>,
    namespace: String,
    holder: String,
    slot: u8,
    lease: RwLock<Lease>,
    standing: watch::Sender<Standing>,
}

/// Takes a free slot; waits for one when all are held.
///
/// # Errors
/// When the Leases cannot be read or written.
pub async fn take_seat(client: &Client, namespace: &str, holder: &str) -> Result<Seat, SlotError> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), namespace);
    loop {
        let found = call(namespace, leases.list(&ListParams::default())).await?;
        let now = Timestamp::now();
        let taken = match choose(&found.items, now) {
            Choice::Create(slot) => {
                let lease = held(slot, None, holder, &[], now);
                (slot, call(namespace, leases.create(&PostParams::default(), &lease)).await)
            }
            Choice::Take(slot, earlier) => {
                let lease = held(slot, Some(&earlier), holder, &[], now);
                (
                    slot,
                    call(namespace, leases.replace(&lease_name(slot), &PostParams::default(), &lease)).await,
                )
            }
            Choice::Wait => {
                tracing::warn!("all slots of replicas are held, waiting for one");
                sleep(LOOK).await;
                continue;
            }
        };
        match taken {
            (slot, Ok(lease)) => {
                tracing::info!(slot, holder, "slot taken");
                let (leases, namespace, holder) = (leases, namespace.to_owned(), holder.to_owned());
                let standing = watch::Sender::new(Standing::Held);
                return Ok(Seat { leases, namespace, holder, slot, lease: RwLock::new(lease), standing });
            }
            // Somebody was faster.
            (_, Err(SlotError::Leases { source, .. })) if is_conflict(&source) => {}
            (_, Err(error)) => return Err(error),
        }
    }
}

async fn call<T>(namespace: &str, call: impl Future<Output = kube::Result<T>>) -> Result<T, SlotError> {
    match timeout(DEADLINE, call).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(source)) => {
            Err(SlotError::Leases { namespace: namespace.to_owned(), source: Box::new(source) })
        }
        Err(_) => Err(SlotError::Late(namespace.to_owned())),
    }
}

fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409)
}

impl Seat {
    /// The slot.
    pub fn slot(&self) -> u8 {
        self.slot
    }

    /// The number of this process among the holders of the slot.
    pub fn process(&self) -> u8 {
        let lease = self.lease.read().unwrap_or_else(PoisonError::into_inner);
        process_of(lease.spec.as_ref().and_then(|spec| spec.lease_transitions).unwrap_or_default())
    }

    /// Whether this replica may write, as it changes.
    pub fn standing(&self) -> watch::Receiver<Standing> {
        self.standing.subscribe()
    }

    /// Keeps the slot and publishes what the ledger states, until told to end; then gives the slot back.
    ///
    /// # Errors
    /// When another replica has taken the slot: this process has to start again to get another one.
    pub async fn keep(self: Arc<Self>, ledger: Arc<Ledger>, end: CancellationToken) -> Result<(), SlotError> {
        let mut news = ledger.news();
        let mut renewed = Instant::now();
        loop {
            let begun = Instant::now();
            match self.renew(&ledger).await {
                Ok(()) => {
                    renewed = begun;
                    self.stand(Standing::Held);
                }
                Err(error @ SlotError::Lost { .. }) => {
                    self.stand(Standing::Adrift(error.to_string()));
                    return Err(error);
                }
                Err(error) => {
                    let message = chain(&error);
                    tracing::warn!(slot = self.slot, error = message, "the slot could not be renewed");
                    if renewed.elapsed() >= Duration::from_secs(DURATION.unsigned_abs().into()) {
                        self.stand(Standing::Adrift(message));
                    }
                }
            }
            tokio::select! {
                () = end.cancelled() => {
                    self.release().await;
                    return Ok(());
                }
                () = sleep(RENEW) => {}
                Ok(()) = news.changed() => sleep(GATHER).await,
            }
        }
    }

    fn stand(&self, standing: Standing) {
        self.standing.send_if_modified(|known| {
            let changed = *known != standing;
            *known = standing;
            changed
        });
    }

    fn known(&self) -> Lease {
        self.lease.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn renew(&self, ledger: &Ledger) -> Result<(), SlotError> {
        let mut earlier = self.known();
        loop {
            let lease = held(self.slot, Some(&earlier), &self.holder, &ledger.statements(), Timestamp::now());
            let name = lease_name(self.slot);
            match call(&self.namespace, self.leases.replace(&name, &PostParams::default(), &lease)).await {
                Ok(lease) => {
                    *self.lease.write().unwrap_or_else(PoisonError::into_inner) = lease;
                    return Ok(());
                }
                Err(SlotError::Leases { source, .. }) if is_conflict(&source) => {
                    // Our own write whose answer was lost, somebody's edit, or a takeover.
                    let found = call(&self.namespace, self.leases.get(&name)).await?;
                    let holder =
                        found.spec.as_ref().and_then(|spec| spec.holder_identity.clone()).unwrap_or_default();
                    if holder != self.holder {
                        return Err(SlotError::Lost { slot: self.slot, holder });
                    }
                    earlier = found;
                }
                // Somebody deleted it: another may have it next.
                Err(SlotError::Leases { source, .. }) if matches!(&*source, kube::Error::Api(status) if status.code == 404) =>
                {
                    return Err(SlotError::Lost {
                        slot: self.slot,
                        holder: "nobody: its Lease is gone".to_owned(),
                    });
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives the slot back. Should that fail, it expires.
    async fn release(&self) {
        let mut lease = self.known();
        if let Some(spec) = &mut lease.spec {
            spec.holder_identity = Some(String::new());
        }
        let name = lease_name(self.slot);
        if let Err(error) =
            call(&self.namespace, self.leases.replace(&name, &PostParams::default(), &lease)).await
        {
            tracing::warn!(slot = self.slot, error = %chain(&error), "the slot was not given back and will expire");
        }
    }
}

/// Learns what all replicas state, until told to end.
pub async fn listen(client: Client, namespace: String, terms: Arc<Terms>, end: CancellationToken) {
    let leases: Api<Lease> = Api::namespaced(client, &namespace);
    let events = watcher(leases, watcher::Config::default()).default_backoff().applied_objects();
    let mut events = events.boxed();
    loop {
        let event = tokio::select! {
            event = events.try_next() => event,
            () = end.cancelled() => return,
        };
        match event {
            Ok(Some(lease)) => terms.learn(&lease),
            Ok(None) => return,
            Err(error) => tracing::warn!(error = %chain(&error), "what other replicas state cannot be heard"),
        }
    }
}
