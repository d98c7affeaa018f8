//! Computes what was touched and decides who is told: the step from knowledge to publications.

use std::collections::BTreeMap;

use aggregated_apiserver::Revision;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::publication::{Publication, Resource, Urgency};
use super::shown::{ShownMigration, remembered, remembered_switch};
use super::state::Inventory;
use super::touched::Touch;
use crate::intent::IntentRecord;
use crate::merge::{self, Digests, EarlierMigration, MigrationEnd};

/// How a publication is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// Only what means something new wakes a watcher.
    Meaning,
    /// Counters that moved do too.
    Counters,
}

impl Inventory {
    /// What the world shall see after all that was taken since the last call.
    pub fn publications(&mut self, now: Timestamp) -> Vec<Publication> {
        let mut list = Vec::new();
        while self.has_news() || self.has_patient_news() {
            list.extend(self.next_publications(usize::MAX, now));
            list.extend(self.patient_publications(now));
        }
        list
    }

    /// Whether there is something to publish at once.
    pub fn has_news(&self) -> bool {
        self.touched.is_urgent()
    }

    /// Whether there is something to publish when nothing else is.
    pub fn has_patient_news(&self) -> bool {
        self.touched.is_patient()
    }

    /// One thing that could wait.
    pub fn patient_publications(&mut self, now: Timestamp) -> Vec<Publication> {
        let next = self.touched.pop_patient();
        next.map(|next| self.publications_of(next, now)).unwrap_or_default()
    }

    /// Some of what the world shall see: of that many objects at most, so that nobody has to wait for all of them.
    pub fn next_publications(&mut self, objects: usize, now: Timestamp) -> Vec<Publication> {
        let mut list = Vec::new();
        for _ in 0..objects {
            let Some(next) = self.touched.pop() else { break };
            list.extend(self.publications_of(next, now));
        }
        list
    }

    fn publications_of(&mut self, touch: Touch, now: Timestamp) -> Vec<Publication> {
        let one = match touch {
            Touch::Gone(name) => return self.withdraw_host(&name),
            Touch::Due(name) => return self.slow_publications(&name, now),
            Touch::Hypervisor(name) => self.hypervisor_object(&name, Pace::Meaning, now),
            Touch::Switch(name) => self.switch_object(&name, Pace::Meaning, now),
            Touch::Eviction(name) => self.eviction_object(&name, now),
            Touch::Migration(uuid) => self.migration_object(uuid, now),
        };
        Vec::from_iter(one)
    }

    /// The objects of one host, with counters that moved made known, and the ages of its evictions.
    pub fn slow_publications(&mut self, host: &str, now: Timestamp) -> Vec<Publication> {
        self.touch_evictions_of(host);
        let hypervisor = self.hypervisor_object(host, Pace::Counters, now);
        hypervisor.into_iter().chain(self.switch_object(host, Pace::Counters, now)).collect()
    }

    fn hypervisor_object(&mut self, name: &str, pace: Pace, now: Timestamp) -> Option<Publication> {
        let elsewhere = self.active_elsewhere(name, now);
        let view = self.host_view(name, &elsewhere, now)?;
        let earlier = self.shown.hypervisors.get(name);
        let hypervisor = merge::hypervisor(&view, &self.cloud_view(), earlier.map(|(_, status)| status));
        let digests = earlier.map(|(digests, _)| *digests);
        let (publication, digests) =
            show(Resource::Hypervisor, &hypervisor, revision(self.intents.get(name)), digests, pace)?;
        let status = hypervisor.status.as_ref().map(remembered).unwrap_or_default();
        self.shown.hypervisors.insert(name.to_owned(), (digests, status));
        Some(publication)
    }

    fn switch_object(&mut self, name: &str, pace: Pace, now: Timestamp) -> Option<Publication> {
        let elsewhere = BTreeMap::new();
        let view = self.host_view(name, &elsewhere, now)?;
        let earlier = self.shown.ovs_nodes.get(name);
        let namespace = &self.rules.namespaces.ovs_nodes;
        let ovs_node = merge::ovs_node(&view, namespace, earlier.map(|(_, status)| status));
        let digests = earlier.map(|(digests, _)| *digests);
        let (publication, digests) = show(Resource::OvsNode, &ovs_node, Revision::default(), digests, pace)?;
        let status = ovs_node.status.as_ref().map(remembered_switch).unwrap_or_default();
        self.shown.ovs_nodes.insert(name.to_owned(), (digests, status));
        Some(publication)
    }

