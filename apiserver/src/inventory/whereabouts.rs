//! On which hosts each active domain is: nearly always on one, on two while it moves, or in trouble.
//!
//! Half a million domains are kept here, so the usual case is one shared name and nothing else.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use uuid::Uuid;

/// Hosts by active domain.
#[derive(Debug, Default)]
pub(super) struct Whereabouts {
    places: HashMap<Uuid, Place>,
}

#[derive(Debug)]
enum Place {
    One(Arc<str>),
    Many(BTreeSet<Arc<str>>),
}

impl Whereabouts {
    /// The domain is active on the host.
    pub(super) fn came(&mut self, domain: Uuid, host: &Arc<str>) {
        let place = self.places.entry(domain).or_insert_with(|| Place::One(Arc::clone(host)));
        match place {
            Place::One(known) if known == host => {}
            Place::One(known) => {
                *place = Place::Many([Arc::clone(known), Arc::clone(host)].into());
            }
            Place::Many(hosts) => drop(hosts.insert(Arc::clone(host))),
        }
    }

    /// It is not any more.
    pub(super) fn went(&mut self, domain: Uuid, host: &str) {
        let left = match self.places.get_mut(&domain) {
            Some(Place::One(known)) if **known == *host => None,
            Some(Place::Many(hosts)) => {
                hosts.remove(host);
                match hosts.len() {
                    0 => None,
                    1 => hosts.pop_first().map(Place::One),
                    _ => return,
                }
            }
            _ => return,
        };
        match left {
            Some(place) => drop(self.places.insert(domain, place)),
            None => drop(self.places.remove(&domain)),
        }
    }

    /// The hosts, in the order of their names.
    pub(super) fn hosts(&self, domain: Uuid) -> impl Iterator<Item = &Arc<str>> {
        let (one, many) = match self.places.get(&domain) {
            Some(Place::One(host)) => (Some(host), None),
            Some(Place::Many(hosts)) => (None, Some(hosts)),
            None => (None, None),
        };
        one.into_iter().chain(many.into_iter().flat_map(|hosts| hosts.iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_that_moves_is_on_two_hosts_and_then_on_one() {
        let domain = Uuid::from_u128(1);
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let mut whereabouts = Whereabouts::default();
        whereabouts.came(domain, &b);
        whereabouts.came(domain, &b);
        whereabouts.came(domain, &a);
        assert_eq!(whereabouts.hosts(domain).map(|host| &**host).collect::<Vec<_>>(), ["a", "b"]);
        whereabouts.went(domain, "c");
        whereabouts.went(domain, "b");
        assert_eq!(whereabouts.hosts(domain).map(|host| &**host).collect::<Vec<_>>(), ["a"]);
        whereabouts.went(domain, "a");
        assert_eq!(whereabouts.hosts(domain).count(), 0);
        assert!(whereabouts.places.is_empty());
    }
}
