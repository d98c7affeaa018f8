//! The inventory itself: takes what came in, remembers which objects that touches, and computes them when asked.
//!
//! No I/O and no clock. Whoever drives it says what the time is.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::entry::HostEntry;
use super::shown::Shown;
use crate::configuration::{HostRules, Namespaces, Reach};
use crate::intent::IntentRecord;
use crate::merge::{CloudView, HostView, Incarnation};
use crate::sources::observation::Observation;
use crate::sources::picture::{ComputePicture, LibvirtPicture, MembershipPicture, NodePicture};
use crate::sources::report::{HostObserved, Report};
use c5c3_api::SourceState;

/// `virDomainState` of a running domain.
const RUNNING: i32 = 1;

/// How long after a migration the two hosts may still tell different stories of where the domain runs.
const SETTLING: SignedDuration = SignedDuration::from_secs(15);

/// What the inventory is told once.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Hosts and how to reach them.
    pub hosts: HostRules,
    /// Namespaces of namespaced kinds.
    pub namespaces: Namespaces,
    /// How long a migration is shown after it ended.
    pub migrations_kept: Duration,
    /// Whether hosts may have a Node.
    pub follow_nodes: bool,
}

/// All that is known.
#[derive(Debug)]
pub struct Inventory {
    pub(super) rules: Rules,
    pub(super) hosts: BTreeMap<String, HostEntry>,
    pub(super) compute: Observation<ComputePicture>,
    pub(super) memberships: Observation<MembershipPicture>,
    pub(super) intents: BTreeMap<String, IntentRecord>,
    pub(super) evictions: BTreeMap<String, IntentRecord>,
    pub(super) shown: Shown,
    pub(super) touched: Touched,
    /// Hosts by active domain: more than one is a migration, or trouble.
    active: BTreeMap<Uuid, BTreeSet<String>>,
    /// Not all Nodes have been heard yet: a host without one may still turn out to have one.
    awaiting_nodes: bool,
}

/// Objects to compute again.
#[derive(Debug, Default)]
pub(super) struct Touched {
    pub(super) hosts: BTreeSet<String>,
    pub(super) evictions: BTreeSet<String>,
    pub(super) migrations: BTreeSet<Uuid>,
    pub(super) gone: BTreeSet<String>,
}

impl Inventory {
    /// An empty inventory.
    pub fn new(rules: Rules) -> Self {
        Self {
            awaiting_nodes: rules.follow_nodes,
            rules,
            hosts: BTreeMap::new(),
            compute: Observation::disabled(),
            memberships: Observation::disabled(),
            intents: BTreeMap::new(),
            evictions: BTreeMap::new(),
            shown: Shown::default(),
            touched: Touched::default(),
            active: BTreeMap::new(),
        }
    }

    /// Names of all hosts, in order.
    pub fn host_names(&self) -> impl Iterator<Item = &str> {
        self.hosts.keys().map(String::as_str)
    }

    /// There is a cloud, though it has not been heard yet.
    pub fn expect_cloud(&mut self) {
        self.compute = Observation::default();
        self.memberships = Observation::default();
    }

    /// All Nodes have been heard: a host that has none by now has none.
    pub fn nodes_complete(&mut self) {
        self.awaiting_nodes = false;
        let without =
            self.hosts.iter_mut().filter(|(_, entry)| entry.node.state() == SourceState::Connecting);
        for (name, entry) in without {
            entry.node = Observation::disabled();
            self.touched.hosts.insert(name.clone());
        }
    }

    /// How a host is reached from now on: which of its sources are read at all.
    pub fn expect_sources(&mut self, name: &str, reach: &Reach) {
        if let Some(entry) = self.hosts.get_mut(name) {
            entry.expect(reach);
            self.touch_host(name);
        }
    }

