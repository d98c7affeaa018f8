//! All intent in memory, as far as it is stored for good, and everybody who follows it.
//!
//! One writer per store keeps it. Readers never wait for a disk or a cluster, and see what was stored last while either is
//! away. Whoever follows is told each change in the order of the writes.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use tokio::sync::broadcast;

use super::{IntentChange, IntentChanges, IntentKey, IntentRecord, IntentSnapshot};

/// Changes that a slow follower may be behind.
const CHANGES_KEPT: usize = 1024;

/// All that is stored.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) records: BTreeMap<IntentKey, IntentRecord>,
    /// The last write that is in it.
    pub(super) revision: u64,
}

/// What is known to be stored.
#[derive(Debug)]
pub(super) struct Known {
    contents: RwLock<Contents>,
    changes: broadcast::Sender<IntentChange>,
}

impl Known {
    pub(super) fn new(contents: Contents) -> Self {
        Self { contents: RwLock::new(contents), changes: broadcast::Sender::new(CHANGES_KEPT) }
    }

    pub(super) fn read<T>(&self, look: impl FnOnce(&Contents) -> T) -> T {
        look(&self.contents.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn get(&self, key: &IntentKey) -> Option<IntentRecord> {
        self.read(|contents| contents.records.get(key).cloned())
    }

    pub(super) fn revision(&self) -> u64 {
        self.read(|contents| contents.revision)
    }

    pub(super) fn snapshot(&self) -> IntentSnapshot {
        self.read(|contents| IntentSnapshot {
            records: contents.records.values().cloned().collect(),
            through: contents.revision,
        })
    }

    pub(super) fn follow(&self) -> IntentChanges {
        self.changes.subscribe()
    }

    /// Takes one write, and tells it.
    pub(super) fn tell(&self, key: &IntentKey, record: Option<IntentRecord>, revision: u64) {
        {
            let mut contents = self.contents.write().unwrap_or_else(PoisonError::into_inner);
            match record.clone() {
                Some(record) => contents.records.insert(key.clone(), record),
                None => contents.records.remove(key),
            };
            contents.revision = revision;
        }
        // Nobody following is no error.
        let _ = self.changes.send(IntentChange { key: key.clone(), record, revision });
    }

    /// Takes all that is stored now, and tells what is different from what was known.
    pub(super) fn replace(&self, now: &Contents) {
        let before = self.read(|contents| contents.records.clone());
        let mut news: Vec<(u64, IntentKey)> = before
            .keys()
            .chain(now.records.keys().filter(|key| !before.contains_key(*key)))
            .filter(|key| before.get(key) != now.records.get(key))
            .map(|key| {
                let written = now.records.get(key).and_then(|record| record.version.revision());
                (written.unwrap_or(now.revision), key.clone())
            })
            .collect();
        news.sort();
        for (revision, key) in news {
            self.tell(&key, now.records.get(&key).cloned(), revision);
        }
        self.reached(now.revision);
    }

    /// Nothing has been written up to there but what was told.
    pub(super) fn reached(&self, revision: u64) {
        let mut contents = self.contents.write().unwrap_or_else(PoisonError::into_inner);
        contents.revision = contents.revision.max(revision);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{StoreVersion, declaration};
    use super::*;

    fn record(name: &str, revision: u64) -> IntentRecord {
        let key = IntentKey::cluster("Eviction", name);
        let object = declaration(&key, &json!({}));
        IntentRecord { key, version: StoreVersion::of(revision), object }
    }

    fn contents(records: &[IntentRecord], revision: u64) -> Contents {
        let records = records.iter().map(|record| (record.key.clone(), record.clone())).collect();
        Contents { records, revision }
    }

    #[test]
    fn what_happened_while_nobody_looked_is_told_in_order_and_once() {
        let (a, b, c) = (record("a", 3), record("b", 5), record("c", 4));
        let known = Known::new(contents(&[a.clone(), c.clone()], 5));
        let mut changes = known.follow();
        let a_again = record("a", 9);
        known.replace(&contents(&[a_again.clone(), b.clone()], 12));
        let mut told = Vec::new();
        while let Ok(change) = changes.try_recv() {
            told.push((change.revision, change.key.name, change.record));
        }
        let expected = [(5, "b", Some(b)), (9, "a", Some(a_again)), (12, "c", None)];
        assert_eq!(told, expected.map(|(revision, name, record)| (revision, name.to_owned(), record)));
        assert_eq!(known.revision(), 12);
        known.replace(&contents(&known.snapshot().records, 12));
        assert!(changes.try_recv().is_err(), "nothing new");
    }
}
