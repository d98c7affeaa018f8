//! The reasons that the conditions of a Hypervisor give.
//!
//! Those of the polling operators keep their names. The last five are ours: they say why a host is not, or may not be,
//! ready although nobody asked for it.

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
/// libvirt does not answer, so nobody knows whether the host can take instances.
pub const LIBVIRT_UNREACHABLE: &str = "LibvirtUnreachable";
/// Nova does not answer, so nobody knows whether the host can take instances.
pub const NOVA_UNREACHABLE: &str = "NovaUnreachable";
/// Nova cannot say whether the compute service is up.
pub const SERVICE_UNKNOWN: &str = "ServiceUnknown";
/// The compute service does not report to Nova.
pub const SERVICE_DOWN: &str = "ServiceDown";
/// The compute service is disabled although no maintenance is set.
pub const SERVICE_DISABLED: &str = "ServiceDisabled";
