//! What a client asked to hear about, and the messages that a change becomes.

use std::collections::BTreeMap;

use libvirt_rpc::wire::{List, Procedure, encode};
use libvirt_rpc::{EventKind, TypedValue};
use uuid::Uuid;

use super::domain_calls::domain_ref;
use super::failure::Failure;
use super::jobs;
use crate::model::HostChange;

/// Highest `virDomainEventID` that the simulated daemon knows.
const EVENT_ID_MAX: i32 = 26;

/// The callbacks of one client.
#[derive(Debug, Default)]
pub(super) struct Registrations {
    next: i32,
    callbacks: BTreeMap<i32, Callback>,
}

#[derive(Debug)]
struct Callback {
    kind: EventKind,
    domain: Option<Uuid>,
}

impl Registrations {
    /// Registers, for one domain or for all; gives the callback's id.
    pub(super) fn add(&mut self, kind: i32, domain: Option<Uuid>) -> Result<i32, Failure> {
        if !(0..=EVENT_ID_MAX).contains(&kind) {
            return Err(Failure::UnknownEvent(kind));
        }
        let id = self.next;
        self.next += 1;
        self.callbacks.insert(id, Callback { kind: EventKind::from_raw(kind), domain });
        Ok(id)
    }

    /// Takes a registration back.
    pub(super) fn remove(&mut self, id: i32) -> Result<(), Failure> {
        self.callbacks.remove(&id).map(|_| ()).ok_or(Failure::UnknownCallback(id))
    }

    /// The callback that wants events of that kind about that domain.
    fn wanted(&self, kind: EventKind, domain: Uuid) -> Option<i32> {
        let mut callbacks = self.callbacks.iter();
        callbacks
            .find(|(_, callback)| {
                callback.kind == kind && callback.domain.is_none_or(|wanted| wanted == domain)
            })
            .map(|(id, _)| *id)
    }
}

/// The message that tells a client of `change`, if it wants to hear of it.
pub(super) fn message(registrations: &Registrations, change: &HostChange) -> Option<(Procedure, Vec<u8>)> {
    match change {
        HostChange::Domain(happened) => {
            let id = registrations.wanted(EventKind::Lifecycle, happened.domain.uuid)?;
            let payload = encode(&(id, domain_ref(&happened.domain), happened.event, happened.detail));
            Some((Procedure::EventLifecycle, payload))
        }
        HostChange::MigrationIteration { domain, iteration } => {
            let id = registrations.wanted(EventKind::MigrationIteration, domain.uuid)?;
            Some((Procedure::EventMigrationIteration, encode(&(id, domain_ref(domain), *iteration))))
        }
        HostChange::JobCompleted(domain) => {
            let id = registrations.wanted(EventKind::JobCompleted, domain.uuid)?;
            let params = domain.job.as_ref().map(jobs::params).unwrap_or_default();
            let params: List<(String, TypedValue), 64> = List(params.0);
            Some((Procedure::EventJobCompleted, encode(&(id, domain_ref(domain), params))))
        }
        HostChange::Switch | HostChange::Faults => None,
    }
}
