//! Which objects a request is about: namespace, label selector, field selector.

mod field;
mod label;

pub(crate) use self::field::{FieldSelector, name_in};
pub(crate) use self::label::LabelSelector;

use std::sync::Arc;

use crate::collection::{Event, EventKind, PublishedObject};

/// Most conditions of a selector: each is looked at for each object and each event.
const MOST_CONDITIONS: usize = 200;

/// All conditions of a list or a watch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Filter {
    pub(crate) namespace: Option<String>,
    pub(crate) labels: LabelSelector,
    pub(crate) fields: FieldSelector,
}

impl Filter {
    pub(crate) fn matches(&self, object: &PublishedObject) -> bool {
        self.is_in_namespace(object) && self.labels.matches(object.labels()) && self.fields.matches(object)
    }

    /// What an event is to a watch: an object that begins to match is new, one that ceases to is gone.
    pub(crate) fn seen(&self, event: &Event) -> Option<(EventKind, Arc<PublishedObject>)> {
        let after = self.matches(&event.object);
        if event.kind == EventKind::Deleted {
            return after.then(|| (EventKind::Deleted, event.object.clone()));
        }
        let before = match (&event.previous, event.kind) {
            (_, EventKind::Added) => false,
            (None, _) => after,
            (Some(previous), _) => self.matches(previous),
        };
        match (before, after) {
            (true, true) => Some((EventKind::Modified, event.object.clone())),
            (false, true) => Some((EventKind::Added, event.object.clone())),
            (true, false) => {
                let last = event.previous.as_ref()?;
                let (_, gone) = last.reissued(event.version, EventKind::Deleted);
                Some((EventKind::Deleted, Arc::new(gone)))
            }
            (false, false) => None,
        }
    }

    fn is_in_namespace(&self, object: &PublishedObject) -> bool {
        self.namespace.is_none() || self.namespace == object.key().namespace
    }
}

#[cfg(test)]
mod tests;
