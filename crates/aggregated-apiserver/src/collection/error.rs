//! Why an object cannot be published.
//!
//! What is refused here would confuse clients for ever: an object without a UID is taken for another one after each
//! restart, labels that are not text cannot be selected on.

use crate::collection::ObjectKey;

/// Why an object cannot be published.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PublishError {
    /// It is not a JSON object.
    #[error("a {kind} must be a JSON object")]
    NotAnObject {
        /// Kind of the resource.
        kind: String,
    },
    /// `apiVersion` or `kind` is there and is another one.
    #[error("{field} is {found:?}, this collection holds {expected:?}")]
    OtherKind {
        /// Which of the two.
        field: &'static str,
        /// Its value.
        found: String,
        /// What it must be, or absent.
        expected: String,
    },
    /// `metadata.name` is absent, empty or not a legal part of a path.
    #[error("a {kind} has no legal metadata.name: {found:?}")]
    Name {
        /// Kind of the resource.
        kind: String,
        /// What was there.
        found: String,
    },
    /// `metadata.namespace` is absent from an object of a namespaced resource, or present in another.
    #[error("{key}: metadata.namespace does not fit the scope of the resource")]
    Namespace {
        /// The object.
        key: ObjectKey,
    },
    /// `metadata.uid` is absent or empty.
    #[error("{key}: metadata.uid is missing")]
    Uid {
        /// The object.
        key: ObjectKey,
    },
    /// `metadata.labels` is not an object of strings.
    #[error("{key}: metadata.labels must be an object of strings")]
    Labels {
        /// The object.
        key: ObjectKey,
    },
}
