//! Keeps the number of updaters in bounds: the oldest ones become one entry per version.
//!
//! Appliers are few and are not counted. The first entry of a version is folded only when there is a second one to fold it with.

use std::collections::BTreeMap;

use super::{Entry, Identity, Managers, Operation};

const MAX_UPDATERS: usize = 10;
const FOLDED: &str = "ancient-changes";

/// Folds the oldest updaters until no more than ten are left.
pub(crate) fn cap(managers: &mut Managers) {
    let mut updaters: Vec<(i64, Identity)> = managers
        .entries
        .iter()
        .filter(|(identity, _)| identity.operation == Operation::Update)
        .map(|(identity, entry)| (entry.seconds(), identity.clone()))
        .collect();
    updaters.sort();
    let mut count = updaters.len();
    let mut first_of_version: BTreeMap<String, Identity> = BTreeMap::new();
    for (_, identity) in updaters {
        if count <= MAX_UPDATERS {
            return;
        }
        let Some(version) = managers.entries.get(&identity).map(|entry| entry.api_version.clone()) else {
            continue;
        };
        let Some(first) = first_of_version.get(&version) else {
            first_of_version.insert(version, identity);
            continue;
        };
        let bucket = Identity::new(FOLDED, Operation::Update, "", &version);
        let older =
            if managers.entries.contains_key(&bucket) && identity != bucket { &bucket } else { first };
        if fold(managers, &older.clone(), &identity, &bucket) {
            count -= 1;
        }
    }
}

/// Unites two entries into the bucket, which gets the time of the newer one.
fn fold(managers: &mut Managers, older: &Identity, newer: &Identity, bucket: &Identity) -> bool {
    if older == newer {
        return false;
    }
    let (Some(older), Some(newer)) = (managers.entries.remove(older), managers.entries.remove(newer)) else {
        return false;
    };
    let entry = Entry { set: older.set.union(&newer.set), api_version: newer.api_version, time: newer.time };
    managers.entries.insert(bucket.clone(), entry);
    true
}
