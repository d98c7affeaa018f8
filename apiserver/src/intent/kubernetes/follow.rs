//! Following the stored records: list, then watch from there, and list again now and then.
//!
//! The revision up to which everything was told has to be exact, because other replicas rely on it; so this reads the
//! list's own version instead of leaving lists and watches to a helper that hides it. A watch is short and begun again
//! where it ended, so that a connection that died without a word is noticed.

use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use kube::Api;
use kube::api::{ListParams, WatchEvent, WatchParams};
use kube::core::DynamicObject;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::super::known::Contents;
use super::Shared;
use super::failure::Failure;
use super::stored;
use crate::sources::observation::chain;

/// How long one watch lasts.
const WATCH: u32 = 50;
/// Without a word for this long, a watch is dead.
const SILENT: Duration = Duration::from_secs(60);
/// How often everything is listed again, whatever the watch said.
const RESYNC: Duration = Duration::from_secs(600);
/// Pause before trying again; doubled each time, up to the last.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));

/// Why following has to begin again.
enum Interruption {
    /// The list has to be read again.
    List,
    /// The watch goes on from the revision that was reached.
    Resume,
    /// The cluster is silent.
    Silent(String),
}

/// Follows until told to end.
pub(super) async fn follow(api: Api<DynamicObject>, shared: std::sync::Arc<Shared>, end: CancellationToken) {
    let mut pause = PAUSES.0;
    loop {
        let outcome = tokio::select! {
            outcome = list_and_watch(&api, &shared, &mut pause) => outcome,
            () = end.cancelled() => return,
        };
        shared.fell_silent(&outcome);
        tracing::warn!(error = outcome, "intent in the cluster cannot be followed");
        tokio::select! {
            () = sleep(pause) => pause = (pause * 2).min(PAUSES.1),
            () = end.cancelled() => return,
        }
    }
}

/// Follows until the cluster is silent, and returns why.
async fn list_and_watch(api: &Api<DynamicObject>, shared: &Shared, pause: &mut Duration) -> String {
    loop {
        let mut revision = match list(api, shared).await {
            Ok(revision) => revision,
            Err(failure) => return chain(failure.cause().as_ref()),
        };
        let listed = Instant::now();
        shared.heard();
        *pause = PAUSES.0;
        loop {
            match watch(api, shared, &mut revision).await {
                Interruption::Resume if listed.elapsed() < RESYNC => shared.heard(),
                Interruption::Resume | Interruption::List => break,
                Interruption::Silent(message) => return message,
            }
        }
    }
}

async fn list(api: &Api<DynamicObject>, shared: &Shared) -> Result<u64, Failure> {
    let list = match timeout(super::DEADLINE, api.list(&ListParams::default())).await {
        Ok(list) => list?,
        Err(_) => return Err(Failure::Late),
    };
    let version = list.metadata.resource_version.unwrap_or_default();
    let mut contents = Contents { revision: version.parse().unwrap_or_default(), ..Contents::default() };
    for resource in &list.items {
        match stored::record(resource) {
            Ok(record) => {
                contents.records.insert(record.key.clone(), record);
            }
            Err(error) => damaged(resource, &error),
        }
    }
    shared.known.replace(&contents);
    Ok(contents.revision)
}

/// One watch from a revision on, which moves with what was heard.
async fn watch(api: &Api<DynamicObject>, shared: &Shared, revision: &mut u64) -> Interruption {
    let params = WatchParams::default().timeout(WATCH);
    let from = revision.to_string();
    let events = match timeout(super::DEADLINE, api.watch(&params, &from)).await {
        Ok(Ok(events)) => events,
        Ok(Err(kube::Error::Api(status))) if status.code == 410 => return Interruption::List,
        Ok(Err(error)) => return Interruption::Silent(chain(&error)),
        Err(_) => return Interruption::Silent("no answer in time".to_owned()),
    };
    let mut events = events.boxed();
    loop {
        let event = match timeout(SILENT, events.try_next()).await {
            Ok(Ok(Some(event))) => event,
            Ok(Ok(None)) => return Interruption::Resume,
            Ok(Err(kube::Error::Api(status))) if status.code == 410 => return Interruption::List,
            Ok(Err(error)) => return Interruption::Silent(chain(&error)),
            Err(_) => return Interruption::Silent("the watch is dead".to_owned()),
        };
        match event {
            WatchEvent::Added(resource) | WatchEvent::Modified(resource) => {
                take(shared, &resource, true, revision);
            }
            WatchEvent::Deleted(resource) => take(shared, &resource, false, revision),
            WatchEvent::Bookmark(bookmark) => {
                if let Ok(reached) = bookmark.metadata.resource_version.parse() {
                    shared.known.reached(reached);
                    *revision = reached;
                }
            }
            WatchEvent::Error(status) if status.code == 410 => return Interruption::List,
            WatchEvent::Error(status) => return Interruption::Silent(status.message),
        }
    }
}

fn take(shared: &Shared, resource: &DynamicObject, is_there: bool, revision: &mut u64) {
    match stored::record(resource) {
        Ok(record) => {
            let written = record.version.revision().unwrap_or(*revision);
            let key = record.key.clone();
            shared.known.tell(&key, is_there.then_some(record), written);
            *revision = written;
        }
        Err(error) => damaged(resource, &error),
    }
}

fn damaged(resource: &DynamicObject, error: &stored::DamagedError) {
    let name = resource.metadata.name.as_deref().unwrap_or_default();
    tracing::error!(intent = name, error = %chain(error), "a stored intent is damaged and does not count");
}
