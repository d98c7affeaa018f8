//! What the spec of each host is as long as nobody wants anything else: defaults, and what its Node says.
//!
//! The inventory's task tells it here, so that the write path can tell what a writer wants from what is there anyway.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{PoisonError, RwLock};

use serde_json::Value;

use crate::merge::base_spec;
use crate::sources::picture::NodePicture;

/// The base of every host.
#[derive(Debug, Default)]
pub struct Bases {
    configured: BTreeSet<String>,
    of_nodes: RwLock<BTreeMap<String, Value>>,
}

impl Bases {
    /// Bases where these hosts exist whether anybody wants something of them or not.
    pub fn new(configured: impl IntoIterator<Item = String>) -> Self {
        Self { configured: configured.into_iter().collect(), of_nodes: RwLock::default() }
    }

    /// A host has this Node.
    pub fn set(&self, host: &str, node: &NodePicture) {
        let base = base_spec(Some(node));
        self.of_nodes.write().unwrap_or_else(PoisonError::into_inner).insert(host.to_owned(), base);
    }

    /// A host has no Node any more.
    pub fn remove(&self, host: &str) {
        self.of_nodes.write().unwrap_or_else(PoisonError::into_inner).remove(host);
    }

    /// The spec of a host of which nobody wants anything.
    pub fn spec(&self, host: &str) -> Value {
        let of_nodes = self.of_nodes.read().unwrap_or_else(PoisonError::into_inner);
        of_nodes.get(host).cloned().unwrap_or_else(|| base_spec(None))
    }

    /// Whether a host exists without anybody's intent.
    pub fn exists(&self, host: &str) -> bool {
        let has_node = self.of_nodes.read().unwrap_or_else(PoisonError::into_inner).contains_key(host);
        has_node || self.configured.contains(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_the_base_of_its_node_or_the_defaults() {
        let bases = Bases::new(["listed".to_owned()]);
        assert_eq!(bases.spec("a")["lifecycleEnabled"], true);
        assert!(bases.exists("listed") && !bases.exists("a"));
        bases.set("a", &NodePicture::default());
        assert_eq!(bases.spec("a")["lifecycleEnabled"], false);
        assert!(bases.exists("a"));
        bases.remove("a");
        assert!(!bases.exists("a"));
    }
}
