//! The published collections, one per kind, and putting publications there.

use std::sync::Arc;

use aggregated_apiserver::{
    Collection, CollectionOptions, DefinitionError, ObjectKey, PublishError, VersionClock,
};
use thiserror::Error;

use super::{Series, definition};
use crate::inventory::{Publication, Resource, Urgency};

/// Why an object could not be shown.
#[derive(Debug, Error)]
pub enum ShelfError {
    /// A kind's definition does not hold together.
    #[error("the definition of {kind} is refused")]
    Definition {
        /// The kind.
        kind: &'static str,
        /// Why.
        #[source]
        source: DefinitionError,
    },
    /// The machinery refused an object.
    #[error("a {kind} was refused")]
    Publish {
        /// The kind.
        kind: &'static str,
        /// Why.
        #[source]
        source: PublishError,
    },
}

/// One collection per kind.
#[derive(Debug, Clone)]
pub struct Shelves {
    /// Hypervisors.
    pub hypervisors: Arc<Collection>,
    /// Evictions.
    pub evictions: Arc<Collection>,
    /// Migrations.
    pub migrations: Arc<Collection>,
    /// OVSNodes.
    pub ovs_nodes: Arc<Collection>,
    /// What metrics tell of the objects.
    pub series: Arc<Series>,
}

impl Shelves {
    /// Empty collections, closed until [`Shelves::complete`].
    ///
    /// # Errors
    /// When a kind's definition does not hold together.
    pub fn new(clock: &Arc<VersionClock>) -> Result<Self, ShelfError> {
        let options = CollectionOptions { complete: false, ..CollectionOptions::default() };
        let shelf = |kind: &'static c5c3_api::kind::Kind| {
            Collection::new(definition(kind), Arc::clone(clock), options.clone())
                .map_err(|source| ShelfError::Definition { kind: kind.kind, source })
        };
        Ok(Self {
            hypervisors: shelf(&c5c3_api::hypervisor::KIND)?,
            evictions: shelf(&c5c3_api::eviction::KIND)?,
            migrations: shelf(&c5c3_api::migration::KIND)?,
            ovs_nodes: shelf(&c5c3_api::ovs_node::KIND)?,
            series: Arc::default(),
        })
    }

    /// All collections.
    pub fn all(&self) -> [&Arc<Collection>; 4] {
        [&self.hypervisors, &self.evictions, &self.migrations, &self.ovs_nodes]
    }

    /// Lets readers in: every host that exists is there.
    pub fn complete(&self) {
        for collection in self.all() {
            collection.complete();
        }
    }

    /// Carries a publication out.
    ///
    /// # Errors
    /// When the machinery refuses the object, which then stays as it was.
    pub fn put(&self, publication: Publication) -> Result<(), ShelfError> {
        match publication {
            Publication::Show { resource, urgency, object, revision } => {
                match resource {
                    Resource::Hypervisor => self.series.hypervisor(&object),
                    Resource::Eviction => self.series.eviction(&object),
                    Resource::Migration | Resource::OvsNode => {}
                }
                let (kind, collection) = self.of(resource);
                let outcome = match urgency {
                    Urgency::Change => collection.publish_from(object, revision).map(drop),
                    Urgency::Quiet => collection.amend_from(object, revision).map(drop),
                };
                outcome.map_err(|source| ShelfError::Publish { kind, source })
            }
            Publication::Withdraw { resource, namespace, name } => {
                match resource {
                    Resource::Hypervisor => self.series.hypervisor_gone(&name),
                    Resource::Eviction => self.series.eviction_gone(&name),
                    Resource::Migration | Resource::OvsNode => {}
                }
                self.of(resource).1.withdraw(&ObjectKey { namespace, name });
                Ok(())
            }
        }
    }

    fn of(&self, resource: Resource) -> (&'static str, &Arc<Collection>) {
        match resource {
            Resource::Hypervisor => ("Hypervisor", &self.hypervisors),
            Resource::Eviction => ("Eviction", &self.evictions),
            Resource::Migration => ("Migration", &self.migrations),
            Resource::OvsNode => ("OVSNode", &self.ovs_nodes),
        }
    }
}
