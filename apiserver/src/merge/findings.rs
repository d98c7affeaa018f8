//! What no single source can tell about a host.

use c5c3_api::finding::{Finding, FindingType};
use c5c3_api::hypervisor::HypervisorStatus;
use c5c3_api::source::name;

use c5c3_api::SourceState;

use super::identity::time;
use super::{CloudView, HostView};
use crate::intent::IntentRecord;

/// `virDomainState` and reason of a domain that stands still because a disk failed.
const PAUSED_IO_ERROR: (i32, i32) = (3, 5);
/// Of one that waits for the rest of its memory in vain.
const PAUSED_POSTCOPY_FAILED: (i32, i32) = (3, 13);
/// Of one that runs without the rest of its memory.
const RUNNING_POSTCOPY_FAILED: (i32, i32) = (1, 11);

/// The findings about a host, in the order of type and subject; one that was there before keeps its `since`.
pub(super) fn findings(
    host: &HostView<'_>,
    cloud: &CloudView<'_>,
    status: &HypervisorStatus,
    earlier: Option<&HypervisorStatus>,
) -> Vec<Finding> {
    let mut list = Vec::new();
    list.extend(service_up_libvirt_away(host, status));
    list.extend(on_two_hosts(host));
    list.extend(chassis(host));
    list.extend(name_mismatch(host, cloud));
    list.extend(stuck_domains(host));
    list.extend(servers_and_domains(host));
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

/// libvirt's own name of the host against the Node's and against that of the hypervisor that Nova has for it.
fn name_mismatch(host: &HostView<'_>, cloud: &CloudView<'_>) -> Option<Finding> {
    let said = host.libvirt.value()?.hostname.as_deref()?;
    let short = |name: &str| name.split('.').next().unwrap_or(name).to_owned();
    let hypervisors = cloud.compute.value().map(|compute| &compute.hypervisors);
    let nova = hypervisors.and_then(|hypervisors| hypervisors.get(host.nova_host));
    let nova = nova.map(|nova| nova.hostname.as_str()).filter(|name| !name.is_empty());
    let own = short(said) == short(host.name) || said == host.nova_host;
    let expected = match nova {
        Some(nova) if short(nova) != short(said) => format!("Nova's hypervisor of this host is {nova}"),
        _ if !own => format!("its Node is {}", host.name),
        _ => return None,
    };
    let message = format!(
        "libvirtd says its host is {said}, but {expected}. Look at whether the address leads to another host, and at \
         /etc/hostname there."
    );
    Some(about(host, FindingType::NameMismatch, said, message, &[name::LIBVIRT, name::NOVA, name::NODE]))
}

/// Domains that do not go on by themselves.
fn stuck_domains<'a>(host: &'a HostView<'_>) -> impl Iterator<Item = Finding> + 'a {
    let domains = host.libvirt.value().into_iter().flat_map(|libvirt| libvirt.domains.iter());
    domains.filter_map(|(uuid, domain)| {
        let (type_, message) = match (domain.state, domain.reason) {
            PAUSED_IO_ERROR => (
                FindingType::PausedByIoError,
                format!(
                    "Domain {} stands still because a disk failed. Look at `virsh domblkerror {}` on the host and at the storage \
                     behind it; resume it when that is mended.",
                    domain.name, domain.name
                ),
            ),
            PAUSED_POSTCOPY_FAILED | RUNNING_POSTCOPY_FAILED => (
                FindingType::PostcopyFailed,
                format!(
                    "The post-copy migration of domain {} broke: part of its memory is on this host, part on the other. Neither may \
                     be stopped. Look at the connection of the two, then recover the migration.",
                    domain.name
                ),
            ),
            _ => return None,
        };
        Some(about(host, type_, &uuid.to_string(), message, &[name::LIBVIRT]))
    })
}

/// What Nova's servers of the host and its domains say of each other, as far as it still is so.
fn servers_and_domains(host: &HostView<'_>) -> Vec<Finding> {
    let (Some(servers), Some(libvirt)) = (host.servers.value(), host.libvirt.value()) else {
        return Vec::new();
    };
    if !host.libvirt.is_connected() {
        return Vec::new();
    }
    let sources = [name::NOVA, name::LIBVIRT];
    let here = |uuid: &uuid::Uuid| libvirt.domains.get(uuid);
    let gone = servers.without_domain.iter().filter(|(uuid, _)| here(uuid).is_none()).map(|(uuid, status)| {
        let message = format!(
            "Nova has server {uuid} ({status}) on this host, but libvirt has no such domain. Look at nova-compute's log on the host; \
             a hard reboot of the server makes its domain anew."
        );
        about(host, FindingType::ServerWithoutDomain, &uuid.to_string(), message, &sources)
    });
    let foreign = servers.without_server.iter().filter_map(|uuid| Some((uuid, here(uuid)?)));
    let foreign = foreign.map(|(uuid, domain)| {
        let message = format!(
            "Nova knows no server of domain {} ({uuid}). Look at whether somebody made it by hand, or its server was deleted \
             while libvirt was away; it uses memory that Nova gives to others.",
            domain.name
        );
        about(host, FindingType::DomainWithoutServer, &uuid.to_string(), message, &sources)
    });
    let elsewhere = servers.elsewhere.iter().filter_map(|(uuid, other)| Some((uuid, here(uuid)?, other)));
    let elsewhere = elsewhere.map(|(uuid, domain, other)| {
        let state = if domain.active { "runs" } else { "is" };
        let message = format!(
            "Domain {} {state} here, but Nova has its server on {other}. Look at `openstack server show {uuid}` and at the \
             migrations of that server before one of the two is stopped.",
            domain.name
        );
        about(host, FindingType::WrongHost, &uuid.to_string(), message, &sources)
    });
    gone.chain(foreign).chain(elsewhere).collect()
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
