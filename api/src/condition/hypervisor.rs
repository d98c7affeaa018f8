//! The condition types and reasons of a Hypervisor.
//!
//! Names are the contract that dashboards, alerts and scripts of the polling operators rely on; none is renamed. Three
//! types are ours: [`LIBVIRT_CONNECTED`], [`OVSDB_CONNECTED`] and [`NOVA_REACHABLE`] say whether a source answers.

use super::types::{ConditionType, SOURCE_REASONS, no, yes};

/// The host can take instances.
pub const READY: &str = "Ready";
/// The host is being taken into service.
pub const ONBOARDING: &str = "Onboarding";
/// The host has been taken out of service for good.
pub const OFFBOARDED: &str = "Offboarded";
/// The Node of the host is going away.
pub const TERMINATING: &str = "Terminating";
/// Somebody changed the object by hand with kubectl.
pub const TAINTED: &str = "Tainted";
/// Placement has the traits of the spec.
pub const TRAITS_UPDATED: &str = "TraitsUpdated";
/// Nova has the aggregates of the spec.
pub const AGGREGATES_UPDATED: &str = "AggregatesUpdated";
/// No agent pod is left on the Node.
pub const AGENT_PODS_EVICTED: &str = "AgentPodsEvicted";
/// The compute service is disabled in Nova.
pub const HYPERVISOR_DISABLED: &str = "HypervisorDisabled";
/// The instances of the host are being moved away.
pub const EVICTING: &str = "Evicting";
/// The high-availability service watches the host.
pub const HA_ENABLED: &str = "HaEnabled";
/// libvirt answers and could be read: the name of the polling agent. See also [`LIBVIRT_CONNECTED`].
pub const LIBVIRT_CONNECTION: &str = "LibVirtConnection";
/// The systemd unit of libvirt runs.
pub const LIBVIRTD_SERVICE: &str = "libvirtd.service";
/// The systemd unit of Open vSwitch runs.
pub const OPENVSWITCH_SERVICE: &str = "openvswitch-switch.service";
/// An update of the operating system runs.
pub const OPERATING_SYSTEM_UPDATE: &str = "OperatingSystemUpdate";
/// The TLS certificate of libvirt is installed on the host.
pub const TLS_CERTIFICATE_INSTALLED: &str = "TLSCertificateInstalled";
/// The libvirt source of this server answers.
pub const LIBVIRT_CONNECTED: &str = "LibvirtConnected";
/// The Open vSwitch database of the host answers.
pub const OVSDB_CONNECTED: &str = "OVSDBConnected";
/// Nova answers.
pub const NOVA_REACHABLE: &str = "NovaReachable";

/// The reasons that these conditions give.
pub mod reason {
    /// The host is ready, or its certificate is installed.
    pub const READY: &str = "Ready";
    /// The host is out of service for good.
    pub const OFFBOARDED: &str = "Offboarded";
    /// The host is being taken out of service.
    pub const OFFBOARDING: &str = "Offboarding";
    /// The Node is going away.
    pub const TERMINATING: &str = "Terminating";
    /// The host is being taken into service, or has not been yet.
    pub const ONBOARDING: &str = "Onboarding";
    /// The instances are being moved away.
    pub const EVICTING: &str = "Evicting";
    /// No instance is left and maintenance is set.
    pub const EVICTED: &str = "Evicted";
    /// Maintenance is set.
    pub const MAINTENANCE: &str = "Maintenance";
    /// Onboarding began: the host has its test aggregates.
    pub const INITIAL: &str = "Initial";
    /// The service is enabled and the smoke test runs.
    pub const TESTING: &str = "Testing";
    /// Tests passed: traits, aggregates and high availability are being set.
    pub const HANDOVER: &str = "Handover";
    /// It was done.
    pub const SUCCEEDED: &str = "Succeeded";
    /// It could not be done.
    pub const FAILED: &str = "Failed";
    /// Onboarding was given up: lifecycle management was switched off or the Node terminates.
    pub const ABORTED: &str = "Aborted";
    /// A kubectl command owns fields of the object.
    pub const KUBECTL: &str = "Kubectl";
    /// No kubectl command owns fields of the object.
    pub const NO_KUBECTL: &str = "NoKubectl";
    /// The host is in its test aggregates.
    pub const TEST_AGGREGATES: &str = "TestAggregates";
    /// Aggregates wait until the traits are set.
    pub const WAITING_FOR_TRAITS: &str = "WaitingForTraits";
    /// Aggregates wait until the eviction has ended.
    pub const EVICTION_IN_PROGRESS: &str = "EvictionInProgress";
    /// No agent pod is left.
    pub const NO_AGENT_PODS: &str = "NoAgentPods";
    /// Agent pods are left.
    pub const AGENT_PODS_RUNNING: &str = "AgentPodsRunning";
    /// It runs.
    pub const RUNNING: &str = "Running";
    /// It is stopped.
    pub const STOPPED: &str = "Stopped";
    /// The update is installed.
    pub const COMPLETED: &str = "Completed";
    /// libvirt answers.
    pub const CONNECTED: &str = "Connected";
    /// Nothing listens where libvirt should.
    pub const LIBVIRT_SERVICE_NOT_RUNNING: &str = "LibVirtServiceNotRunning";
    /// The connection to libvirt failed.
    pub const CONNECT_FAILED: &str = "ConnectFailed";
    /// libvirt is connected but could not be read.
    pub const PROCESS_FAILED: &str = "ProcessFailed";
    /// The certificate is being installed.
    pub const INSTALLING: &str = "Installing";
    /// The certificate could not be written.
    pub const FAILED_TO_UPDATE_TLS_CERTIFICATE: &str = "FailedToUpdateTLSCertificate";
    /// libvirt could not be told to load the certificate.
    pub const FAILED_TO_START_UPDATE_TLS_SERVICE: &str = "FailedToStartUpdateTLSService";
    /// High availability is on.
    pub const HA_ENABLED: &str = "HaEnabled";
}

