//! Names of custom resources: a different one for every key, and readable where it can be.
//!
//! `hypervisor.c.host-1`, `migration.n.c5c3-system.<uuid>`: kind, then `c` for cluster-scoped or `n` and the namespace, then
//! the name. Neither a kind nor a namespace has a dot in it, so no two keys meet. What does not make a valid name becomes
//! `hypervisor.x.<SHA-256 of the key>`. The key itself stands in the resource's spec and is compared with the name.

use sha2::{Digest as _, Sha256};

use super::super::IntentKey;

/// Longest name of an object.
const LONGEST: usize = 253;

/// The name of the custom resource of a key.
pub(super) fn resource_name(key: &IntentKey) -> String {
    let kind = key.kind.to_ascii_lowercase();
    let readable = match key.namespace.as_str() {
        "" => format!("{kind}.c.{}", key.name),
        namespace => format!("{kind}.n.{namespace}.{}", key.name),
    };
    let namespace_is_label = !key.namespace.contains('.');
    // Kinds are told apart by their letters only; one of another spelling would be another kind.
    let kind_is_plain = key.kind.chars().all(|letter| letter.is_ascii_alphanumeric());
    if namespace_is_label && kind_is_plain && is_subdomain(&readable) {
        return readable;
    }
    let digest = Sha256::digest(key.encoded().as_bytes());
    let hexadecimal: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let kind: String = kind.chars().filter(char::is_ascii_alphanumeric).take(63).collect();
    format!("k{kind}.x.{hexadecimal}")
}

/// Whether it is a DNS subdomain as Kubernetes wants names to be.
fn is_subdomain(name: &str) -> bool {
    let label = |label: &str| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let bytes = label.as_bytes();
        matches!((bytes.first(), bytes.last()), (Some(first), Some(last)) if plain(*first) && plain(*last))
            && bytes.iter().all(|byte| plain(*byte) || *byte == b'-')
    };
    name.len() <= LONGEST && name.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn key(kind: &str, namespace: &str, name: &str) -> IntentKey {
        IntentKey { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() }
    }

    #[test]
    fn ordinary_names_can_be_read() {
        assert_eq!(resource_name(&key("Hypervisor", "", "host-1.example")), "hypervisor.c.host-1.example");
        assert_eq!(resource_name(&key("Migration", "ns", "u")), "migration.n.ns.u");
        let long = resource_name(&key("Hypervisor", "", &"a".repeat(250)));
        assert!(long.starts_with("khypervisor.x.") && long.len() < 100, "{long}");
    }

    proptest! {
        /// Names close to each other, and to the way names are put together.
        #[test]
        fn no_two_keys_share_a_name_and_every_name_is_valid(
            keys in proptest::collection::vec(("[AB][ab]?", "([cnx]|a\\.b|a)?", "[acnx.\\-/A]{0,6}"), 1..60),
        ) {
            let mut taken: BTreeMap<String, IntentKey> = BTreeMap::new();
            for (kind, namespace, name) in keys {
                let key = key(&kind, &namespace, &name);
                let resource = resource_name(&key);
                prop_assert!(is_subdomain(&resource), "{resource:?}");
                if let Some(other) = taken.insert(resource.clone(), key.clone()) {
                    let same = other == key || (other.kind.eq_ignore_ascii_case(&key.kind) && other.kind != key.kind);
                    prop_assert!(same, "{:?} and {:?} are both {}", other, key, resource);
                }
            }
        }
    }
}
