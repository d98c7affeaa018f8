//! Objects that have to be computed again, each once however often it was touched.

use std::collections::BTreeSet;

use uuid::Uuid;

/// Objects to compute again.
#[derive(Debug, Default)]
pub(super) struct Touched {
    pub(super) gone: BTreeSet<String>,
    pub(super) hypervisors: BTreeSet<String>,
    pub(super) switches: BTreeSet<String>,
    pub(super) evictions: BTreeSet<String>,
    pub(super) migrations: BTreeSet<Uuid>,
}

/// One of them.
#[derive(Debug)]
pub(super) enum Touch {
    /// All objects of a host that is not there any more.
    Gone(String),
    /// The Hypervisor of a host.
    Hypervisor(String),
    /// The OVSNode of a host.
    Switch(String),
    /// The Eviction of that name.
    Eviction(String),
    /// The Migration of a domain.
    Migration(Uuid),
}

impl Touched {
    pub(super) fn is_empty(&self) -> bool {
        let names = [&self.gone, &self.hypervisors, &self.switches, &self.evictions];
        names.iter().all(|names| names.is_empty()) && self.migrations.is_empty()
    }

    /// The next one. What is gone comes first: another of its name may have come since.
    pub(super) fn pop(&mut self) -> Option<Touch> {
        let migrations = &mut self.migrations;
        (self.gone.pop_first().map(Touch::Gone))
            .or_else(|| self.hypervisors.pop_first().map(Touch::Hypervisor))
            .or_else(|| self.switches.pop_first().map(Touch::Switch))
            .or_else(|| self.evictions.pop_first().map(Touch::Eviction))
            .or_else(|| migrations.pop_first().map(Touch::Migration))
    }
}
