//! What the cloud said anew, and of which hosts: thousands are named in one answer, and few of them are another than before.

use std::collections::BTreeMap;

use super::Inventory;
use crate::sources::observation::Observation;
use crate::sources::picture::{ComputePicture, MembershipPicture};

impl Inventory {
    /// Touches the hosts of which Nova says something else than before.
    pub(super) fn touch_by_compute(&mut self, before: &Observation<ComputePicture>) {
        if before.health != self.compute.health {
            self.touch_all();
            return;
        }
        let empty = ComputePicture::default();
        let (old, new) = (before.value().unwrap_or(&empty), self.compute.value().unwrap_or(&empty));
        let mut hosts = changed(&old.hypervisors, &new.hypervisors);
        hosts.extend(changed(&old.services, &new.services));
        self.touch_nova_hosts(&hosts);
    }

    /// Touches the hosts of whose aggregates or traits something else is said than before.
    pub(super) fn touch_by_memberships(&mut self, before: &Observation<MembershipPicture>) {
        if before.health != self.memberships.health
            || before.value.is_none() != self.memberships.value.is_none()
        {
            self.touch_all();
            return;
        }
        let empty = MembershipPicture::default();
        let (old, new) = (before.value().unwrap_or(&empty), self.memberships.value().unwrap_or(&empty));
        let mut hosts = changed(&old.aggregates, &new.aggregates);
        let providers = changed(&old.traits, &new.traits);
        if !providers.is_empty() {
            let compute = self.compute.value();
            let known = compute.iter().flat_map(|compute| &compute.hypervisors);
            let of = known.filter(|(_, hypervisor)| providers.contains(&hypervisor.id));
            hosts.extend(of.map(|(host, _)| host.clone()));
        }
        self.touch_nova_hosts(&hosts);
    }

    /// Touches the hosts whose compute services have these host names.
    fn touch_nova_hosts(&mut self, names: &[String]) {
        if names.is_empty() {
            return;
        }
        let renamed: BTreeMap<&str, &str> = self.rules.hosts.renamed().collect();
        let host = |name: &String| renamed.get(name.as_str()).copied().unwrap_or(name).to_owned();
        let hosts: Vec<String> =
            names.iter().map(host).filter(|host| self.hosts.contains_key(host)).collect();
        for host in hosts {
            self.touch_evictions_of(&host);
            self.touched.by_cloud.insert(host);
        }
    }
}

/// Keys under which the two say different things.
fn changed<V: PartialEq>(old: &BTreeMap<String, V>, new: &BTreeMap<String, V>) -> Vec<String> {
    let came = new.iter().filter(|(key, value)| old.get(*key) != Some(value)).map(|(key, _)| key);
    let went = old.keys().filter(|key| !new.contains_key(*key));
    came.chain(went).cloned().collect()
}
