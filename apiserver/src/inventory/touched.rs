//! Objects that have to be computed again, each once however often it was touched.
//!
//! What happened on a host comes first. What the cloud said about thousands of hosts at once, and counters and ages that
//! merely moved, wait for their turn: an event must not stand behind them.

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
    /// Hypervisors of which the cloud may have said something.
    pub(super) by_cloud: BTreeSet<String>,
    /// Hosts whose counters and ages are due to be shown.
    pub(super) due: BTreeSet<String>,
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
    /// Counters and ages of a host.
    Due(String),
}

impl Touched {
    /// Whether something happened that should be seen at once.
    pub(super) fn is_urgent(&self) -> bool {
        let names = [&self.gone, &self.hypervisors, &self.switches, &self.evictions];
        names.iter().any(|names| !names.is_empty()) || !self.migrations.is_empty()
    }

    /// Whether something waits for its turn.
    pub(super) fn is_patient(&self) -> bool {
        !self.by_cloud.is_empty() || !self.due.is_empty()
    }

    /// The next one that is urgent. What is gone comes first: another of its name may have come since.
    pub(super) fn pop(&mut self) -> Option<Touch> {
        let migrations = &mut self.migrations;
        let hypervisors = &mut self.hypervisors;
        (self.gone.pop_first().map(Touch::Gone))
            .or_else(|| hypervisors.pop_first().map(Touch::Hypervisor))
            .or_else(|| self.switches.pop_first().map(Touch::Switch))
            .or_else(|| self.evictions.pop_first().map(Touch::Eviction))
            .or_else(|| migrations.pop_first().map(Touch::Migration))
            .inspect(|touch| {
                if let Touch::Hypervisor(name) = touch {
                    self.by_cloud.remove(name);
                }
            })
    }

    /// The next one that waits for its turn.
    pub(super) fn pop_patient(&mut self) -> Option<Touch> {
        (self.by_cloud.pop_first().map(Touch::Hypervisor)).or_else(|| self.due.pop_first().map(Touch::Due))
    }
}
