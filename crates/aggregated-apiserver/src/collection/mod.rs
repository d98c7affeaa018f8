//! The published objects of one resource, ready to be sent, and what happened to them lately.
//!
//! An object is serialised once, when it is published; GET, LIST and WATCH only copy bytes. Readers take a snapshot
//! of references under a short lock. Watches read a ring of recent events at their own pace: a publisher never waits
//! for a reader, and a reader that falls behind the ring is told to list again.

mod encode;
mod error;
mod object;
mod ring;
mod wanted;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

pub use self::error::PublishError;
pub(crate) use self::object::Cell;
pub use self::object::{ObjectKey, PublishedObject};
pub use self::ring::{Event, EventKind, Expired};
pub use self::wanted::Revision;
pub(crate) use self::wanted::Wanted;

use self::encode::Draft;
use self::ring::Ring;
use crate::definition::{CheckedPaths, DefinitionError, ResourceDefinition};
use crate::version::{Issuer, ResourceVersion, VersionClock};

/// How much of the past a collection keeps, and when it may be read.
#[derive(Clone, Debug)]
pub struct CollectionOptions {
    /// How long an event is kept at least, unless one of the two bounds below is met first.
    pub retention: Duration,
    /// Most events kept.
    pub max_events: usize,
    /// Most bytes of events kept.
    pub max_event_bytes: usize,
    /// How far a watch that starts at another replica's version goes back. It covers the difference between what
    /// two replicas know at one moment, and that of their clocks.
    pub overlap: Duration,
    /// False when readers shall be answered 503 until [`Collection::complete`] is called: a list that is not filled yet
    /// would tell every client that all objects are gone.
    pub complete: bool,
}

impl Default for CollectionOptions {
    fn default() -> Self {
        Self {
            retention: Duration::from_secs(330),
            max_events: 100_000,
            max_event_bytes: 256 << 20,
            overlap: Duration::from_secs(30),
            complete: true,
        }
    }
}

/// What publishing an object led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishOutcome {
    /// It is new.
    Added(ResourceVersion),
    /// It means something else than what watchers saw last.
    Modified(ResourceVersion),
    /// It is what watchers saw last. Nothing was sent.
    Unchanged(ResourceVersion),
}

/// What amending an object led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmendOutcome {
    /// GET and LIST show the amended object under its old version.
    Amended(ResourceVersion),
    /// Labels or selectable fields differ, which selectors of watches must hear of: it was published.
    Published(PublishOutcome),
    /// No object of this name and UID is published; nothing was done.
    Absent,
}

/// What GET and LIST show at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Not smaller than the version of any object, smaller than that of every later event.
    pub version: ResourceVersion,
    /// In the order of their keys.
    pub objects: Vec<Arc<PublishedObject>>,
    pub(crate) position: u64,
    pub(crate) last_change: ResourceVersion,
}

/// The published objects of one resource.
pub struct Collection {
    definition: ResourceDefinition,
    paths: CheckedPaths,
    api_version: String,
    clock: Arc<VersionClock>,
    options: CollectionOptions,
    state: RwLock<State>,
    changed: watch::Sender<u64>,
    complete: watch::Sender<bool>,
    counters: [AtomicU64; 3],
}

#[derive(Debug)]
struct State {
    objects: BTreeMap<ObjectKey, Entry>,
    ring: Ring,
}

#[derive(Debug)]
struct Entry {
    /// What GET and LIST show.
    shown: Arc<PublishedObject>,
    /// Digest of what watchers saw last.
    announced: [u8; 32],
    /// What of it is wanted, and since when it is shown.
    wanted: wanted::Shown,
}

impl Collection {
    /// An empty collection.
    pub fn new(
        definition: ResourceDefinition,
        clock: Arc<VersionClock>,
        options: CollectionOptions,
    ) -> Result<Arc<Self>, DefinitionError> {
        let paths = definition.check()?;
        let ring = Ring::new(clock.read(), &options);
        Ok(Arc::new(Self {
            api_version: definition.api_version(),
            paths,
            definition,
            state: RwLock::new(State { objects: BTreeMap::new(), ring }),
            changed: watch::Sender::new(0),
            complete: watch::Sender::new(options.complete),
            counters: Default::default(),
            clock,
            options,
        }))
    }

    /// What this collection holds objects of.
    pub fn definition(&self) -> &ResourceDefinition {
        &self.definition
    }

    /// Lets readers in, see [`CollectionOptions::complete`].
    pub fn complete(&self) {
        self.complete.send_replace(true);
    }

