//! What each condition of a Hypervisor means and can say: the table the reference page is printed from.

use super::super::types::{ConditionReason, ConditionType, SOURCE_REASONS, no, unknown, yes};
use super::*;

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
            no(
                reason::ONBOARDING,
                "lifecycle management is disabled, or onboarding was aborted or is incomplete",
            ),
            unknown(reason::LIBVIRT_UNREACHABLE, "libvirt does not answer"),
            unknown(reason::NOVA_UNREACHABLE, "Nova does not answer"),
            no(reason::ONBOARDING, "Nova has no compute service of the host yet"),
            unknown(reason::SERVICE_UNKNOWN, "Nova cannot say whether the compute service is up"),
            no(reason::SERVICE_DOWN, "the compute service does not report to Nova"),
            no(reason::SERVICE_DISABLED, "the compute service is disabled although no maintenance is set"),
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

const UNIT_REASONS: &[ConditionReason] = &[
    yes(reason::RUNNING, "the unit is active"),
    no(reason::STOPPED, "the unit is inactive"),
    no(reason::FAILED, "the unit has failed"),
];
