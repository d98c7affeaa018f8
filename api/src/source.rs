//! Where a status comes from, and whether that source still answers.
//!
//! Status is computed from several daemons. Each object lists them, so that a reader at night sees at once which part
//! of what is printed is current, which is kept from earlier, and what the daemon that fell silent last said.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::ConditionStatus;

/// The names that sources have in `status.sources[]`.
pub mod name {
    /// libvirt of the host.
    pub const LIBVIRT: &str = "libvirt";
    /// The Open vSwitch database of the host.
    pub const OVSDB: &str = "ovsdb";
    /// The OpenFlow management connections of the host's bridges.
    pub const OPENFLOW: &str = "openflow";
    /// ovn-controller's control socket.
    pub const OVN_CONTROLLER: &str = "ovn-controller";
    /// ovs-vswitchd's control socket.
    pub const OVS_VSWITCHD: &str = "ovs-vswitchd";
    /// The Nova API.
    pub const NOVA: &str = "nova";
    /// The Placement API.
    pub const PLACEMENT: &str = "placement";
    /// The Kubernetes Node of the host.
    pub const NODE: &str = "node";
    /// What somebody declared: the store of specs.
    pub const INTENT: &str = "intent";
}

/// A source that this status was computed from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceStatus {
    /// The source: `libvirt`, `ovsdb`, `openflow`, `ovn-controller`, `ovs-vswitchd`, `nova`, `placement`, `node` or
    /// `intent`.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Whether it answers.
    pub state: SourceState,
    /// When it last said what this status shows. Absent while it has never answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_at: Option<Time>,
    /// What went wrong, or how far it has come, as a sentence for people. Absent when all is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Whether a source answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum SourceState {
    /// It answers; its values are current.
    Connected,
    /// The first connection is being made; its values are absent.
    Connecting,
    /// It is connected but has not answered within its deadline; its values are the last known ones.
    Stale,
    /// It cannot be reached; its values are the last known ones.
    Unreachable,
    /// It refuses our credentials or certificate; its values are the last known ones.
    Denied,
    /// It is not configured for this object; its values are absent.
    Disabled,
}

impl SourceState {
    /// The state as a word, as it is written in JSON and given as the reason of a condition.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connected => "Connected",
            Self::Connecting => "Connecting",
            Self::Stale => "Stale",
            Self::Unreachable => "Unreachable",
            Self::Denied => "Denied",
            Self::Disabled => "Disabled",
        }
    }

    /// The status of a condition such as `LibvirtConnected`; its reason is [`SourceState::as_str`].
    ///
    /// ```
    /// use c5c3_api::{ConditionStatus, SourceState};
    /// assert_eq!(SourceState::Unreachable.condition(), ConditionStatus::False);
    /// assert_eq!(SourceState::Stale.condition(), ConditionStatus::Unknown);
    /// ```
    #[must_use]
    pub const fn condition(self) -> ConditionStatus {
        match self {
            Self::Connected => ConditionStatus::True,
            Self::Unreachable | Self::Denied => ConditionStatus::False,
            Self::Connecting | Self::Stale | Self::Disabled => ConditionStatus::Unknown,
        }
    }
}
