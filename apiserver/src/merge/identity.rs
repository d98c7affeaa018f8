//! Who an object is: a UID that every replica computes alike and that no backing object has, unless its writer chose it.
//!
//! What is stored is shown as it is stored: whoever wrote an object got these values for an answer.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use uuid::Uuid;

use super::HostView;
use crate::intent::IntentRecord;

/// Name space of our UIDs, drawn once for this project.
const NAMESPACE: Uuid = Uuid::from_u128(0x4e0d_8f6a_93c1_4d0b_9a55_1c77_2b6e_c5c3);

/// Since when, and as whom, a thing exists. Made again, it is another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incarnation {
    /// UID of the Node, or of the stored declaration.
    pub of: String,
    /// When that began.
    pub created: Timestamp,
}

impl Incarnation {
    /// The incarnation that a stored record declares.
    pub fn of_record(record: &IntentRecord) -> Self {
        Self {
            of: record.uid().unwrap_or_default().to_owned(),
            created: record.created().unwrap_or(Timestamp::UNIX_EPOCH),
        }
    }
}

/// The UID of an object of `kind`: equal on every replica and after every restart, different for each kind and
/// incarnation, never the UID of the Node, domain or record behind it.
pub fn uid(group: &str, kind: &str, namespace: &str, name: &str, incarnation: &str) -> String {
    let words = [group, kind, namespace, name, incarnation].join("\n");
    Uuid::new_v5(&NAMESPACE, words.as_bytes()).to_string()
}

/// A point in time as Kubernetes writes it: whole seconds.
pub(super) fn time(at: Timestamp) -> Time {
    Time(Timestamp::from_second(at.as_second()).unwrap_or(at))
}

/// The UID of the Hypervisor of a host: the stored one, or the one computed from the host's incarnation.
pub(super) fn hypervisor_uid(host: &HostView<'_>) -> String {
    let stored = host.intent.and_then(IntentRecord::uid).map(str::to_owned);
    stored.unwrap_or_else(|| uid("hypervisor.c5c3.io", "Hypervisor", "", host.name, &host.incarnation.of))
}

/// Metadata with all that is stored of it.
pub(super) fn with_stored(mut metadata: ObjectMeta, record: &IntentRecord) -> ObjectMeta {
    metadata.uid = record.uid().map(str::to_owned).or(metadata.uid);
    metadata.creation_timestamp = record.created().map(time).or(metadata.creation_timestamp);
    metadata.generate_name = record.generate_name().map(str::to_owned);
    metadata.generation = record.generation().or(metadata.generation);
    metadata.labels.get_or_insert_default().extend(record.labels());
    metadata.annotations.get_or_insert_default().extend(record.annotations());
    metadata.finalizers = record.finalizers();
    metadata.deletion_timestamp = record.deletion_timestamp().map(time);
    metadata.deletion_grace_period_seconds = record.deletion_grace_period_seconds();
    let owners = metadata.owner_references.get_or_insert_default();
    if record.owner_references().iter().any(|owner| owner.controller == Some(true)) {
        // There can be one only: the writer's.
        owners.iter_mut().for_each(|owner| owner.controller = None);
    }
    for owner in record.owner_references() {
        if !owners.iter().any(|known: &OwnerReference| known.uid == owner.uid) {
            owners.push(owner);
        }
    }
    metadata.managed_fields = Some(record.managed_fields()).filter(|entries| !entries.is_empty());
    metadata
}

/// Metadata without empty maps and lists.
pub(super) fn pruned(mut metadata: ObjectMeta) -> ObjectMeta {
    metadata.labels = metadata.labels.filter(|labels| !labels.is_empty());
    metadata.annotations = metadata.annotations.filter(|annotations| !annotations.is_empty());
    metadata.owner_references = metadata.owner_references.filter(|owners| !owners.is_empty());
    metadata.finalizers = metadata.finalizers.filter(|finalizers| !finalizers.is_empty());
    metadata
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_depends_on_kind_and_incarnation_and_on_nothing_else() {
        let first = uid("hypervisor.c5c3.io", "Hypervisor", "", "host-1", "node-uid");
        assert_eq!(first, uid("hypervisor.c5c3.io", "Hypervisor", "", "host-1", "node-uid"));
        assert_ne!(first, uid("hypervisor.c5c3.io", "Eviction", "", "host-1", "node-uid"));
        assert_ne!(first, uid("hypervisor.c5c3.io", "Hypervisor", "", "host-1", "another"));
    }
}