/// Every condition type of a Hypervisor, for the reference page.
pub const CONDITIONS: &[ConditionType] = &[
    ConditionType {
        name: READY,
        meaning: "the host can take instances",
        source: "the other conditions, tried in this order",
        reasons: &[
            no(reason::OFFBOARDED, "the host is out of service for good"),
            no(reason::TERMINATING, "the Node is going away"),
            no(reason::ONBOARDING, "onboarding is in progress"),
            no(reason::EVICTING, "the instances are being moved away"),
            no(reason::EVICTED, "no instance is left and maintenance is set"),
            no(reason::MAINTENANCE, "maintenance is set"),
            no(reason::ONBOARDING, "onboarding has not started, was aborted or is incomplete"),
            yes(reason::READY, "none of these"),
        ],
    },
    ConditionType {
        name: ONBOARDING,
        meaning: "the host is being taken into service",
        source: "Nova, Placement and the onboarding controller",
        reasons: &[
            yes(reason::INITIAL, "the host is in its zone and test aggregates only"),
            yes(reason::TESTING, "the service is enabled; the smoke test runs"),
            yes(reason::HANDOVER, "tests passed; traits, aggregates and high availability are being set"),
            no(reason::SUCCEEDED, "the host is in service"),
            no(reason::ABORTED, "lifecycle management was switched off or the Node terminates"),
            yes(reason::ABORTED, "given up, but the test server could not be removed yet"),
            yes(reason::ONBOARDING, "declared by the polling operator, never set by it"),
        ],
    },
    ConditionType {
        name: OFFBOARDED,
        meaning: "the host has been taken out of service for good",
        source: "Nova, Placement and the offboarding controller",
        reasons: &[
            no(reason::OFFBOARDING, "in progress; the message says what it waits for"),
            yes(reason::OFFBOARDED, "the service and the resource provider are removed"),
        ],
    },
    ConditionType {
        name: TERMINATING,
        meaning: "the Node of the host is going away",
        source: "Node condition `Terminating` or the Node's deletion timestamp",
        reasons: &[yes(reason::TERMINATING, "the Node is being removed; never reset")],
    },
    ConditionType {
        name: TAINTED,
        meaning: "somebody changed the object by hand (this is not a Node taint)",
        source: "managedFields: a manager whose name starts with `kubectl`",
        reasons: &[
            yes(reason::KUBECTL, "a kubectl command owns fields of the object"),
            no(reason::NO_KUBECTL, "none does"),
        ],
    },
    ConditionType {
        name: TRAITS_UPDATED,
        meaning: "Placement has the traits of the spec",
        source: "Placement resource provider traits",
        reasons: &[
            yes(reason::SUCCEEDED, "the traits are as wanted"),
            no(reason::FAILED, "they could not be set; the message says why"),
        ],
    },
    ConditionType {
        name: AGGREGATES_UPDATED,
        meaning: "Nova has the aggregates of the spec",
        source: "Nova os-aggregates",
        reasons: &[
            yes(reason::SUCCEEDED, "the aggregates are as wanted"),
            no(reason::TEST_AGGREGATES, "the host is in its test aggregates while it is onboarded"),
            no(reason::WAITING_FOR_TRAITS, "the traits come first"),
            no(reason::EVICTION_IN_PROGRESS, "the eviction comes first"),
            no(reason::TERMINATING, "the host is going away; its aggregates are being emptied"),
            no(reason::FAILED, "they could not be set; the message says why"),
        ],
    },
    ConditionType {
        name: AGENT_PODS_EVICTED,
        meaning: "no agent pod is left on the Node",
        source: "Pods of the agent namespaces",
        reasons: &[
            yes(reason::NO_AGENT_PODS, "none is left"),
            no(reason::AGENT_PODS_RUNNING, "some are left"),
        ],
    },
    ConditionType {
        name: HYPERVISOR_DISABLED,
        meaning: "the compute service is disabled in Nova",
        source: "Nova os-services",
        reasons: &[
            yes(reason::SUCCEEDED, "the service is disabled"),
            no(reason::SUCCEEDED, "the service is enabled"),
        ],
    },
    ConditionType {
        name: EVICTING,
        meaning: "the instances of the host are being moved away",
        source: "the Eviction of the host; absent without maintenance",
        reasons: &[
            yes(reason::RUNNING, "the eviction runs"),
            no(reason::SUCCEEDED, "the eviction has ended, successfully or not"),
        ],
    },
    ConditionType {
        name: HA_ENABLED,
        meaning: "the high-availability service watches the host",
        source: "the high-availability service",
        reasons: &[
            yes(reason::HA_ENABLED, "it watches"),
            no(reason::EVICTED, "not while the host is evicted"),
            no(reason::ONBOARDING, "not while the host is onboarded"),
        ],
    },
    ConditionType {
        name: LIBVIRT_CONNECTION,
        meaning: "libvirt answers and could be read (the polling agent's name; same source as LibvirtConnected)",
        source: "libvirt connection",
        reasons: &[
            yes(reason::CONNECTED, "libvirt answers"),
            no(reason::LIBVIRT_SERVICE_NOT_RUNNING, "nothing listens where libvirt should"),
            no(reason::CONNECT_FAILED, "the connection failed"),
            no(reason::PROCESS_FAILED, "connected, but libvirt could not be read"),
        ],
    },
    ConditionType {
        name: LIBVIRTD_SERVICE,
        meaning: "the systemd unit of libvirt runs",
        source: "systemd of the host, where something reports it; else absent",
        reasons: UNIT_REASONS,
    },
    ConditionType {
        name: OPENVSWITCH_SERVICE,
        meaning: "the systemd unit of Open vSwitch runs",
        source: "systemd of the host, where something reports it; else absent",
        reasons: UNIT_REASONS,
    },
    ConditionType {
        name: OPERATING_SYSTEM_UPDATE,
        meaning: "an update of the operating system runs",
        source: "systemd-sysupdate of the host, where something reports it; else absent",
        reasons: &[
            yes(reason::RUNNING, "the update runs"),
            yes(reason::COMPLETED, "the update is installed"),
            no(reason::STOPPED, "no update runs"),
        ],
    },
    ConditionType {
        name: TLS_CERTIFICATE_INSTALLED,
        meaning: "the TLS certificate of libvirt is installed on the host",
        source: "the node agent, where there is one; else absent",
        reasons: &[
            yes(reason::READY, "installed and loaded"),
            no(reason::INSTALLING, "being installed"),
            no(reason::FAILED_TO_UPDATE_TLS_CERTIFICATE, "the files could not be written"),
            no(reason::FAILED_TO_START_UPDATE_TLS_SERVICE, "libvirt could not be told to load it"),
        ],
    },
    ConditionType {
        name: LIBVIRT_CONNECTED,
        meaning: "the libvirt source answers",
        source: "libvirt connection",
        reasons: SOURCE_REASONS,
    },
    ConditionType {
        name: OVSDB_CONNECTED,
        meaning: "the Open vSwitch database of the host answers",
        source: "OVSDB connection",
        reasons: SOURCE_REASONS,
    },
    ConditionType {
        name: NOVA_REACHABLE,
        meaning: "Nova answers",
        source: "Nova API",
        reasons: SOURCE_REASONS,
    },
];

const UNIT_REASONS: &[super::ConditionReason] = &[
    yes(reason::RUNNING, "the unit is active"),
    no(reason::STOPPED, "the unit is inactive"),
    no(reason::FAILED, "the unit has failed"),
];
