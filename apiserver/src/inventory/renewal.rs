//! Publishing an object anew although it means the same.
//!
//! Another replica believes a version if it knows how far this one had read when it issued it, and remembers that for the
//! newest changes of intent only. An object that was not published since would be in doubt for ever; so it gets a new version
//! when what speaks for the old one is forgotten. That is one event for each change of intent, at most.

use std::collections::BTreeMap;

use super::Inventory;
use crate::intent::{IntentKey, IntentRecord};
use crate::merge::Digests;

/// Intent that was applied and whose objects may still be shown at the versions that they got for it.
#[derive(Debug, Default)]
pub(super) struct Unsettled(BTreeMap<u64, IntentKey>);

impl Unsettled {
    /// A change was applied.
    pub(super) fn applied(&mut self, revision: u64, key: &IntentKey, record: Option<&IntentRecord>) {
        if record.is_some() {
            self.0.insert(revision, key.clone());
        }
    }

    /// What speaks for versions up to that revision is forgotten: the objects to renew.
    pub(super) fn forgotten(&mut self, through: u64) -> Vec<IntentKey> {
        let newer = self.0.split_off(&through.saturating_add(1));
        std::mem::replace(&mut self.0, newer).into_values().collect()
    }
}

impl Inventory {
    /// Has an object published with a new version, whatever it means.
    pub fn renew(&mut self, key: &IntentKey) {
        let digests = if key.kind == c5c3_api::eviction::KIND.kind {
            self.touched.evictions.insert(key.name.clone());
            self.shown.evictions.get_mut(&key.name).map(|(digests, _)| digests)
        } else {
            self.touched.hypervisors.insert(key.name.clone());
            self.shown.hypervisors.get_mut(&key.name).map(|(digests, _)| digests)
        };
        if let Some(digests) = digests {
            *digests = Digests { meaning: !digests.meaning, counters: !digests.counters };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Publication, Resource, Rules, Urgency};
    use super::*;
    use crate::configuration::{HostRules, Namespaces};
    use crate::merge::Incarnation;
    use crate::merge::tests::scene::at;

    /// Names and urgency of the Hypervisors that are published.
    fn published(inventory: &mut Inventory, second: i64) -> Vec<(String, Urgency)> {
        let list = inventory.publications(at(second)).into_iter();
        let shown = list.filter_map(|publication| match publication {
            Publication::Show { resource: Resource::Hypervisor, urgency, object, .. } => {
                Some((object["metadata"]["name"].as_str().unwrap().to_owned(), urgency))
            }
            _ => None,
        });
        shown.collect()
    }

    #[test]
    fn a_renewed_object_gets_a_version_although_it_means_the_same() {
        let mut inventory = Inventory::new(Rules {
            hosts: HostRules::default(),
            namespaces: Namespaces::default(),
            migrations_kept: Duration::from_secs(100),
            follow_nodes: false,
        });
        inventory.add_host("a", Incarnation { of: "a".to_owned(), created: at(10) });
        assert_eq!(published(&mut inventory, 1_000), [("a".to_owned(), Urgency::Change)]);
        let key = IntentKey::cluster("Hypervisor", "a");
        for second in [1_001, 1_002] {
            inventory.renew(&key);
            assert_eq!(published(&mut inventory, second), [("a".to_owned(), Urgency::Change)]);
        }
        inventory.touch_asked("a");
        assert_eq!(published(&mut inventory, 1_003), [("a".to_owned(), Urgency::Quiet)]);
        inventory.renew(&IntentKey::cluster("Hypervisor", "nobody"));
        assert_eq!(published(&mut inventory, 1_004), []);
    }

    #[test]
    fn what_is_forgotten_is_renewed_once() {
        let mut unsettled = Unsettled::default();
        let record = crate::merge::tests::scene::wish("Eviction", "a", serde_json::json!({}));
        for (revision, name) in [(3, "a"), (5, "b"), (9, "c")] {
            unsettled.applied(revision, &IntentKey::cluster("Eviction", name), Some(&record));
        }
        unsettled.applied(10, &IntentKey::cluster("Eviction", "d"), None);
        let names = |keys: Vec<IntentKey>| keys.into_iter().map(|key| key.name).collect::<Vec<_>>();
        assert_eq!(names(unsettled.forgotten(5)), ["a", "b"]);
        assert_eq!(names(unsettled.forgotten(5)), Vec::<String>::new());
        assert_eq!(names(unsettled.forgotten(20)), ["c"]);
    }
}
