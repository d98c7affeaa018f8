//! An Eviction: a stored wish, with what is left on its host as libvirt and Nova see it now.

use c5c3_api::condition::eviction as names;
use c5c3_api::eviction::{EvictionSpec, EvictionStatus};
use c5c3_api::{Condition, ConditionStatus, Eviction};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use serde::Deserialize as _;

use super::identity::{hypervisor_uid, pruned, time, uid, with_stored};
use super::source_status::{condition, settle, source};
use super::{CloudView, HostView};
use crate::intent::IntentRecord;

/// The Eviction that `record` asks for. `host` is the host it names, if there is such a host.
pub fn eviction(
    record: &IntentRecord,
    host: Option<&HostView<'_>>,
    cloud: &CloudView<'_>,
    earlier: Option<&EvictionStatus>,
    now: Timestamp,
) -> Eviction {
    let spec: EvictionSpec = EvictionSpec::deserialize(record.spec()).unwrap_or_default();
    let name = &record.key.name;
    // Who was its host when it was made is stored with it: with that one it goes.
    let is_owned = record.owner_references().iter().any(|owner| owner.kind == "Hypervisor");
    let owner = host.filter(|_| !is_owned).map(|host| OwnerReference {
        api_version: "hypervisor.c5c3.io/v1".to_owned(),
        kind: "Hypervisor".to_owned(),
        name: host.name.to_owned(),
        uid: hypervisor_uid(host),
        controller: Some(true),
        block_owner_deletion: None,
    });
    let computed = ObjectMeta {
        name: Some(name.clone()),
        uid: Some(uid("hypervisor.c5c3.io", "Eviction", "", name, "")),
        generation: Some(1),
        labels: host.map(HostView::transferred_labels),
        owner_references: owner.map(|owner| vec![owner]),
        ..ObjectMeta::default()
    };
    let metadata = pruned(with_stored(computed, record));
    let mut status = EvictionStatus { observed_generation: metadata.generation, ..EvictionStatus::default() };
    let mut conditions = vec![progress(&spec, host, now)];
    if let Some(host) = host {
        outstanding(host, cloud, &mut status);
        conditions.push(condition(names::LIBVIRT_CONNECTED, host.libvirt, now));
        status.sources.push(source(c5c3_api::source::name::LIBVIRT, host.libvirt));
    }
    conditions.push(condition(names::NOVA_REACHABLE, cloud.compute, now));
    status.sources.push(source(c5c3_api::source::name::NOVA, cloud.compute));
    let before = earlier.map(|status| status.conditions.as_slice()).unwrap_or_default();
    status.conditions = settle(before, conditions, status.observed_generation);
    Eviction { metadata, spec, status: Some(status) }
}

/// This release shows evictions and what is left on their hosts; it does not move servers. It says so.
fn progress(spec: &EvictionSpec, host: Option<&HostView<'_>>, now: Timestamp) -> Condition {
    let (reason, message) = match host {
        Some(_) => (
            names::reason::NO_CONTROLLER,
            "this server shows what is left on the host; it does not evict in this release".to_owned(),
        ),
        None => (names::reason::HYPERVISOR_UNKNOWN, format!("there is no Hypervisor {:?}", spec.hypervisor)),
    };
    Condition::new(names::EVICTING, ConditionStatus::Unknown, reason, message, time(now))
}

fn outstanding(host: &HostView<'_>, cloud: &CloudView<'_>, status: &mut EvictionStatus) {
    let hypervisor = cloud.compute.value().and_then(|compute| compute.hypervisors.get(host.nova_host));
    status.hypervisor_service_id = hypervisor.map(|hypervisor| hypervisor.id.clone());
    let Some(libvirt) = host.libvirt.value() else { return };
    let memory_kib: Option<u64> = libvirt.domains.values().map(|domain| domain.memory_kib).sum();
    status.outstanding_ram_mb = memory_kib.and_then(|kib| i64::try_from(kib / 1024).ok());
    status.outstanding_instances = Some(libvirt.domains.keys().map(ToString::to_string).collect());
}
