//! What was published last, as little of it as the next merge needs.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use c5c3_api::eviction::EvictionStatus;
use c5c3_api::hypervisor::HypervisorStatus;
use c5c3_api::ovs_node::OVSNodeStatus;
use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use crate::merge;

/// Digests of what watchers saw last of one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digests {
    /// Of its meaning.
    pub(super) meaning: u64,
    /// Of its counters and meaning, without ages.
    pub(super) counters: u64,
}

/// What was published last, by kind and name.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) hypervisors: BTreeMap<String, (Digests, HypervisorStatus)>,
    pub(super) ovs_nodes: BTreeMap<String, (Digests, OVSNodeStatus)>,
    pub(super) evictions: BTreeMap<String, (Digests, EvictionStatus)>,
    pub(super) migrations: BTreeMap<Uuid, ShownMigration>,
}

/// What was published last of a migration.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShownMigration {
    pub(super) digests: Digests,
    /// When it began: the same migration keeps that.
    pub(super) began: Timestamp,
    /// When the last of its ends was seen ended, if all are.
    pub(super) ended: Option<Timestamp>,
}

impl Digests {
    /// The digests of an object.
    pub(super) fn of(object: &Value) -> Self {
        let mut aged = object.clone();
        let sources = aged.pointer_mut("/status/sources").and_then(Value::as_array_mut);
        for source in sources.into_iter().flatten().filter_map(Value::as_object_mut) {
            source.remove("observedAt");
        }
        Self { meaning: digest(&merge::meaning(object)), counters: digest(&aged) }
    }
}

fn digest(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.to_string().hash(&mut hasher);
    hasher.finish()
}

/// The part of a status that the next merge carries over.
pub(super) fn remembered(status: &HypervisorStatus) -> HypervisorStatus {
    HypervisorStatus {
        conditions: status.conditions.clone(),
        findings: status.findings.clone(),
        ..HypervisorStatus::default()
    }
}

/// The part of a status that the next merge carries over.
pub(super) fn remembered_switch(status: &OVSNodeStatus) -> OVSNodeStatus {
    OVSNodeStatus {
        conditions: status.conditions.clone(),
        findings: status.findings.clone(),
        issues: status.issues.clone(),
        ..OVSNodeStatus::default()
    }
}