    /// How many hosts have each source in each state.
    pub fn source_states(&self) -> BTreeMap<(&'static str, &'static str), i64> {
        use c5c3_api::source::name;
        let mut counts = BTreeMap::new();
        for entry in self.hosts.values() {
            let states = [
                (name::LIBVIRT, entry.libvirt.state()),
                (name::OVSDB, entry.switch.state()),
                (name::OPENFLOW, entry.flows.state()),
                (name::OVS_VSWITCHD, entry.daemons.state()),
                (name::NODE, entry.node.state()),
                (name::NOVA, self.compute.state()),
                (name::PLACEMENT, self.memberships.state()),
            ];
            for (source, state) in states {
                *counts.entry((source, state.as_str())).or_default() += 1;
            }
        }
        counts
    }

    /// Whether a host of that name is known.
    pub fn has_host(&self, name: &str) -> bool {
        self.hosts.contains_key(name)
    }

    /// Names of the hosts that the configuration lists.
    pub fn configured(&self) -> impl Iterator<Item = &str> {
        self.rules.hosts.known.keys().map(String::as_str)
    }

    /// Whether the configuration lists the host.
    pub fn is_configured(&self, name: &str) -> bool {
        self.rules.hosts.known.contains_key(name)
    }

    /// Whether the host has a Node, heard or not.
    pub fn has_node(&self, name: &str) -> bool {
        self.hosts.get(name).is_some_and(|entry| entry.node.value.is_some())
    }

    /// As whom a host exists that somebody has declared intent for.
    pub fn declared(&self, name: &str) -> Option<Incarnation> {
        let record = self.intents.get(name)?;
        Some(Incarnation { of: record.uid.to_string(), created: record.created })
    }

    /// Hosts that exist only because somebody declared intent for them, and are not known yet.
    pub fn declared_only(&self) -> Vec<(String, Incarnation)> {
        let unknown = self.intents.keys().filter(|name| !self.has_host(name));
        unknown.filter_map(|name| Some((name.clone(), self.declared(name)?))).collect()
    }

    /// Whether the configuration or somebody's intent wants the host.
    pub fn is_wanted_without_node(&self, name: &str) -> bool {
        self.is_configured(name) || self.intents.contains_key(name)
    }

    /// Whether anything wants the host: configuration, intent, or its Node.
    pub fn is_wanted(&self, name: &str) -> bool {
        self.has_node(name) || self.is_wanted_without_node(name)
    }

    /// Hosts whose Node is known.
    pub fn hosts_with_node(&self) -> Vec<String> {
        self.nodes().into_iter().map(|(name, _)| name).collect()
    }

    /// The known Nodes.
    pub fn nodes(&self) -> Vec<(String, Observation<NodePicture>)> {
        let known = self.hosts.iter().filter(|(_, entry)| entry.node.value.is_some());
        known.map(|(name, entry)| (name.clone(), entry.node.clone())).collect()
    }

    /// Names for which intent of a kind is known.
    pub fn intent_names(&self, kind: &str) -> Vec<String> {
        let records = if kind == c5c3_api::eviction::KIND.kind { &self.evictions } else { &self.intents };
        records.keys().cloned().collect()
    }

    /// How a host is reached, as far as its address is known.
    pub fn reach(&self, name: &str) -> Reach {
        let node = self.hosts.get(name).and_then(|entry| entry.node.value());
        self.rules.hosts.reach(name, node.and_then(|node| node.internal_ip.as_deref()))
    }

    /// Makes a host known, or gives it another incarnation.
    pub fn add_host(&mut self, name: &str, incarnation: Incarnation) {
        self.touched.gone.remove(name);
        self.touch_host(name);
        if let Some(entry) = self.hosts.get_mut(name) {
            entry.incarnation = incarnation;
            return;
        }
        let labels = self.rules.hosts.known.get(name).map(|host| host.labels.clone()).unwrap_or_default();
        let node = if self.awaiting_nodes { Observation::default() } else { Observation::disabled() };
        self.hosts.insert(name.to_owned(), HostEntry::new(incarnation, labels, node));
    }

    /// Forgets a host; its objects are withdrawn with the next publications.
    pub fn remove_host(&mut self, name: &str) {
        if let Some(entry) = self.hosts.remove(name) {
            let none = Observation::disabled();
            self.touch_domains(name, &entry.libvirt, &none);
            self.touched.hosts.remove(name);
            self.touched.gone.insert(name.to_owned());
            self.touch_evictions_of(name);
        }
    }

