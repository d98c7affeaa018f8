//! The condition types and reasons of an Eviction.
//!
//! `HypervisorDisabled` and `HypervisorReEnabled` were declared but never set by the polling operator; here they say
//! what Nova says about the service.

use super::types::{ConditionType, SOURCE_REASONS, no, unknown, yes};

/// The eviction runs.
pub const EVICTING: &str = "Evicting";
/// Everything that has to hold before the first migration holds.
pub const PREFLIGHT_CHECKS_SUCCEEDED: &str = "PreflightChecksSucceeded";
/// How the instance that was handled last fared.
pub const MIGRATING_INSTANCE: &str = "MigratingInstance";
/// The compute service of the host is disabled.
pub const HYPERVISOR_DISABLED: &str = "HypervisorDisabled";
/// The compute service of the host was enabled again after the eviction.
pub const HYPERVISOR_RE_ENABLED: &str = "HypervisorReEnabled";
/// The libvirt source of the host answers.
pub const LIBVIRT_CONNECTED: &str = "LibvirtConnected";
/// Nova answers.
pub const NOVA_REACHABLE: &str = "NovaReachable";

/// The reasons that these conditions give.
pub mod reason {
    /// It runs.
    pub const RUNNING: &str = "Running";
    /// It was done.
    pub const SUCCEEDED: &str = "Succeeded";
    /// It could not be done.
    pub const FAILED: &str = "Failed";
    /// Nobody carries evictions out.
    pub const NO_CONTROLLER: &str = "NoController";
    /// There is no Hypervisor of that name.
    pub const HYPERVISOR_UNKNOWN: &str = "HypervisorUnknown";
}

/// Every condition type of an Eviction, for the reference page.
pub const CONDITIONS: &[ConditionType] = &[
    ConditionType {
        name: EVICTING,
        meaning: "the eviction runs",
        source: "Nova servers of the host",
        reasons: &[
            yes(reason::RUNNING, "instances are left"),
            no(reason::SUCCEEDED, "no instance is left"),
            no(reason::FAILED, "it was given up; the message says why"),
            unknown(reason::NO_CONTROLLER, "nobody carries evictions out; the status shows what is left"),
            unknown(reason::HYPERVISOR_UNKNOWN, "there is no Hypervisor of that name"),
        ],
    },
    ConditionType {
        name: PREFLIGHT_CHECKS_SUCCEEDED,
        meaning: "everything that has to hold before the first migration holds",
        source: "Nova os-services and os-hypervisors",
        reasons: &[
            yes(reason::SUCCEEDED, "the service is disabled and the host is known"),
            no(reason::FAILED, "it does not; the message says what is missing (`hypervisor not disabled`)"),
        ],
    },
    ConditionType {
        name: MIGRATING_INSTANCE,
        meaning: "how the instance that was handled last fared",
        source: "Nova server and its migrations",
        reasons: &[
            no(reason::SUCCEEDED, "it was moved, or is gone"),
            no(reason::FAILED, "it could not be moved; stays while other instances are left"),
        ],
    },
    ConditionType {
        name: HYPERVISOR_DISABLED,
        meaning: "the compute service of the host is disabled",
        source: "Nova os-services",
        reasons: &[
            yes(reason::SUCCEEDED, "the service is disabled"),
            no(reason::FAILED, "the service is enabled"),
        ],
    },
    ConditionType {
        name: HYPERVISOR_RE_ENABLED,
        meaning: "the compute service of the host was enabled again after the eviction",
        source: "Nova os-services",
        reasons: &[
            yes(reason::SUCCEEDED, "the service is enabled again"),
            no(reason::FAILED, "the service could not be enabled"),
        ],
    },
    ConditionType {
        name: LIBVIRT_CONNECTED,
        meaning: "the libvirt source of the host answers",
        source: "libvirt connection",
        reasons: SOURCE_REASONS,
    },
    ConditionType {
        name: NOVA_REACHABLE,
        meaning: "Nova answers",
        source: "Nova API",
        reasons: SOURCE_REASONS,
    },
];
