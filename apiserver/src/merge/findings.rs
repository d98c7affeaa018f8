//! What no single source can tell about a host.

use c5c3_api::finding::{Finding, FindingType};
use c5c3_api::hypervisor::HypervisorStatus;
use c5c3_api::source::name;

use c5c3_api::SourceState;

use super::HostView;
use super::identity::time;
use crate::intent::IntentRecord;

/// The findings about a host, in the order of type and subject; one that was there before keeps its `since`.
pub(super) fn findings(
    host: &HostView<'_>,
    status: &HypervisorStatus,
    earlier: Option<&HypervisorStatus>,
) -> Vec<Finding> {
    let mut list = Vec::new();
    list.extend(service_up_libvirt_away(host, status));
    list.extend(on_two_hosts(host));
    list.extend(chassis(host));
    list.extend(without_node(host));
    let before = earlier.map(|status| status.findings.as_slice()).unwrap_or_default();
    for finding in &mut list {
        let known =
            before.iter().find(|known| known.type_ == finding.type_ && known.subject == finding.subject);
        if let Some(known) = known {
            finding.since = known.since.clone();
        }
    }
    list.sort_by(|left, right| (left.type_, &left.subject).cmp(&(right.type_, &right.subject)));
    list
}

fn service_up_libvirt_away(host: &HostView<'_>, status: &HypervisorStatus) -> Option<Finding> {
    let up = status.compute_service.as_ref()?.state.as_deref() == Some("up");
    let away = host.libvirt.message()?;
    up.then(|| {
        let message = format!(
            "Nova says nova-compute on {} is up, but libvirt does not answer: {away}. Look at libvirtd on the host.",
            host.nova_host
        );
        about(host, FindingType::ServiceUpLibvirtAway, host.nova_host, message, &[name::NOVA, name::LIBVIRT])
    })
}

fn without_node(host: &HostView<'_>) -> Option<Finding> {
    let none = host.nodes_known && host.node.value().is_none() && host.node.state() == SourceState::Disabled;
    none.then(|| {
        let why = match host.intent.is_some_and(IntentRecord::is_declaration) {
            true => "somebody declared intent for it, which takes effect when the Node comes",
            false => "the configuration lists it",
        };
        let message = format!("There is no Node {}: the host is here because {why}.", host.name);
        about(host, FindingType::NodeMissing, host.name, message, &[name::NODE])
    })
}

fn on_two_hosts<'a>(host: &'a HostView<'_>) -> impl Iterator<Item = Finding> + 'a {
    host.active_elsewhere.iter().map(|(uuid, others)| {
        let message = format!(
            "Domain {uuid} is active here and on {}, and is not migrating. Two copies of one disk may be in use: stop one \
             before anything else.",
            others.join(", ")
        );
        about(host, FindingType::RunningOnTwoHosts, &uuid.to_string(), message, &[name::LIBVIRT])
    })
}

fn chassis(host: &HostView<'_>) -> Option<Finding> {
    let hostname = host.switch.value()?.external_id("hostname")?;
    // The short name counts: some start scripts write the fully qualified one.
    let short = hostname.split('.').next().unwrap_or(hostname);
    let own = host.name.split('.').next().unwrap_or(host.name);
    (short != own && hostname != host.nova_host).then(|| {
        let message = format!(
            "Open vSwitch of this host says its hostname is {hostname}, not {}: Neutron binds ports by that name.",
            host.name
        );
        about(host, FindingType::ChassisMismatch, hostname, message, &[name::OVSDB, name::NODE])
    })
}

fn about(
    host: &HostView<'_>,
    type_: FindingType,
    subject: &str,
    message: String,
    sources: &[&str],
) -> Finding {
    let mut finding = type_.about(subject, message, time(host.now));
    finding.sources = sources.iter().map(|source| (*source).to_owned()).collect();
    finding
}
