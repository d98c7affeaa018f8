//! The inspectors of all hosts, for whoever answers questions about one.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use super::inspection::Inspector;

/// Inspectors by host.
#[derive(Debug, Default)]
pub struct Inspectors {
    hosts: RwLock<BTreeMap<String, Inspector>>,
}

impl Inspectors {
    /// Makes the inspector of a host known in place of an earlier one; `None`: its libvirt is not read.
    pub fn set(&self, host: &str, inspector: Option<Inspector>) {
        let mut hosts = self.hosts.write().unwrap_or_else(PoisonError::into_inner);
        match inspector {
            Some(inspector) => drop(hosts.insert(host.to_owned(), inspector)),
            None => drop(hosts.remove(host)),
        }
    }

    /// That of a host.
    pub fn of(&self, host: &str) -> Option<Inspector> {
        self.hosts.read().unwrap_or_else(PoisonError::into_inner).get(host).cloned()
    }
}
