//! What is computed once for a resource that can be written.

use std::fmt;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use tokio::sync::{Mutex, MutexGuard};

use super::validation::Checked;
use crate::collection::ObjectKey;
use crate::definition::ResourceDefinition;
use crate::storage::Writing;

/// Locks for all names of a resource. Two names may share one, which costs nothing but a little patience.
const LOCKS: usize = 64;

/// How a resource is written, with its schema ready for use.
pub(crate) struct Prepared {
    pub(crate) writing: Writing,
    pub(super) checked: Checked,
    pub(super) ownership: server_side_apply::Schema,
    locks: Vec<Mutex<()>>,
}

/// Why a resource cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// A pattern of its schema is no regular expression.
    #[error("a pattern of the schema cannot be used")]
    Pattern(#[source] Box<regex::Error>),
    /// Its schema does not say who may own what.
    #[error("the schema cannot be used for server-side apply")]
    Ownership(#[source] server_side_apply::SchemaError),
}

impl Prepared {
    pub(crate) fn new(writing: Writing, definition: &ResourceDefinition) -> Result<Self, PrepareError> {
        let checked =
            Checked::new(&definition.schema).map_err(|error| PrepareError::Pattern(Box::new(error)))?;
        let ownership = server_side_apply::Schema::new(&definition.schema)
            .map_err(PrepareError::Ownership)?
            .with_kind(&definition.kind)
            .with_reset("", &[&["status"]]);
        let locks = std::iter::repeat_with(Mutex::default).take(LOCKS).collect();
        Ok(Self { writing, checked, ownership, locks })
    }

    /// Writers of one object on this replica take turns, instead of losing races to each other.
    pub(super) async fn turn(&self, key: &ObjectKey) -> Option<MutexGuard<'_, ()>> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(key);
        let index = usize::try_from(hash % (LOCKS as u64)).unwrap_or_default();
        match self.locks.get(index) {
            Some(lock) => Some(lock.lock().await),
            None => None,
        }
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Prepared").field("verbs", &self.writing.verbs).finish_non_exhaustive()
    }
}
