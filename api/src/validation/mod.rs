//! Validation: what is wrong with a spec, field by field, as a list.
//!
//! Pure and total: any value that has the right types can be asked, nothing panics, and all errors come at once. The
//! rules that a CRD can state are in the schema too, from the same constants.

mod error;
mod name;

pub use error::{ErrorKind, FieldError, FieldPath};
pub use name::{validate_label_key, validate_label_value, validate_namespace, validate_object_name};

/// A rule in CEL, with the message that says it is broken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub(crate) cel: &'static str,
    pub(crate) message: &'static str,
}
