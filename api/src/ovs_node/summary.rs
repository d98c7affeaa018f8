//! Counts that `kubectl get` can print: a column cannot count, so the server does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::interfaces::{BondState, BridgeState, InterfaceState};
use super::status::OVSNodeStatus;

/// Counts over the parts of a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Active bridges of all bridges, such as `2/3`.
    ///
    /// Source: `status.bridges`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bridges: Option<String>,
    /// Whole bonds of all bonds.
    ///
    /// Source: `status.interfaces.bonds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bonds: Option<String>,
    /// Tunnels that are up of all tunnels.
    ///
    /// Source: `status.interfaces.tunnels`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnels: Option<String>,
    /// How many issues there are.
    ///
    /// Source: `status.issues`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub issues: Option<i64>,
}

impl Summary {
    /// The counts of this status. What the status does not know has no count.
    ///
    /// ```
    /// use c5c3_api::ovs_node::{Bridge, BridgeState, OVSNodeStatus, Summary};
    /// let bridge = |name: &str, status| Bridge { name: name.into(), status, ..Bridge::default() };
    /// let status = OVSNodeStatus {
    ///     bridges: Some(vec![bridge("br-int", Some(BridgeState::Active)), bridge("br-ex", Some(BridgeState::Inactive))]),
    ///     ..OVSNodeStatus::default()
    /// };
    /// assert_eq!(Summary::of(&status).bridges.as_deref(), Some("1/2"));
    /// assert_eq!(Summary::of(&status).bonds, None);
    /// ```
    #[must_use]
    pub fn of(status: &OVSNodeStatus) -> Self {
        let interfaces = status.interfaces.as_ref();
        let bonds = interfaces.and_then(|interfaces| interfaces.bonds.as_ref());
        let tunnels = interfaces.and_then(|interfaces| interfaces.tunnels.as_ref());
        Self {
            bridges: share(status.bridges.as_ref(), |bridge| bridge.status == Some(BridgeState::Active)),
            bonds: share(bonds, |bond| bond.status == Some(BondState::Active)),
            tunnels: share(tunnels, |tunnel| tunnel.status == Some(InterfaceState::Up)),
            issues: status.issues.as_ref().and_then(|issues| i64::try_from(issues.len()).ok()),
        }
    }
}

fn share<Part>(parts: Option<&Vec<Part>>, is_well: impl Fn(&Part) -> bool) -> Option<String> {
    let parts = parts?;
    let well = parts.iter().filter(|part| is_well(part)).count();
    Some(format!("{well}/{}", parts.len()))
}
