//! Which of an object's versions show what is wanted now.
//!
//! The status of a live object moves its version all the time, so a version alone says nothing about whether somebody has
//! changed their mind since. For each object it is remembered from which version on the present intent has been shown: a
//! writer who has read that version, or any later one of this replica, has seen all there is to see.

use std::fmt;
use std::sync::Arc;

use super::PublishedObject;
use super::encode::Draft;
use crate::version::ResourceVersion;

/// A state of what is stored for one object: a token of the store, compared for equality only. Empty when nothing is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Revision(Arc<str>);

impl Revision {
    /// From the store's token.
    pub fn new(token: &str) -> Self {
        Self(token.into())
    }

    /// The store's token.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True when nothing is stored.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A published object and the revision that it shows.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) object: Arc<PublishedObject>,
    pub(crate) revision: Revision,
    /// The first version that showed it.
    pub(crate) since: ResourceVersion,
}

/// What is remembered with an object.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) revision: Revision,
    pub(super) since: ResourceVersion,
    digest: [u8; 32],
}

impl Shown {
    /// What a draft leads to that is published under a version.
    pub(super) fn next(
        earlier: Option<Self>,
        draft: &Draft,
        revision: Revision,
        version: ResourceVersion,
    ) -> Self {
        match earlier {
            Some(earlier) if earlier.is(draft, &revision) => earlier,
            _ => Self { revision, since: version, digest: draft.wanted },
        }
    }

    /// True when a draft wants the same, from the same revision.
    pub(super) fn is(&self, draft: &Draft, revision: &Revision) -> bool {
        self.digest == draft.wanted && self.revision == *revision
    }
}
