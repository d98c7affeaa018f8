//! What people want of a host.
//!
//! Fields that a CRD would call "required, with a default" are plain values here: a document may leave them out, an
//! object never does. Validation that needs more than a type is in `validation`; the same rules are in the schema as
//! CEL, so that the schema can be installed as a CRD and means the same.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::validation::rule;

/// What people want of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": rule::TERMINATION.cel, "message": rule::TERMINATION.message},
    {"rule": rule::MANUAL_REASON.cel, "message": rule::MANUAL_REASON.message},
]))]
pub struct HypervisorSpec {
    /// Wanted version of the operating system; the node agent starts the update. `latest` means the newest one.
    ///
    /// Set by: people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether the host reboots after an update of its operating system has succeeded.
    ///
    /// Set by: people.
    pub reboot: bool,
    /// Whether the node agent holds a shutdown back and evicts the host first.
    ///
    /// Set by: people.
    pub evacuate_on_reboot: bool,
    /// Whether the host is on- and offboarded automatically.
    ///
    /// Set by: people; else the Node label `cobaltcore.cloud.sap/node-hypervisor-lifecycle`.
    pub lifecycle_enabled: bool,
    /// Whether onboarding skips the smoke test.
    ///
    /// Set by: people; else the value `skip-tests` of the Node label
    /// `cobaltcore.cloud.sap/node-hypervisor-lifecycle`.
    pub skip_tests: bool,
    /// `CUSTOM_*` traits that the host shall have in Placement.
    ///
    /// Set by: people; else the Node annotation `nova.openstack.cloud.sap/custom-traits`.
    pub custom_traits: Vec<String>,
    /// Nova aggregates that the host shall be in. They must exist.
    ///
    /// Set by: people; else the Node annotation `nova.openstack.cloud.sap/aggregates` and the zone of the Node.
    pub aggregates: Vec<String>,
    /// Memberships with their type, read by the placement of instances.
    ///
    /// Set by: people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    /// UUIDs of the projects that may place instances here. Empty means all.
    ///
    /// Set by: people.
    pub allowed_projects: Vec<String>,
    /// Whether the high-availability service shall watch the host; onboarding waits for it.
    ///
    /// Set by: people.
    pub high_availability: bool,
    /// Whether the node agent requests a certificate of its own from cert-manager.
    ///
    /// Set by: people.
    pub create_cert_manager_certificate: bool,
    /// Whether the node agent installs the certificate of the Secret `tls-libvirt-<node>`.
    ///
    /// Set by: people.
    pub install_certificate: bool,
    /// Takes the host out of service, and says on whose behalf. Absent and `""` mean in service.
    ///
    /// Set by: people, automation, the high-availability service, or the Node's termination.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintenance: Option<Maintenance>,
    /// Why the host is in maintenance, in free text. Needed when `maintenance` is `manual`.
    ///
    /// Set by: people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintenance_reason: Option<String>,
    /// How much more of `cpu` and `memory` than there is may be promised, as a ratio of at least 1.0.
    ///
    /// Set by: people.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("x-kubernetes-validations" = [
        {"rule": rule::OVERCOMMIT.cel, "message": rule::OVERCOMMIT.message},
    ]))]
    pub overcommit: BTreeMap<String, f64>,
}

/// On whose behalf a host is out of service.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Maintenance {
    /// In service: the compute service is enabled and an eviction is deleted.
    #[default]
    #[serde(rename = "")]
    None,
    /// A person: the service is disabled and the host is evicted. Needs a reason.
    Manual,
    /// Automation: the service is disabled and the host is evicted.
    Auto,
    /// The high-availability service, which empties the host itself: service and eviction are left alone.
    Ha,
    /// The Node goes away: the service is disabled, the host is evicted and offboarded. There is no way back but `ha`.
    Termination,
}

/// A membership: a trait or an aggregate, exactly one of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": rule::ONE_GROUP.cel, "message": rule::ONE_GROUP.message},
]))]
pub struct Group {
    /// Membership by a trait.
    #[serde(default, rename = "trait", skip_serializing_if = "Option::is_none")]
    pub trait_: Option<TraitGroup>,
    /// Membership by an aggregate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<AggregateGroup>,
}

/// Membership by a trait.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraitGroup {
    /// Name of the trait.
    #[schemars(length(min = 1))]
    pub name: String,
}

/// Membership by an aggregate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AggregateGroup {
    /// Name of the aggregate.
    #[schemars(length(min = 1))]
    pub name: String,
    /// UUID of the aggregate.
    #[schemars(regex(pattern = rule::UUID_PATTERN))]
    pub uuid: String,
    /// Metadata of the aggregate.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl Default for HypervisorSpec {
    fn default() -> Self {
        Self {
            version: None,
            reboot: false,
            evacuate_on_reboot: true,
            lifecycle_enabled: true,
            skip_tests: false,
            custom_traits: Vec::new(),
            aggregates: Vec::new(),
            groups: Vec::new(),
            allowed_projects: Vec::new(),
            high_availability: true,
            create_cert_manager_certificate: false,
            install_certificate: true,
            maintenance: None,
            maintenance_reason: None,
            overcommit: BTreeMap::new(),
        }
    }
}

impl HypervisorSpec {
    /// On whose behalf the host is out of service; absent and `""` are the same.
    #[must_use]
    pub fn maintenance(&self) -> Maintenance {
        self.maintenance.unwrap_or_default()
    }
}

impl Maintenance {
    /// The value as it stands in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Manual => "manual",
            Self::Auto => "auto",
            Self::Ha => "ha",
            Self::Termination => "termination",
        }
    }
}
