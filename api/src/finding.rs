//! Findings: what is wrong although every single source is content.
//!
//! A domain that Nova does not know, a server that runs on two hosts, a chassis under another name: only somebody who
//! reads two sources at once can see it. Each finding has a type for programs and a sentence for people.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that no single source can tell, found by comparing two or more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What kind of trouble it is.
    #[serde(rename = "type")]
    pub type_: FindingType,
    /// What it is about: the UUID of a server, the name of an aggregate, a trait, a port or a chassis.
    #[schemars(length(min = 1))]
    pub subject: String,
    /// How bad it is.
    pub severity: Severity,
    /// The finding as a sentence for people.
    pub message: String,
    /// Since when it has been so.
    pub since: Time,
    /// The sources that contradict each other, by their name in `status.sources[]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

/// What kind of trouble a finding reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum FindingType {
    /// libvirt has a domain whose UUID Nova does not know.
    DomainWithoutServer,
    /// Nova has a server on this host that libvirt does not have.
    ServerWithoutDomain,
    /// The same domain is active on two hosts at once.
    RunningOnTwoHosts,
    /// The domain is here but Nova says the server is on another host.
    WrongHost,
    /// Nova says the compute service is up, but libvirt does not answer.
    ServiceUpLibvirtAway,
    /// libvirt, Nova and the Node do not call the host by the same name.
    NameMismatch,
    /// A domain stands still because a disk failed.
    PausedByIoError,
    /// A post-copy migration broke: the domain's memory is split over two hosts.
    PostcopyFailed,
    /// The host's `system-id` is not the name of its OVN chassis, or two chassis claim the host.
    ChassisMismatch,
    /// Nova's aggregates of the host are not those of the spec.
    AggregateDrift,
    /// Placement's traits of the host are not those of the spec.
    TraitDrift,
    /// A port has an `iface-id` that OVN has no binding for.
    OrphanPort,
    /// Flows belong to a port that no longer exists.
    StaleFlows,
    /// The host has no Kubernetes Node: it was declared before its Node came, or after it went.
    NodeMissing,
}

/// How bad a finding or an issue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Somebody should look in working hours.
    Warning,
    /// Instances are at risk now.
    Critical,
}

impl FindingType {
    /// Every type, for tables and tests.
    pub const ALL: &'static [Self] = &[
        Self::DomainWithoutServer,
        Self::ServerWithoutDomain,
        Self::RunningOnTwoHosts,
        Self::WrongHost,
        Self::ServiceUpLibvirtAway,
        Self::NameMismatch,
        Self::PausedByIoError,
        Self::PostcopyFailed,
        Self::ChassisMismatch,
        Self::AggregateDrift,
        Self::TraitDrift,
        Self::OrphanPort,
        Self::StaleFlows,
        Self::NodeMissing,
    ];

    /// The severity that a finding of this type has.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::RunningOnTwoHosts | Self::PausedByIoError | Self::PostcopyFailed => Severity::Critical,
            Self::StaleFlows | Self::NodeMissing => Severity::Info,
            Self::DomainWithoutServer
            | Self::ServerWithoutDomain
            | Self::WrongHost
            | Self::ServiceUpLibvirtAway
            | Self::NameMismatch
            | Self::ChassisMismatch
            | Self::AggregateDrift
            | Self::TraitDrift
            | Self::OrphanPort => Severity::Warning,
        }
    }

    /// A finding of this type, with the severity that goes with it.
    #[must_use]
    pub fn about(self, subject: impl Into<String>, message: impl Into<String>, since: Time) -> Finding {
        Finding {
            type_: self,
            subject: subject.into(),
            severity: self.severity(),
            message: message.into(),
            since,
            sources: Vec::new(),
        }
    }
}
