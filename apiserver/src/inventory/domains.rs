//! Where domains are: on one host, on their way to another, or on two at once, which is trouble.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::Inventory;
use crate::sources::observation::Observation;
use crate::sources::picture::LibvirtPicture;

/// `virDomainState` of a running domain.
const RUNNING: i32 = 1;

/// How long after a migration the two hosts may still tell different stories of where the domain runs.
const SETTLING: SignedDuration = SignedDuration::from_secs(15);

impl Inventory {
    /// Keeps the index of active domains and finds the migrations and other hosts that a new picture touches.
    pub(super) fn touch_domains(
        &mut self,
        name: &str,
        before: &Observation<LibvirtPicture>,
        after: &Observation<LibvirtPicture>,
    ) {
        let (old, new) = (before.value(), after.value());
        let same = old.zip(new).is_some_and(|(old, new)| Arc::ptr_eq(&old.domains, &new.domains));
        if !same {
            let active = |picture: Option<&LibvirtPicture>, uuid: &Uuid| {
                picture.and_then(|picture| picture.domains.get(uuid)).is_some_and(|domain| domain.active)
            };
            let named = |picture: Option<&LibvirtPicture>| -> Vec<Uuid> {
                picture.map(|picture| picture.domains.keys().copied().collect()).unwrap_or_default()
            };
            let host: Arc<str> = name.into();
            for uuid in named(new).iter().filter(|uuid| active(new, uuid) && !active(old, uuid)) {
                self.active.came(*uuid, &host);
                self.moved(*uuid, name);
            }
            for uuid in named(old).iter().filter(|uuid| active(old, uuid) && !active(new, uuid)) {
                self.active.went(*uuid, name);
                self.moved(*uuid, name);
            }
        }
        let none = BTreeMap::new();
        let jobs = |picture: Option<&'_ LibvirtPicture>| picture.map(|picture| picture.jobs.clone());
        let (old, new) = (jobs(old).unwrap_or(none.clone()), jobs(new).unwrap_or(none));
        let changed = old.keys().chain(new.keys()).filter(|uuid| old.get(*uuid) != new.get(*uuid));
        self.touched.migrations.extend(changed);
    }

    /// The other hosts of a domain learn that it came or went, and a finished migration of where its domain is now.
    fn moved(&mut self, uuid: Uuid, host: &str) {
        let others = self.active.hosts(uuid).filter(|other| ***other != *host).map(ToString::to_string);
        self.touched.hypervisors.extend(others);
        if self.shown.migrations.contains_key(&uuid) {
            self.touched.migrations.insert(uuid);
        }
    }

    /// Domains that run on `name` and on other hosts too, without a migration that explains it.
    ///
    /// Only hosts whose libvirt answers count: what one said before it fell silent proves nothing about now.
    pub(super) fn active_elsewhere(&self, name: &str, now: Timestamp) -> BTreeMap<Uuid, Vec<String>> {
        let Some(picture) = self.hosts.get(name).and_then(|entry| entry.libvirt.value()) else {
            return BTreeMap::new();
        };
        let mut found = BTreeMap::new();
        for uuid in picture.domains.keys() {
            let hosts = || self.active.hosts(*uuid);
            if hosts().nth(1).is_none()
                || !self.runs(name, *uuid)
                || hosts().any(|host| self.is_moving(host, *uuid, now))
            {
                continue;
            }
            let others = hosts().filter(|host| ***host != *name && self.runs(host, *uuid));
            let others: Vec<String> = others.map(ToString::to_string).collect();
            if !others.is_empty() {
                found.insert(*uuid, others);
            }
        }
        found
    }

    /// Whether a host that answers says that it runs the domain.
    fn runs(&self, host: &str, uuid: Uuid) -> bool {
        let Some(libvirt) = self.hosts.get(host).map(|entry| &entry.libvirt) else { return false };
        let domain = libvirt.value().filter(|_| libvirt.is_connected()).and_then(|it| it.domains.get(&uuid));
        domain.is_some_and(|domain| domain.active && domain.state == RUNNING)
    }

    /// Whether a host says that the domain is coming or going, or was a moment ago.
    fn is_moving(&self, host: &str, uuid: Uuid, now: Timestamp) -> bool {
        let libvirt = self.hosts.get(host).and_then(|entry| entry.libvirt.value());
        let job = libvirt.and_then(|libvirt| libvirt.jobs.get(&uuid));
        job.is_some_and(|job| job.ended.is_none_or(|ended| now.duration_since(ended) < SETTLING))
    }

    /// Has migrations that ended long ago looked at again, so that they go even when nothing else happens.
    pub fn touch_expired(&mut self, now: Timestamp) {
        let over = self
            .shown
            .migrations
            .iter()
            .filter(|(_, shown)| shown.ended.is_some_and(|ended| self.is_expired(ended, now)));
        let over: Vec<Uuid> = over.map(|(uuid, _)| *uuid).collect();
        self.touched.migrations.extend(over);
    }

    /// Whether a migration that ended then is not shown any more.
    pub(super) fn is_expired(&self, ended: Timestamp, now: Timestamp) -> bool {
        let kept = SignedDuration::try_from(self.rules.migrations_kept).unwrap_or(SignedDuration::MAX);
        now.duration_since(ended) >= kept
    }
}