    /// Takes an observation. One about an unknown host is dropped: it comes from a task that is about to end.
    pub fn take(&mut self, report: Report) {
        match report {
            Report::Compute(observation) => {
                let moved =
                    observation.value() != self.compute.value() || observation.health != self.compute.health;
                self.compute = observation;
                if moved {
                    self.touch_all();
                }
            }
            Report::Membership(observation) => {
                let moved = observation.value() != self.memberships.value()
                    || observation.health != self.memberships.health;
                self.memberships = observation;
                if moved {
                    self.touch_all();
                }
            }
            Report::Host { host, observed } => self.take_host(&host, observed),
            // Answered by whoever publishes.
            Report::Asked(_) => {}
        }
    }

    fn take_host(&mut self, name: &str, observed: HostObserved) {
        let Some(entry) = self.hosts.get_mut(name) else { return };
        let before = entry.libvirt.clone();
        let is_libvirt = matches!(observed, HostObserved::Libvirt(_));
        entry.take(observed);
        let after = entry.libvirt.clone();
        if is_libvirt {
            self.touch_domains(name, &before, &after);
            self.touch_evictions_of(name);
        }
        self.touch_host(name);
    }

    /// Takes the wish for a host; `None`: there is no such wish any more.
    pub fn take_intent(&mut self, host: &str, record: Option<IntentRecord>) {
        match record {
            Some(record) => self.intents.insert(host.to_owned(), record),
            None => self.intents.remove(host),
        };
        self.touch_host(host);
    }

    /// Takes the wish for an eviction; `None`: there is no such wish any more.
    pub fn take_eviction(&mut self, name: &str, record: Option<IntentRecord>) {
        match record {
            Some(record) => self.evictions.insert(name.to_owned(), record),
            None => self.evictions.remove(name),
        };
        self.touched.evictions.insert(name.to_owned());
    }

    fn touch_host(&mut self, name: &str) {
        self.touched.hosts.insert(name.to_owned());
    }

    /// Has every object computed again.
    pub fn touch_all(&mut self) {
        self.touched.hosts.extend(self.hosts.keys().cloned());
        self.touched.evictions.extend(self.evictions.keys().cloned());
    }

    pub(super) fn touch_evictions_of(&mut self, host: &str) {
        let of_host = |record: &IntentRecord| {
            record.wish.spec.get("hypervisor").and_then(|name| name.as_str()) == Some(host)
        };
        let names = self.evictions.iter().filter(|(_, record)| of_host(record)).map(|(name, _)| name.clone());
        self.touched.evictions.extend(names);
    }

    /// Keeps the index of active domains and finds the migrations and other hosts that a new picture touches.
    fn touch_domains(
        &mut self,
        name: &str,
        before: &Observation<LibvirtPicture>,
        after: &Observation<LibvirtPicture>,
    ) {
        let active = |observation: &Observation<LibvirtPicture>| -> BTreeSet<Uuid> {
            let domains = observation.value().into_iter().flat_map(|picture| &picture.domains);
            domains.filter(|(_, domain)| domain.active).map(|(uuid, _)| *uuid).collect()
        };
        let (old, new) = (active(before), active(after));
        for uuid in old.symmetric_difference(&new) {
            let hosts = self.active.entry(*uuid).or_default();
            if new.contains(uuid) {
                hosts.insert(name.to_owned());
            } else {
                hosts.remove(name);
            }
            // The other hosts of a domain learn of it, and a finished migration of where its domain is now.
            let others: Vec<String> = hosts.iter().filter(|other| *other != name).cloned().collect();
            self.touched.hosts.extend(others);
            if self.shown.migrations.contains_key(uuid) {
                self.touched.migrations.insert(*uuid);
            }
        }
        self.active.retain(|_, hosts| !hosts.is_empty());
        let jobs = |observation: &Observation<LibvirtPicture>| {
            observation.value().map(|picture| picture.jobs.clone()).unwrap_or_default()
        };
        let (old, new) = (jobs(before), jobs(after));
        let changed = old.keys().chain(new.keys()).filter(|uuid| old.get(*uuid) != new.get(*uuid));
        self.touched.migrations.extend(changed);
    }