    /// True when readers are let in.
    pub fn is_complete(&self) -> bool {
        *self.complete.borrow()
    }

    /// Publishes an object. `apiVersion`, `kind` and `metadata.resourceVersion` are filled in.
    ///
    /// If it equals what watchers saw last, nothing happens (an amendment is undone); else it gets a new version and
    /// an event. If an object of the same name with another UID is there, that one is withdrawn first.
    pub fn publish(&self, object: Value) -> Result<PublishOutcome, PublishError> {
        self.publish_from(object, Revision::default())
    }

    /// Publishes an object that shows a revision of what is stored.
    pub fn publish_from(&self, object: Value, revision: Revision) -> Result<PublishOutcome, PublishError> {
        let draft = self.draft(object)?;
        let mut state = self.write();
        Ok(self.publish_draft(&mut state, draft, revision))
    }

    fn draft(&self, object: Value) -> Result<Draft, PublishError> {
        Draft::new(object, &self.definition, &self.api_version, &self.paths)
    }

    fn publish_draft(&self, state: &mut State, draft: Draft, revision: Revision) -> PublishOutcome {
        if state.objects.get(&draft.key).is_some_and(|entry| entry.shown.uid() != draft.uid) {
            self.remove(state, &draft.key);
        }
        let outcome = match state.objects.get_mut(&draft.key) {
            Some(entry) if entry.announced == draft.digest && entry.wanted.revision == revision => {
                let version = entry.shown.version();
                entry.shown = Arc::new(draft.finish(version, EventKind::Modified).1);
                return PublishOutcome::Unchanged(version);
            }
            Some(entry) => {
                let previous = (entry.shown.clone(), entry.wanted.clone());
                let kind = EventKind::Modified;
                PublishOutcome::Modified(self.announce(state, draft, revision, kind, Some(previous)))
            }
            None => PublishOutcome::Added(self.announce(state, draft, revision, EventKind::Added, None)),
        };
        self.notify(state);
        outcome
    }

    /// Replaces what GET and LIST show, with no event and no new version: for what alone is not a change, such as
    /// ages, heartbeats and counters. Watchers see it with the next real change, or when it is published.
    pub fn amend(&self, object: Value) -> Result<AmendOutcome, PublishError> {
        self.amend_from(object, Revision::default())
    }

    /// Amends an object that shows a revision of what is stored. What is wanted is never amended: that is published.
    pub fn amend_from(&self, object: Value, revision: Revision) -> Result<AmendOutcome, PublishError> {
        let draft = self.draft(object)?;
        let mut state = self.write();
        match state.objects.get_mut(&draft.key) {
            Some(entry) if entry.shown.uid() == draft.uid => {
                if !draft.selects_like(&entry.shown) || !entry.wanted.is(&draft, &revision) {
                    return Ok(AmendOutcome::Published(self.publish_draft(&mut state, draft, revision)));
                }
                let version = entry.shown.version();
                entry.shown = Arc::new(draft.finish(version, EventKind::Modified).1);
                Ok(AmendOutcome::Amended(version))
            }
            _ => Ok(AmendOutcome::Absent),
        }
    }

    /// Removes an object. Watchers are sent its last state with the version of the removal, which is returned.
    pub fn withdraw(&self, key: &ObjectKey) -> Option<ResourceVersion> {
        let mut state = self.write();
        let version = self.remove(&mut state, key)?;
        self.notify(&state);
        Some(version)
    }

    /// Removes every object that is not among the given keys; returns how many.
    pub fn retain(&self, keep: impl Fn(&ObjectKey) -> bool) -> usize {
        let mut state = self.write();
        let gone: Vec<_> = state.objects.keys().filter(|key| !keep(key)).cloned().collect();
        for key in &gone {
            self.remove(&mut state, key);
        }
        self.notify(&state);
        gone.len()
    }

