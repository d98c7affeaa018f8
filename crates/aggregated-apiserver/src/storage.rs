//! What a resource plugs in to be written: where intent is stored, what is legal, which verbs have a meaning.
//!
//! The machinery does everything that is the same for all kinds: decoding, patches, ownership of fields, metadata, generations,
//! finalizers, preconditions, dry runs, answers. What is stored of an object, and what deleting it means, the program
//! decides in a [`Storage`]; what a good object is, in a [`Strategy`].

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::collection::{ObjectKey, Revision};
use crate::status::Cause;
use crate::version::ResourceVersion;

/// Stores what is wanted of the objects of one resource, and publishes it.
///
/// Objects come and go as JSON without `status` and `metadata.resourceVersion`. After a successful call the program
/// publishes the object from the new revision ([`Collection::publish_from`](crate::Collection::publish_from)); the writer is
/// answered when that has happened. A future that is dropped may or may not have had its effect.
pub trait Storage: Send + Sync {
    /// Stores a new object, durably. Fails with [`StorageError::Exists`] if there is one.
    fn create<'a>(
        &'a self,
        key: &'a ObjectKey,
        object: &'a Value,
    ) -> BoxFuture<'a, Result<Revision, StorageError>>;

    /// Stores `new` in the place of `old`, durably, if the store still has the expected revision.
    fn replace<'a>(
        &'a self,
        key: &'a ObjectKey,
        expected: &'a Revision,
        old: &'a Value,
        new: &'a Value,
    ) -> BoxFuture<'a, Result<Revision, StorageError>>;

    /// Removes the object, durably, if the store still has the expected revision.
    fn remove<'a>(
        &'a self,
        key: &'a ObjectKey,
        expected: &'a Revision,
        object: &'a Value,
    ) -> BoxFuture<'a, Result<(), StorageError>>;
}

/// Why the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The store has another revision than expected: somebody else has written.
    #[error("the store has another revision")]
    Conflict,
    /// There is an object already.
    #[error("there is such an object")]
    Exists,
    /// It is refused for a reason that the client can do something about; 403.
    #[error("refused: {0}")]
    Forbidden(String),
    /// The object is larger than the store takes; 413.
    #[error("too large: {0}")]
    TooLarge(String),
    /// There is no room; 507.
    #[error("no room: {0}")]
    Full(String),
    /// It cannot be done now, but perhaps later; 503.
    #[error("not now: {0}")]
    Unavailable(String),
    /// A fault, of which the client is told the text only; 500.
    #[error("{operation}")]
    Fault {
        /// What failed, for the client.
        operation: String,
        /// Why, for the log.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// What a good object is, beyond its schema.
pub trait Strategy: Send + Sync {
    /// Fills in what a writer left out, before the defaults of the schema.
    fn fill(&self, _key: &ObjectKey, _object: &mut Value) {}

    /// True if who creates an object also owns the defaults of the fields that it left out, as in kube-apiserver.
    fn owns_defaults(&self) -> bool {
        true
    }

    /// What is wrong with an object of this name.
    fn validate(&self, _object: &Value) -> Vec<Cause> {
        Vec::new()
    }

    /// What is wrong with changing one object to another, besides what is wrong with the other.
    fn validate_update(&self, _old: &Value, _new: &Value) -> Vec<Cause> {
        Vec::new()
    }

    /// What a writer should know about an object that is good.
    fn warnings(&self, _object: &Value) -> Vec<String> {
        Vec::new()
    }
}

/// Nothing but the schema.
#[derive(Clone, Copy, Debug, Default)]
pub struct SchemaOnly;

impl Strategy for SchemaOnly {}

/// What other replicas had heard of the store when they gave out a version.
pub trait Replicas: Send + Sync {
    /// True if it is certain that the replica of the version's slot had applied this revision of the object, or a later one,
    /// before it issued the version.
    fn had_applied(&self, version: ResourceVersion, key: &ObjectKey, revision: &Revision) -> bool;
}

/// Nothing is known of other replicas: what was read there is read again here before it is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoReplicas;

impl Replicas for NoReplicas {
    fn had_applied(&self, _: ResourceVersion, _: &ObjectKey, _: &Revision) -> bool {
        false
    }
}

/// Which writing verbs a resource has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteVerbs {
    /// POST, and PATCH that creates.
    pub create: bool,
    /// PUT and PATCH.
    pub update: bool,
    /// DELETE of one and of many.
    pub delete: bool,
}

impl WriteVerbs {
    /// All of them.
    pub const ALL: Self = Self { create: true, update: true, delete: true };

    /// As discovery names them, in its order.
    pub(crate) fn names(self) -> Vec<&'static str> {
        let all = [
            (self.create, "create"),
            (self.delete, "delete"),
            (self.delete, "deletecollection"),
            (self.update, "patch"),
            (self.update, "update"),
        ];
        all.into_iter().filter(|(has, _)| *has).map(|(_, name)| name).collect()
    }
}

/// How a resource is written.
#[derive(Clone)]
pub struct Writing {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) strategy: Arc<dyn Strategy>,
    pub(crate) replicas: Arc<dyn Replicas>,
    pub(crate) verbs: WriteVerbs,
    pub(crate) garbage_collected: bool,
    pub(crate) reserved_managers: Vec<String>,
}

impl Writing {
    /// All verbs, with nothing but the schema to check.
    pub fn new(storage: Arc<dyn Storage>) -> Self {
        Self {
            storage,
            strategy: Arc::new(SchemaOnly),
            replicas: Arc::new(NoReplicas),
            verbs: WriteVerbs::ALL,
            garbage_collected: true,
            reserved_managers: Vec::new(),
        }
    }

    /// The same with rules beyond the schema.
    #[must_use]
    pub fn strategy(mut self, strategy: Arc<dyn Strategy>) -> Self {
        self.strategy = strategy;
        self
    }

    /// The same with some verbs only.
    #[must_use]
    pub fn verbs(mut self, verbs: WriteVerbs) -> Self {
        self.verbs = verbs;
        self
    }

    /// The same with what is known of other replicas.
    #[must_use]
    pub fn replicas(mut self, replicas: Arc<dyn Replicas>) -> Self {
        self.replicas = replicas;
        self
    }

    /// The same, keeping a name of a field manager for the program itself. See `metadata.managedFields`.
    #[must_use]
    pub fn reserved_manager(mut self, name: &str) -> Self {
        self.reserved_managers.push(name.to_owned());
        self
    }

    /// The same, saying whether a garbage collector watches. Without one, `Foreground` and `Orphan` are like
    /// `Background`: nobody would ever take their finalizers away.
    #[must_use]
    pub fn garbage_collected(mut self, garbage_collected: bool) -> Self {
        self.garbage_collected = garbage_collected;
        self
    }
}

impl fmt::Debug for Writing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Writing")
            .field("verbs", &self.verbs)
            .field("garbage_collected", &self.garbage_collected)
            .finish_non_exhaustive()
    }
}
