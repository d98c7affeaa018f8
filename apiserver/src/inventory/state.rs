//! The inventory itself: takes what came in, remembers which objects that touches, and computes them when asked.
//!
//! No I/O and no clock. Whoever drives it says what the time is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use super::entry::HostEntry;
use super::shown::Shown;
use super::touched::Touched;
use super::whereabouts::Whereabouts;
use crate::configuration::{HostRules, Namespaces, Reach};
use crate::intent::IntentRecord;
use crate::merge::{CloudView, HostView, Incarnation};
use crate::sources::observation::Observation;
use crate::sources::picture::{
    ComputePicture, LibvirtPicture, MembershipPicture, NodePicture, SwitchPicture,
};
use crate::sources::report::{HostObserved, Report};
use c5c3_api::SourceState;

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
    /// Hosts by active domain.
    pub(super) active: Whereabouts,
    /// Not all Nodes have been heard yet: a host without one may still turn out to have one.
    awaiting_nodes: bool,
}

/// What kind of thing an observation tells of.
#[derive(Debug, Clone, Copy)]
enum Said {
    Domains,
    Database,
    Daemons,
    Node,
    Servers,
}

impl Said {
    fn of(observed: &HostObserved) -> Self {
        match observed {
            HostObserved::Libvirt(_) => Self::Domains,
            HostObserved::Switch(_) => Self::Database,
            HostObserved::Flows(_) | HostObserved::Daemons(_) => Self::Daemons,
            HostObserved::Node(_) => Self::Node,
            HostObserved::Servers(_) => Self::Servers,
        }
    }
}

