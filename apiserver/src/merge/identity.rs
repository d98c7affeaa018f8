//! Who an object is: a UID that every replica computes alike and that no backing object has.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use uuid::Uuid;

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
