//! What is true about a host: the conditions of a Hypervisor.
//!
//! This release observes. Conditions that a controller makes true (Onboarding, TraitsUpdated …) are absent until there
//! is one; `Ready` is decided from what can be seen: the Node, libvirt, Nova, and what people asked for.

use c5c3_api::condition::hypervisor as names;
use c5c3_api::condition::hypervisor::reason;
use c5c3_api::hypervisor::{HypervisorSpec, HypervisorStatus, Maintenance};
use c5c3_api::{Condition, ConditionStatus, SourceState};

use super::identity::time;
use super::source_status::{condition, settle};
use super::{CloudView, HostView};
use crate::sources::observation::Observation;

type Verdict = (ConditionStatus, &'static str, String);

/// The conditions, settled against those shown before.
pub(super) fn conditions(
    host: &HostView<'_>,
    cloud: &CloudView<'_>,
    spec: &HypervisorSpec,
    status: &HypervisorStatus,
    earlier: Option<&HypervisorStatus>,
) -> Vec<Condition> {
    let now = host.now;
    let condition_of = |type_: &str, (status, reason, message): Verdict| {
        Condition::new(type_, status, reason, message, time(now))
    };
    let mut list = vec![condition_of(names::READY, ready(host, cloud, spec, status))];
    if host.node.value().is_some_and(|node| node.terminating) {
        let message = "the Node is going away".to_owned();
        list.push(condition_of(names::TERMINATING, (ConditionStatus::True, reason::TERMINATING, message)));
    }
    list.push(condition_of(names::LIBVIRT_CONNECTION, libvirt_connection(host)));
    list.extend(disabled(status).map(|verdict| condition_of(names::HYPERVISOR_DISABLED, verdict)));
    list.push(condition(names::LIBVIRT_CONNECTED, host.libvirt, now));
    list.push(condition(names::OVSDB_CONNECTED, host.switch, now));
    list.push(condition(names::NOVA_REACHABLE, cloud.compute, now));
    let before = earlier.map(|status| status.conditions.as_slice()).unwrap_or_default();
    settle(before, list, status.observed_generation)
}

fn ready(
    host: &HostView<'_>,
    cloud: &CloudView<'_>,
    spec: &HypervisorSpec,
    status: &HypervisorStatus,
) -> Verdict {
    let not = |reason, message: &str| (ConditionStatus::False, reason, message.to_owned());
    if host.node.value().is_some_and(|node| node.terminating) {
        return not(reason::TERMINATING, "the Node is going away");
    }
    if spec.maintenance() != Maintenance::None {
        let why = spec.maintenance_reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        return not(reason::MAINTENANCE, &format!("maintenance is {}{why}", spec.maintenance().as_str()));
    }
    if !spec.lifecycle_enabled {
        return not(reason::ONBOARDING, "lifecycle management is disabled");
    }
    if !host.libvirt.is_connected() {
        let message = format!("libvirt {}", unheard(host.libvirt));
        return (ConditionStatus::Unknown, reason::LIBVIRT_UNREACHABLE, message);
    }
    match cloud.compute.state() {
        SourceState::Connected => service(host, status),
        SourceState::Disabled => (ConditionStatus::True, reason::READY, "libvirt answers".to_owned()),
        _ => {
            let message = format!("Nova {}", unheard(cloud.compute));
            (ConditionStatus::Unknown, reason::NOVA_UNREACHABLE, message)
        }
    }
}

/// What Nova, which answers, says about the compute service of the host.
fn service(host: &HostView<'_>, status: &HypervisorStatus) -> Verdict {
    let not = |reason, message: String| (ConditionStatus::False, reason, message);
    let Some(service) = &status.compute_service else {
        let message = format!("Nova has no nova-compute service of host {}", host.nova_host);
        return not(reason::ONBOARDING, message);
    };
    match (service.state.as_deref(), service.status.as_deref()) {
        (Some("up"), Some("enabled")) => {
            let message = "libvirt answers, nova-compute is up and enabled".to_owned();
            (ConditionStatus::True, reason::READY, message)
        }
        (None, _) | (_, None) => {
            let message = "Nova cannot say whether nova-compute is up: its cell does not answer".to_owned();
            (ConditionStatus::Unknown, reason::SERVICE_UNKNOWN, message)
        }
        (Some("up"), Some(_)) => {
            let why = service.disabled_reason.as_deref().unwrap_or("no reason given");
            not(reason::SERVICE_DISABLED, format!("nova-compute is disabled: {why}"))
        }
        (Some(_), Some(_)) => not(reason::SERVICE_DOWN, "nova-compute does not report to Nova".to_owned()),
    }
}

/// Why a source is not heard, to follow its name.
fn unheard<T>(source: &Observation<T>) -> String {
    match (source.state(), source.message()) {
        (_, Some(message)) => format!("does not answer: {message}"),
        (SourceState::Disabled, None) => "is not configured for this host".to_owned(),
        (_, None) => "has not answered yet".to_owned(),
    }
}

/// The condition that the polling agents wrote, for whoever reads it by that name.
fn libvirt_connection(host: &HostView<'_>) -> Verdict {
    match host.libvirt.state() {
        SourceState::Connected => (ConditionStatus::True, reason::CONNECTED, String::new()),
        _ => {
            let message = host.libvirt.message().unwrap_or("the first connection is being made");
            (ConditionStatus::False, reason::CONNECT_FAILED, message.to_owned())
        }
    }
}

fn disabled(status: &HypervisorStatus) -> Option<Verdict> {
    let service = status.compute_service.as_ref()?;
    let disabled = service.status.as_deref()? == "disabled";
    let why = service.disabled_reason.clone().filter(|_| disabled).unwrap_or_default();
    Some((disabled.into(), reason::SUCCEEDED, why))
}