fn same_domains(before: Option<&LibvirtPicture>, after: Option<&LibvirtPicture>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => {
            Arc::ptr_eq(&before.domains, &after.domains) || before.domains.keys().eq(after.domains.keys())
        }
        (before, after) => before.is_none() && after.is_none(),
    }
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
            active: Whereabouts::default(),
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
            self.touched.hypervisors.insert(name.clone());
            self.touched.switches.insert(name.clone());
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

    /// Age in seconds of the oldest value of each source, over the hosts of which it answers.
    pub fn oldest(&self, now: Timestamp) -> BTreeMap<&'static str, f64> {
        use c5c3_api::source::name;
        let mut oldest: BTreeMap<&'static str, f64> = BTreeMap::new();
        let mut note = |source, read: Option<Timestamp>, answers: bool| {
            if let Some(read) = read.filter(|_| answers) {
                let age = now.duration_since(read).as_secs_f64().max(0.0);
                let known = oldest.entry(source).or_default();
                *known = known.max(age);
            }
        };
        for entry in self.hosts.values() {
            note(name::LIBVIRT, entry.libvirt.observed_at, entry.libvirt.is_connected());
            note(name::OVSDB, entry.switch.observed_at, entry.switch.is_connected());
            note(name::OPENFLOW, entry.flows.observed_at, entry.flows.is_connected());
            note(name::OVS_VSWITCHD, entry.daemons.observed_at, entry.daemons.is_connected());
        }
        note(name::NOVA, self.compute.observed_at, self.compute.is_connected());
        note(name::PLACEMENT, self.memberships.observed_at, self.memberships.is_connected());
        oldest
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
        let record = self.intents.get(name).filter(|record| record.is_declaration())?;
        Some(Incarnation::of_record(record))
    }

    /// Hosts that exist only because somebody declared intent for them, and are not known yet.
    pub fn declared_only(&self) -> Vec<(String, Incarnation)> {
        let unknown = self.intents.keys().filter(|name| !self.has_host(name));
        unknown.filter_map(|name| Some((name.clone(), self.declared(name)?))).collect()
    }

    /// Whether the configuration or somebody's intent wants the host.
    pub fn is_wanted_without_node(&self, name: &str) -> bool {
        self.is_configured(name) || self.declared(name).is_some()
    }

    /// What is stored under a host's name that wants nothing of it, and only said who its Hypervisor was.
    pub fn leftover(&self, name: &str) -> Option<&IntentRecord> {
        self.intents.get(name).filter(|record| !record.is_declaration())
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
            self.touched.hypervisors.remove(name);
            self.touched.switches.remove(name);
            self.touched.by_cloud.remove(name);
            self.touched.due.remove(name);
            self.touched.gone.insert(name.to_owned());
            self.touch_evictions_of(name);
        }
    }

    /// Takes an observation. One about an unknown host is dropped: it comes from a task that is about to end.
    /// Says whether it may have changed what is shown.
    pub fn take(&mut self, report: Report) -> bool {
        match report {
            Report::Compute(observation) => {
                let before = std::mem::replace(&mut self.compute, observation);
                self.touch_by_compute(&before);
                true
            }
            Report::Membership(observation) => {
                let before = std::mem::replace(&mut self.memberships, observation);
                self.touch_by_memberships(&before);
                true
            }
            Report::Host { host, observed } => self.take_host(&host, observed),
            // Answered by whoever publishes.
            Report::Asked { .. } => false,
        }
    }

    fn take_host(&mut self, name: &str, observed: HostObserved) -> bool {
        let Some(entry) = self.hosts.get_mut(name) else { return false };
        let said = Said::of(&observed);
        let (libvirt, switch) = (entry.libvirt.clone(), entry.switch.clone());
        if !entry.take(observed) {
            // Read again and the same: only its age is another one, which the slow tick shows.
            return false;
        }
        match said {
            Said::Domains => {
                let after = entry.libvirt.clone();
                self.touch_domains(name, &libvirt, &after);
                self.touch_evictions_of(name);
                self.touched.hypervisors.insert(name.to_owned());
                // Which ports are orphans depends on which domains there are.
                if libvirt.health != after.health || !same_domains(libvirt.value(), after.value()) {
                    self.touched.switches.insert(name.to_owned());
                }
            }
            Said::Database => {
                let after = &entry.switch;
                let hostname = |switch: &Observation<SwitchPicture>| {
                    switch.value().and_then(|switch| switch.external_id("hostname")).map(str::to_owned)
                };
                if switch.health != after.health || hostname(&switch) != hostname(after) {
                    self.touched.hypervisors.insert(name.to_owned());
                }
                self.touched.switches.insert(name.to_owned());
            }
            // What only the daemons and the flow tables say is said of the switch alone.
            Said::Daemons => {
                self.touched.switches.insert(name.to_owned());
            }
            Said::Node => self.touch_host(name),
            Said::Servers => drop(self.touched.hypervisors.insert(name.to_owned())),
        }
        true
    }

    /// Has the ages of a host shown as they are: somebody asked for it.
    pub fn touch_asked(&mut self, name: &str) {
        if self.has_host(name) {
            self.touch_host(name);
        }
    }

    /// Has counters and ages of a host shown when nothing else is to be done.
    pub fn touch_due(&mut self, name: &str) {
        self.touched.due.insert(name.to_owned());
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
        self.touched.hypervisors.insert(name.to_owned());
        self.touched.switches.insert(name.to_owned());
    }

    /// Has every object that the cloud tells something of computed again.
    pub fn touch_all(&mut self) {
        self.touched.by_cloud.extend(self.hosts.keys().cloned());
        self.touched.evictions.extend(self.evictions.keys().cloned());
    }

    pub(super) fn touch_evictions_of(&mut self, host: &str) {
        let of_host = |record: &IntentRecord| {
            record.spec().get("hypervisor").and_then(|name| name.as_str()) == Some(host)
        };
        let names = self.evictions.iter().filter(|(_, record)| of_host(record)).map(|(name, _)| name.clone());
        self.touched.evictions.extend(names);
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
            servers: &entry.servers,
            intent: self.intents.get(name),
            nodes_known: self.rules.follow_nodes && !self.awaiting_nodes,
            active_elsewhere,
            now,
        })
    }

    /// What the merge looks at for the cloud.
    pub(super) fn cloud_view(&self) -> CloudView<'_> {
        CloudView { compute: &self.compute, memberships: &self.memberships }
    }
}
