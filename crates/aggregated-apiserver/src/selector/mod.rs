//! Which objects a request is about: namespace, label selector, field selector.

mod field;
mod label;

pub(crate) use self::field::{FieldSelector, name_in};
pub(crate) use self::label::LabelSelector;

use crate::collection::PublishedObject;

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

    fn is_in_namespace(&self, object: &PublishedObject) -> bool {
        self.namespace.is_none() || self.namespace == object.key().namespace
    }
}
