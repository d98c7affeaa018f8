//! The rules of an Eviction's spec.

use super::EvictionSpec;
use crate::validation::{ErrorKind, FieldError, FieldPath};

/// The rules as they stand in the schema.
pub(super) mod rule {
    use crate::validation::Rule;

    pub(in super::super) const IMMUTABLE: Rule =
        Rule { cel: "self == oldSelf", message: "Value is immutable" };
}

/// What is wrong with this spec.
#[must_use]
pub fn validate(spec: &EvictionSpec) -> Vec<FieldError> {
    let path = FieldPath::new("spec");
    let mut errors = Vec::new();
    path.child("hypervisor").not_empty(&spec.hypervisor, &mut errors);
    path.child("reason").not_empty(&spec.reason, &mut errors);
    errors
}

/// What is wrong with changing the old spec to the new one, including what is wrong with the new one.
///
/// ```
/// use c5c3_api::eviction::{EvictionSpec, validate_update};
/// let spec = |hypervisor: &str| EvictionSpec { hypervisor: hypervisor.into(), reason: "disk".into() };
/// let errors = validate_update(&spec("node-1"), &spec("node-2"));
/// assert_eq!(errors[0].to_string(), r#"spec.hypervisor: Invalid value: "node-2": Value is immutable"#);
/// ```
#[must_use]
pub fn validate_update(old: &EvictionSpec, new: &EvictionSpec) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if old.hypervisor != new.hypervisor {
        let path = FieldPath::new("spec").child("hypervisor");
        errors.push(path.error(ErrorKind::Invalid, new.hypervisor.clone(), rule::IMMUTABLE.message));
    }
    errors.extend(validate(new));
    errors
}
