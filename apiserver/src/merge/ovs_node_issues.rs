//! `status.issues[]`: what is wrong with a virtual switch, each with a sentence that says where to look.

use c5c3_api::Severity;
use c5c3_api::ovs_node::{BondState, Issue, OVSNodeStatus};

use super::HostView;
use super::identity::time;
use ovs_client::switch::Interface;

use crate::sources::picture::SwitchPicture;

/// The issues, in the order of their messages; one that was there before keeps its `detectedAt`.
pub(super) fn issues(
    host: &HostView<'_>,
    switch: &SwitchPicture,
    status: &OVSNodeStatus,
    earlier: Option<&OVSNodeStatus>,
) -> Vec<Issue> {
    let mut found: Vec<(Severity, String)> = Vec::new();
    for interface in switch.interfaces() {
        found.extend(broken(interface));
        found.extend(orphan(host, interface));
    }
    let unreadable =
        |what: &String| (Severity::Warning, format!("the database has a value that cannot be read: {what}"));
    found.extend(switch.unreadable.iter().map(unreadable));
    for bond in status.interfaces.iter().flat_map(|interfaces| interfaces.bonds.iter().flatten()) {
        let severity = match bond.status {
            Some(BondState::Degraded) => Severity::Warning,
            Some(BondState::Down) => Severity::Critical,
            _ => continue,
        };
        let counts = bond.active_members.zip(bond.members);
        let counts = counts.map(|(active, members)| format!("{active} of {members}")).unwrap_or_default();
        found.push((severity, format!("bond {}: {counts} members active", bond.name)));
    }
    if switch.root.as_ref().and_then(|root| root.is_behind()) == Some(true) {
        let message = "ovs-vswitchd is behind the database: it is busy, or not running".to_owned();
        found.push((Severity::Warning, message));
    }
    found.extend(mappings(switch));
    found.sort_by(|left, right| left.1.cmp(&right.1));
    found.dedup();
    let known = earlier.and_then(|status| status.issues.as_deref()).unwrap_or_default();
    let issue = |(severity, message): (Severity, String)| {
        let since =
            known.iter().find(|issue| issue.message == message).map(|issue| issue.detected_at.clone());
        Issue { severity, message, detected_at: since.unwrap_or_else(|| time(host.now)) }
    };
    found.into_iter().map(issue).collect()
}

fn broken(interface: &Interface) -> Option<(Severity, String)> {
    let name = &interface.name;
    match (&interface.error, interface.ofport) {
        (Some(error), _) => Some((Severity::Warning, format!("interface {name}: {error}"))),
        (None, Some(-1)) => {
            Some((Severity::Warning, format!("interface {name} could not be opened (ofport -1)")))
        }
        _ => None,
    }
}

/// A guest's port whose domain libvirt does not have. Only told while libvirt answers, else nothing is known.
fn orphan(host: &HostView<'_>, interface: &Interface) -> Option<(Severity, String)> {
    let domain = interface.external_ids.get("vm-uuid")?;
    let libvirt = host.libvirt.value().filter(|_| host.libvirt.is_connected())?;
    let uuid = domain.parse().ok()?;
    (!libvirt.domains.contains_key(&uuid)).then(|| {
        let name = &interface.name;
        (Severity::Warning, format!("orphan port {name}: libvirt has no domain {domain}"))
    })
}

fn mappings(switch: &SwitchPicture) -> Vec<(Severity, String)> {
    let Some(mappings) = switch.external_id("ovn-bridge-mappings") else { return Vec::new() };
    mappings
        .split(',')
        .filter_map(|mapping| mapping.trim().split_once(':'))
        .filter(|(_, bridge)| switch.bridge(bridge).is_none())
        .map(|(network, bridge)| {
            (Severity::Warning, format!("bridge mapping {network}:{bridge}: there is no bridge {bridge}"))
        })
        .collect()
}