    /// One object.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<PublishedObject>> {
        self.read().objects.get(key).map(|entry| entry.shown.clone())
    }

    /// One object with the revision that it shows.
    pub(crate) fn wanted(&self, key: &ObjectKey) -> Option<Wanted> {
        let state = self.read();
        let entry = state.objects.get(key)?;
        let wanted::Shown { revision, since, .. } = entry.wanted.clone();
        Some(Wanted { object: entry.shown.clone(), revision, since })
    }

    /// An object as it would be shown under a version; nothing is published.
    pub(crate) fn preview(
        &self,
        object: Value,
        version: ResourceVersion,
    ) -> Result<PublishedObject, PublishError> {
        Ok(self.draft(object)?.finish(version, EventKind::Modified).1)
    }

    /// All objects, or those of one namespace.
    pub fn list(&self, namespace: Option<&str>) -> Snapshot {
        let state = self.read();
        let objects = match namespace {
            None => state.objects.values().map(|entry| entry.shown.clone()).collect(),
            Some(namespace) => state
                .objects
                .range(ObjectKey::namespaced(namespace, "")..)
                .take_while(|(key, _)| key.namespace.as_deref() == Some(namespace))
                .map(|(_, entry)| entry.shown.clone())
                .collect(),
        };
        Snapshot {
            version: self.clock.read(),
            objects,
            position: state.ring.end(),
            last_change: state.ring.last_version(),
        }
    }

    /// The one object of a name, or nothing.
    pub(crate) fn list_one(&self, key: &ObjectKey) -> Snapshot {
        let state = self.read();
        Snapshot {
            version: self.clock.read(),
            objects: state.objects.get(key).map(|entry| entry.shown.clone()).into_iter().collect(),
            position: state.ring.end(),
            last_change: state.ring.last_version(),
        }
    }

    /// How many objects are published.
    pub fn len(&self) -> usize {
        self.read().objects.len()
    }

    /// True when no object is published.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many events of a kind were sent since the start.
    pub fn events(&self, kind: EventKind) -> u64 {
        self.counters.get(kind as usize).map_or(0, |counter| counter.load(Ordering::Relaxed))
    }

    /// The clock that the versions come from.
    pub fn clock(&self) -> &Arc<VersionClock> {
        &self.clock
    }

    pub(crate) fn paths(&self) -> &CheckedPaths {
        &self.paths
    }

    /// Reports the end of the ring, whenever it moves.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Whether the process that issued a version is known to be gone.
    pub(crate) fn is_gone(&self, version: ResourceVersion) -> bool {
        self.clock.issuer(version) == Issuer::Gone
    }

    /// Where in the ring a watch starts that has seen everything up to a version.
    pub(crate) fn position_after(&self, version: ResourceVersion) -> Result<u64, Expired> {
        let state = self.read();
        match self.clock.issuer(version) {
            Issuer::Own => state.ring.position_after(version),
            Issuer::Other => state.ring.position_after(version.rewound(self.options.overlap)),
            // What that process had shown is not known, whatever its clock said.
            Issuer::Gone => Err(state.ring.expired()),
        }
    }

    /// The position after the newest event.
    pub(crate) fn end_position(&self) -> u64 {
        self.read().ring.end()
    }

    /// At most `limit` events from a position on.
    pub(crate) fn events_from(&self, position: u64, limit: usize) -> Result<Vec<Arc<Event>>, Expired> {
        self.read().ring.from(position, limit)
    }

    /// A version that says all that is to be said up to a position, if nothing follows it.
    pub(crate) fn version_at_end(&self, position: u64) -> Option<ResourceVersion> {
        let state = self.read();
        (state.ring.end() == position).then(|| self.clock.read())
    }

    fn announce(
        &self,
        state: &mut State,
        draft: Draft,
        revision: Revision,
        kind: EventKind,
        previous: Option<(Arc<PublishedObject>, wanted::Shown)>,
    ) -> ResourceVersion {
        let version = self.clock.next();
        let digest = draft.digest;
        let (previous, shown) = previous.unzip();
        let wanted = wanted::Shown::next(shown, &draft, revision, version);
        let (frame, object) = draft.finish(version, kind);
        let object = Arc::new(object);
        let previous = previous.filter(|previous| !previous.selects_like(&object));
        let entry = Entry { shown: object.clone(), announced: digest, wanted };
        state.objects.insert(object.key().clone(), entry);
        self.record(state, Event { kind, version, object, frame, previous });
        version
    }

    fn remove(&self, state: &mut State, key: &ObjectKey) -> Option<ResourceVersion> {
        let entry = state.objects.remove(key)?;
        let version = self.clock.next();
        let (frame, object) = entry.shown.reissued(version, EventKind::Deleted);
        let kind = EventKind::Deleted;
        self.record(state, Event { kind, version, object: Arc::new(object), frame, previous: None });
        Some(version)
    }

    fn record(&self, state: &mut State, event: Event) {
        if let Some(counter) = self.counters.get(event.kind as usize) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        state.ring.push(event);
    }

    fn notify(&self, state: &State) {
        self.changed.send_replace(state.ring.end());
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Collection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Collection")
            .field("api_version", &self.api_version)
            .field("plural", &self.definition.plural)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
