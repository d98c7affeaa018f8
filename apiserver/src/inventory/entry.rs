//! One host in the inventory: the last observation of each of its sources.

use std::collections::BTreeMap;

use crate::merge::Incarnation;
use crate::sources::observation::Observation;
use crate::sources::picture::{DaemonPicture, FlowPicture, LibvirtPicture, NodePicture, SwitchPicture};
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
}

impl HostEntry {
    /// A host of which nothing is known yet.
    pub(super) fn new(incarnation: Incarnation, configured_labels: BTreeMap<String, String>) -> Self {
        Self {
            incarnation,
            configured_labels,
            node: Observation::default(),
            libvirt: Observation::default(),
            switch: Observation::default(),
            flows: Observation::default(),
            daemons: Observation::default(),
        }
    }

    /// Takes an observation in the place of the earlier one.
    pub(super) fn take(&mut self, observed: HostObserved) {
        match observed {
            HostObserved::Libvirt(observation) => self.libvirt = observation,
            HostObserved::Switch(observation) => self.switch = observation,
            HostObserved::Flows(observation) => self.flows = observation,
            HostObserved::Daemons(observation) => self.daemons = observation,
            HostObserved::Node(observation) => self.node = observation,
        }
    }
}
