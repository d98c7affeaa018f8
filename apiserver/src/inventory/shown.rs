//! What was published last, as little of it as the next merge needs.

use std::collections::BTreeMap;

use c5c3_api::eviction::EvictionStatus;
use c5c3_api::hypervisor::HypervisorStatus;
use c5c3_api::ovs_node::OVSNodeStatus;
use jiff::Timestamp;
use uuid::Uuid;

use crate::merge::{Digests, EarlierMigration};

/// What was published last, by kind and name.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) hypervisors: BTreeMap<String, (Digests, HypervisorStatus)>,
    pub(super) ovs_nodes: BTreeMap<String, (Digests, OVSNodeStatus)>,
    pub(super) evictions: BTreeMap<String, (Digests, EvictionStatus)>,
    pub(super) migrations: BTreeMap<Uuid, ShownMigration>,
}

/// What was published last of a migration.
#[derive(Debug, Clone)]
pub(super) struct ShownMigration {
    pub(super) digests: Digests,
    /// What the same migration keeps.
    pub(super) earlier: EarlierMigration,
    /// When the last of its ends was seen ended, if all are.
    pub(super) ended: Option<Timestamp>,
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
