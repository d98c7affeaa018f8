//! One host in the inventory: the last observation of each of its sources.

use std::collections::BTreeMap;

use crate::configuration::Reach;
use crate::merge::Incarnation;
use crate::sources::observation::Observation;
use crate::sources::picture::{
    DaemonPicture, FlowPicture, LibvirtPicture, NodePicture, ServersPicture, SwitchPicture,
};
use crate::sources::report::HostObserved;

/// The last observations of one host.
#[derive(Debug)]
pub(super) struct HostEntry {
    pub(super) incarnation: Incarnation,
    pub(super) configured_labels: BTreeMap<String, String>,
    pub(super) node: Observation<NodePicture>,
    pub(super) libvirt: Observation<LibvirtPicture>,
    pub(super) switch: Observation<SwitchPicture>,
    pub(super) flows: Observation<FlowPicture>,
    pub(super) daemons: Observation<DaemonPicture>,
    pub(super) servers: Observation<ServersPicture>,
}

impl HostEntry {
    /// A host of which nothing is known yet.
    pub(super) fn new(
        incarnation: Incarnation,
        configured_labels: BTreeMap<String, String>,
        node: Observation<NodePicture>,
    ) -> Self {
        Self {
            incarnation,
            configured_labels,
            node,
            libvirt: Observation::default(),
            switch: Observation::default(),
            flows: Observation::default(),
            daemons: Observation::default(),
            servers: Observation::default(),
        }
    }

    /// Takes an observation in the place of the earlier one; `false` when it says nothing new. A failure without a value
    /// keeps the value that is known: it comes from a task that was started anew.
    pub(super) fn take(&mut self, observed: HostObserved) -> bool {
        match observed {
            HostObserved::Libvirt(observation) => replace(&mut self.libvirt, observation),
            HostObserved::Switch(observation) => replace(&mut self.switch, observation),
            HostObserved::Flows(observation) => replace(&mut self.flows, observation),
            HostObserved::Daemons(observation) => replace(&mut self.daemons, observation),
            HostObserved::Servers(observation) => replace(&mut self.servers, observation),
            HostObserved::Node(observation) => {
                self.node = observation;
                true
            }
        }
    }

    /// Sources that are not read are disabled; those that were, and shall be read now, are being connected to.
    pub(super) fn expect(&mut self, reach: &Reach) {
        self.libvirt = self.libvirt.expected(reach.libvirt.is_some());
        self.switch = self.switch.expected(reach.ovsdb.is_some());
        self.flows = self.flows.expected(reach.openvswitch_run.is_some());
        self.daemons = self.daemons.expected(reach.openvswitch_run.is_some());
    }
}

fn replace<T>(known: &mut Observation<T>, next: Observation<T>) -> bool {
    let next = next.or_value_of(known);
    let news = !next.says_the_same(known);
    *known = next;
    news
}