    /// Domains that run on `name` and on other hosts too, without a migration that explains it.
    ///
    /// Only hosts whose libvirt answers count: what one said before it fell silent proves nothing about now.
    pub(super) fn active_elsewhere(&self, name: &str, now: Timestamp) -> BTreeMap<Uuid, Vec<String>> {
        let Some(picture) = self.hosts.get(name).and_then(|entry| entry.libvirt.value()) else {
            return BTreeMap::new();
        };
        let mut found = BTreeMap::new();
        for uuid in picture.domains.keys() {
            let Some(hosts) = self.active.get(uuid).filter(|hosts| hosts.len() > 1) else { continue };
            if !self.runs(name, *uuid) || hosts.iter().any(|host| self.is_moving(host, *uuid, now)) {
                continue;
            }
            let others = hosts.iter().filter(|host| *host != name && self.runs(host, *uuid));
            let others: Vec<String> = others.cloned().collect();
            if !others.is_empty() {
                found.insert(*uuid, others);
            }
        }
        found
    }

    /// Whether a host that answers says that it runs the domain.
    fn runs(&self, host: &str, uuid: Uuid) -> bool {
        let Some(libvirt) = self.hosts.get(host).map(|entry| &entry.libvirt) else { return false };
        let domain = libvirt.value().filter(|_| libvirt.is_connected()).and_then(|it| it.domains.get(&uuid));
        domain.is_some_and(|domain| domain.active && domain.state == RUNNING)
    }

    /// Whether a host says that the domain is coming or going, or was a moment ago.
    fn is_moving(&self, host: &str, uuid: Uuid, now: Timestamp) -> bool {
        let libvirt = self.hosts.get(host).and_then(|entry| entry.libvirt.value());
        let job = libvirt.and_then(|libvirt| libvirt.jobs.get(&uuid));
        job.is_some_and(|job| job.ended.is_none_or(|ended| now.duration_since(ended) < SETTLING))
    }

    /// Has migrations that ended long ago looked at again, so that they go even when nothing else happens.
    pub fn touch_expired(&mut self, now: Timestamp) {
        let over = self
            .shown
            .migrations
            .iter()
            .filter(|(_, shown)| shown.ended.is_some_and(|ended| self.is_expired(ended, now)));
        let over: Vec<Uuid> = over.map(|(uuid, _)| *uuid).collect();
        self.touched.migrations.extend(over);
    }

    /// Whether a migration that ended then is not shown any more.
    pub(super) fn is_expired(&self, ended: Timestamp, now: Timestamp) -> bool {
        let kept = SignedDuration::try_from(self.rules.migrations_kept).unwrap_or(SignedDuration::MAX);
        now.duration_since(ended) >= kept
    }

    /// The host on which a domain runs, if there is exactly one.
    pub(super) fn runs_on(&self, uuid: Uuid) -> Option<&str> {
        let hosts = self.active.get(&uuid)?;
        if hosts.len() == 1 { hosts.first().map(String::as_str) } else { None }
    }

    /// What the merge looks at for one host.
    pub(super) fn host_view<'a>(
        &'a self,
        name: &'a str,
        active_elsewhere: &'a BTreeMap<Uuid, Vec<String>>,
        now: Timestamp,
    ) -> Option<HostView<'a>> {
        let entry = self.hosts.get(name)?;
        Some(HostView {
            name,
            nova_host: self.rules.hosts.nova_host(name),
            configured_labels: &entry.configured_labels,
            incarnation: &entry.incarnation,
            node: &entry.node,
            libvirt: &entry.libvirt,
            switch: &entry.switch,
            flows: &entry.flows,
            daemons: &entry.daemons,
            intent: self.intents.get(name),
            active_elsewhere,
            now,
        })
    }

    /// What the merge looks at for the cloud.
    pub(super) fn cloud_view(&self) -> CloudView<'_> {
        CloudView { compute: &self.compute, memberships: &self.memberships }
    }
}
