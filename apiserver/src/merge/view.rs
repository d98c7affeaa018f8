//! What the merge looks at: everything known about one host at one moment, borrowed.

use std::collections::BTreeMap;

use c5c3_api::labels;
use jiff::Timestamp;
use uuid::Uuid;

use super::identity::Incarnation;
use crate::intent::IntentRecord;
use crate::sources::observation::Observation;
use crate::sources::picture::{
    ComputePicture, DaemonPicture, FlowPicture, LibvirtPicture, MembershipPicture, NodePicture,
    ServersPicture, SwitchPicture,
};

/// Everything known about one host.
#[derive(Debug, Clone, Copy)]
pub struct HostView<'a> {
    /// Name of the host, which is the name of its Node.
    pub name: &'a str,
    /// Host name of its nova-compute service.
    pub nova_host: &'a str,
    /// Labels given by the configuration, for a host without a Node.
    pub configured_labels: &'a BTreeMap<String, String>,
    /// Since when, and as whom, the host exists.
    pub incarnation: &'a Incarnation,
    /// Its Node.
    pub node: &'a Observation<NodePicture>,
    /// Its libvirtd.
    pub libvirt: &'a Observation<LibvirtPicture>,
    /// Its ovsdb-server.
    pub switch: &'a Observation<SwitchPicture>,
    /// Its bridges' flows.
    pub flows: &'a Observation<FlowPicture>,
    /// Its Open vSwitch and OVN daemons.
    pub daemons: &'a Observation<DaemonPicture>,
    /// Nova's servers on it, where they do not fit.
    pub servers: &'a Observation<ServersPicture>,
    /// What people want of it.
    pub intent: Option<&'a IntentRecord>,
    /// Whether hosts have Nodes at all, and all of them have been heard.
    pub nodes_known: bool,
    /// Other hosts on which a domain that is active here is active too.
    pub active_elsewhere: &'a BTreeMap<Uuid, Vec<String>>,
    /// The moment.
    pub now: Timestamp,
}

impl HostView<'_> {
    /// Labels that a Hypervisor takes from its Node or from the configuration, and an Eviction from its Hypervisor.
    pub(super) fn transferred_labels(&self) -> BTreeMap<String, String> {
        let told = self.node.value().map_or(self.configured_labels, |node| &node.labels);
        let kept = labels::TRANSFERRED.iter().filter_map(|key| told.get_key_value(*key));
        kept.map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

/// Everything known about the cloud.
#[derive(Debug, Clone, Copy)]
pub struct CloudView<'a> {
    /// Compute services and hypervisors.
    pub compute: &'a Observation<ComputePicture>,
    /// Aggregates and traits.
    pub memberships: &'a Observation<MembershipPicture>,
}
