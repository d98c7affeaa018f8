//! The condition types and reasons of an OVSNode.
//!
//! The architecture names the types and no reasons; the reasons are chosen here so that each names the part to look at.

use super::types::{ConditionType, SOURCE_REASONS, no, unknown, yes};

/// The network of the host works, as far as the host itself can tell.
pub const READY: &str = "Ready";
/// The Open vSwitch database of the host answers.
pub const OVSDB_CONNECTED: &str = "OVSDBConnected";
/// ovn-controller is connected to the OVN southbound database.
pub const OVN_CONTROLLER_CONNECTED: &str = "OVNControllerConnected";
/// Every bridge that is configured exists in the switch.
pub const ALL_BRIDGES_HEALTHY: &str = "AllBridgesHealthy";
/// Every bond has all its members.
pub const ALL_BONDS_HEALTHY: &str = "AllBondsHealthy";

/// The reasons that these conditions give.
pub mod reason {
    /// Nothing is wrong.
    pub const READY: &str = "Ready";
    /// The database does not answer.
    pub const OVSDB_NOT_CONNECTED: &str = "OVSDBNotConnected";
    /// ovn-controller is not connected.
    pub const OVN_CONTROLLER_NOT_CONNECTED: &str = "OVNControllerNotConnected";
    /// A bridge is configured but not there.
    pub const BRIDGE_INACTIVE: &str = "BridgeInactive";
    /// A bond has lost some of its members.
    pub const BOND_DEGRADED: &str = "BondDegraded";
    /// A bond has lost all of its members.
    pub const BOND_DOWN: &str = "BondDown";
    /// There is no bond.
    pub const NO_BONDS: &str = "NoBonds";
    /// All are well.
    pub const HEALTHY: &str = "Healthy";
    /// It is connected.
    pub const CONNECTED: &str = "Connected";
    /// It is not connected.
    pub const NOT_CONNECTED: &str = "NotConnected";
    /// No OVN is configured on this host.
    pub const NOT_CONFIGURED: &str = "NotConfigured";
    /// The source has not said yet.
    pub const NOT_OBSERVED: &str = "NotObserved";
}

/// Every condition type of an OVSNode, for the reference page.
pub const CONDITIONS: &[ConditionType] = &[
    ConditionType {
        name: READY,
        meaning: "the network of the host works, as far as the host itself can tell",
        source: "the other conditions, tried in this order",
        reasons: &[
            no(reason::OVSDB_NOT_CONNECTED, "the database does not answer"),
            no(reason::BRIDGE_INACTIVE, "a bridge is configured but not there"),
            no(reason::BOND_DOWN, "a bond has lost all of its members"),
            no(reason::OVN_CONTROLLER_NOT_CONNECTED, "ovn-controller is not connected"),
            unknown(reason::NOT_OBSERVED, "the database has not been read yet"),
            yes(reason::READY, "none of these"),
        ],
    },
    ConditionType {
        name: OVSDB_CONNECTED,
        meaning: "the Open vSwitch database of the host answers",
        source: "OVSDB connection",
        reasons: SOURCE_REASONS,
    },
    ConditionType {
        name: OVN_CONTROLLER_CONNECTED,
        meaning: "ovn-controller is connected to the OVN southbound database",
        source: "unixctl `connection-status` of ovn-controller",
        reasons: &[
            yes(reason::CONNECTED, "it is connected"),
            no(reason::NOT_CONNECTED, "it is not"),
            unknown(reason::NOT_CONFIGURED, "the host has no `ovn-remote`"),
            unknown(reason::NOT_OBSERVED, "ovn-controller could not be asked"),
        ],
    },
    ConditionType {
        name: ALL_BRIDGES_HEALTHY,
        meaning: "every bridge that is configured exists in the switch",
        source: "OVSDB Bridge",
        reasons: &[
            yes(reason::HEALTHY, "all are there"),
            no(reason::BRIDGE_INACTIVE, "the message names those that are not"),
            unknown(reason::NOT_OBSERVED, "the database has not been read yet"),
        ],
    },
    ConditionType {
        name: ALL_BONDS_HEALTHY,
        meaning: "every bond has all its members",
        source: "OVSDB Port and Interface, unixctl `bond/show`",
        reasons: &[
            yes(reason::HEALTHY, "all have"),
            yes(reason::NO_BONDS, "there is no bond"),
            no(reason::BOND_DEGRADED, "the message names those that have lost a member"),
            no(reason::BOND_DOWN, "the message names those that have lost all members"),
            unknown(reason::NOT_OBSERVED, "the database has not been read yet"),
        ],
    },
];
