//! The recent events of a collection, in order, each with a position that never repeats.
//!
//! Watches keep a position, not a queue: what the past costs is bounded once for all watches together.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::CollectionOptions;
use super::object::PublishedObject;
use crate::version::ResourceVersion;

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It is new.
    Added,
    /// It changed.
    Modified,
    /// It is gone.
    Deleted,
}

impl EventKind {
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Added => "{\"type\":\"ADDED\",\"object\":",
            Self::Modified => "{\"type\":\"MODIFIED\",\"object\":",
            Self::Deleted => "{\"type\":\"DELETED\",\"object\":",
        }
    }

    /// As in a watch event.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// One change of one object.
#[derive(Clone, Debug)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// When.
    pub version: ResourceVersion,
    /// The object after the change; for a deletion its last state under the deletion's version.
    pub object: Arc<PublishedObject>,
    /// The event as a line of a watch.
    pub(crate) frame: Bytes,
    /// The object before the change, if a selector can tell the two apart.
    pub(crate) previous: Option<Arc<PublishedObject>>,
}

/// The events that a watch asks for are no longer known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("events before version {oldest} are no longer known")]
pub struct Expired {
    /// The oldest version that a watch may start from.
    pub oldest: ResourceVersion,
}

#[derive(Debug)]
pub(super) struct Ring {
    events: VecDeque<Arc<Event>>,
    /// Position of the first event in `events`.
    start: u64,
    /// No event above this version has been dropped.
    floor: ResourceVersion,
    last: ResourceVersion,
    bytes: usize,
    retention: Duration,
    max_events: usize,
    max_bytes: usize,
}

impl Ring {
    pub(super) fn new(floor: ResourceVersion, options: &CollectionOptions) -> Self {
        Self {
            events: VecDeque::new(),
            start: 0,
            floor,
            last: floor,
            bytes: 0,
            retention: options.retention,
            max_events: options.max_events,
            max_bytes: options.max_event_bytes,
        }
    }

    pub(super) fn push(&mut self, event: Event) {
        self.last = event.version;
        self.bytes += event.frame.len();
        let old = event.version.rewound(self.retention);
        self.events.push_back(Arc::new(event));
        while self.events.len() > self.max_events
            || self.bytes > self.max_bytes
            || self.events.front().is_some_and(|event| event.version < old)
        {
            let Some(dropped) = self.events.pop_front() else { break };
            self.start += 1;
            self.bytes -= dropped.frame.len();
            self.floor = dropped.version;
        }
    }

    /// The position after the newest event.
    pub(super) fn end(&self) -> u64 {
        self.start + self.events.len() as u64
    }

    pub(super) fn last_version(&self) -> ResourceVersion {
        self.last
    }

    pub(super) fn expired(&self) -> Expired {
        Expired { oldest: self.floor }
    }

    pub(super) fn position_after(&self, version: ResourceVersion) -> Result<u64, Expired> {
        if version < self.floor {
            return Err(self.expired());
        }
        Ok(self.start + self.events.partition_point(|event| event.version <= version) as u64)
    }

    pub(super) fn from(&self, position: u64, limit: usize) -> Result<Vec<Arc<Event>>, Expired> {
        let Some(skip) = position.checked_sub(self.start) else {
            return Err(self.expired());
        };
        let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(self.events.len());
        Ok(self.events.range(skip..).take(limit).cloned().collect())
    }
}
