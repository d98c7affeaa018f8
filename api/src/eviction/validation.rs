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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spec(hypervisor: &str, reason: &str) -> EvictionSpec {
        EvictionSpec { hypervisor: hypervisor.to_owned(), reason: reason.to_owned() }
    }

    #[test]
    fn each_rule_says_where_and_what() {
        let host =
            r#"spec.hypervisor: Invalid value: "": spec.hypervisor in body should be at least 1 chars long"#;
        let reason = r#"spec.reason: Invalid value: "": spec.reason in body should be at least 1 chars long"#;
        let rows: [(EvictionSpec, &[&str]); 4] = [
            (spec("node-1", "fan"), &[]),
            (spec("", "fan"), &[host]),
            (spec("node-1", ""), &[reason]),
            (spec("", ""), &[host, reason]),
        ];
        for (spec, answer) in rows {
            let said: Vec<String> = validate(&spec).iter().map(ToString::to_string).collect();
            assert_eq!(said, answer, "{spec:?}");
        }
    }

    #[test]
    fn the_host_cannot_be_changed_and_the_reason_can() {
        assert_eq!(validate_update(&spec("node-1", "fan"), &spec("node-1", "disk")), []);
        let errors = validate_update(&spec("node-1", "fan"), &spec("node-2", "fan"));
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].detail, "Value is immutable");
    }

    proptest! {
        #[test]
        fn any_spec_gets_an_answer(old in (".*", ".*"), new in (".*", ".*")) {
            let (old, new) = (spec(&old.0, &old.1), spec(&new.0, &new.1));
            let is_changed = usize::from(old.hypervisor != new.hypervisor);
            prop_assert_eq!(validate_update(&old, &new).len(), validate(&new).len() + is_changed);
        }
    }
}