    fn withdraw_host(&mut self, name: &str) -> Vec<Publication> {
        let mut list = Vec::new();
        if self.shown.hypervisors.remove(name).is_some() {
            list.push(withdraw(Resource::Hypervisor, None, name));
        }
        if self.shown.ovs_nodes.remove(name).is_some() {
            list.push(withdraw(Resource::OvsNode, Some(&self.rules.namespaces.ovs_nodes), name));
        }
        list
    }

    fn eviction_object(&mut self, name: &str, now: Timestamp) -> Option<Publication> {
        let Some(record) = self.evictions.get(name) else {
            self.shown.evictions.remove(name)?;
            return Some(withdraw(Resource::Eviction, None, name));
        };
        let host = record.spec().get("hypervisor").and_then(Value::as_str).unwrap_or_default();
        let elsewhere = BTreeMap::new();
        let view = self.host_view(host, &elsewhere, now);
        let earlier = self.shown.evictions.get(name);
        let cloud = self.cloud_view();
        let eviction = merge::eviction(record, view.as_ref(), &cloud, earlier.map(|(_, status)| status), now);
        let digests = earlier.map(|(digests, _)| *digests);
        let (publication, digests) =
            show(Resource::Eviction, &eviction, revision(Some(record)), digests, Pace::Meaning)?;
        self.shown.evictions.insert(name.to_owned(), (digests, eviction.status.unwrap_or_default()));
        Some(publication)
    }

    fn migration_object(&mut self, uuid: Uuid, now: Timestamp) -> Option<Publication> {
        let namespace = &self.rules.namespaces.migrations;
        let ends = self.hosts.iter().filter_map(|(host, entry)| {
            let job = entry.libvirt.value()?.jobs.get(&uuid)?;
            Some(MigrationEnd { host, job })
        });
        let ends: Vec<MigrationEnd<'_>> = ends.collect();
        // All ends are shown until the last of them is over: one that went first would look like another migration.
        let ended = ends.iter().map(|end| end.job.ended).collect::<Option<Vec<_>>>();
        let ended = ended.and_then(|ended| ended.into_iter().max());
        let expired = ended.is_some_and(|ended| self.is_expired(ended, now));
        let earlier = self.shown.migrations.get(&uuid);
        let active_on: Vec<&str> = self.active.hosts(uuid).map(AsRef::as_ref).collect();
        let known = earlier.map(|shown| &shown.earlier);
        let migration = merge::migration(uuid, namespace, &ends, &active_on, known);
        let Some(migration) = migration.filter(|_| !expired) else {
            let withdrawal = withdraw(Resource::Migration, Some(namespace), &uuid.to_string());
            return self.shown.migrations.remove(&uuid).map(|_| withdrawal);
        };
        let digests = earlier.map(|shown| shown.digests);
        let (publication, digests) =
            show(Resource::Migration, &migration, Revision::default(), digests, Pace::Meaning)?;
        let status = migration.status.as_ref();
        let earlier = EarlierMigration {
            began: status.map_or(now, |status| status.started.0),
            origin: status.and_then(|status| status.origin.clone()),
            destination: status.and_then(|status| status.destination.clone()),
        };
        self.shown.migrations.insert(uuid, ShownMigration { digests, earlier, ended });
        Some(publication)
    }
}

/// The object as a publication, with the digests to compare the next one with. A quiet one keeps the digests that
/// watchers know.
fn show(
    resource: Resource,
    object: &impl Serialize,
    revision: Revision,
    earlier: Option<Digests>,
    pace: Pace,
) -> Option<(Publication, Digests)> {
    let object = match serde_json::to_value(object) {
        Ok(object) => object,
        Err(error) => {
            // Our own types always serialise; should one not, the object keeps its last state and the log says why.
            tracing::error!(?resource, %error, "object could not be serialised");
            return None;
        }
    };
    let digests = Digests::of(&object);
    let (urgency, known) = match (earlier, pace) {
        (Some(earlier), Pace::Meaning) if earlier.meaning == digests.meaning => (Urgency::Quiet, earlier),
        (Some(earlier), Pace::Counters) if earlier == digests => (Urgency::Quiet, earlier),
        _ => (Urgency::Change, digests),
    };
    Some((Publication::Show { resource, urgency, object, revision }, known))
}

/// What is stored, as the write path compares it.
fn revision(record: Option<&IntentRecord>) -> Revision {
    record.map(|record| Revision::new(record.version.as_str())).unwrap_or_default()
}

fn withdraw(resource: Resource, namespace: Option<&str>, name: &str) -> Publication {
    Publication::Withdraw { resource, namespace: namespace.map(str::to_owned), name: name.to_owned() }
}
