//! The rules of a Hypervisor's spec.
//!
//! Each rule stands once in Rust and once in CEL, next to each other and with the same message, so that this server and a
//! CRD made from our schema refuse the same things in the same words.

use super::{Group, HypervisorSpec, Maintenance};
use crate::validation::{ErrorKind, FieldError, FieldPath};

/// The rules as they stand in the schema.
pub(super) mod rule {
    use crate::validation::Rule;

    pub(in super::super) const TERMINATION: Rule = Rule {
        cel: "!has(oldSelf.maintenance) || oldSelf.maintenance != 'termination' || \
              (has(self.maintenance) && self.maintenance == 'ha') || self == oldSelf",
        message: "spec is immutable when maintenance is 'termination'; can only change maintenance to 'ha'",
    };
    pub(in super::super) const MANUAL_REASON: Rule = Rule {
        cel: "!has(self.maintenance) || self.maintenance != 'manual' || \
              (has(self.maintenanceReason) && self.maintenanceReason.size() > 0)",
        message: "maintenanceReason must be non-empty when maintenance is 'manual'",
    };
    pub(in super::super) const OVERCOMMIT: Rule = Rule {
        cel: "self.all(resource, self[resource] >= 1.0)",
        message: "overcommit ratios must be >= 1.0",
    };
    pub(in super::super) const ONE_GROUP: Rule =
        Rule { cel: "has(self.trait) != has(self.aggregate)", message: "exactly one group type must be set" };
    pub(in super::super) const UUID_PATTERN: &str =
        "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$";
}

/// What is wrong with this spec.
///
/// ```
/// use c5c3_api::hypervisor::{HypervisorSpec, Maintenance, validate};
/// let spec = HypervisorSpec { maintenance: Some(Maintenance::Manual), ..HypervisorSpec::default() };
/// let errors = validate(&spec);
/// assert_eq!(errors.len(), 1);
/// assert_eq!(errors[0].detail, "maintenanceReason must be non-empty when maintenance is 'manual'");
/// ```
#[must_use]
pub fn validate(spec: &HypervisorSpec) -> Vec<FieldError> {
    let path = FieldPath::new("spec");
    let mut errors = Vec::new();
    if spec.maintenance() == Maintenance::Manual
        && spec.maintenance_reason.as_deref().unwrap_or_default().is_empty()
    {
        errors.push(path.broken(rule::MANUAL_REASON));
    }
    for (index, group) in spec.groups.iter().enumerate() {
        validate_group(&path.child("groups").index(index), group, &mut errors);
    }
    // Written so that NaN, which is not at least 1.0, is refused.
    if !spec.overcommit.values().all(|ratio| *ratio >= 1.0) {
        errors.push(path.child("overcommit").broken(rule::OVERCOMMIT));
    }
    errors
}

/// What is wrong with changing the old spec to the new one, including what is wrong with the new one.
#[must_use]
pub fn validate_update(old: &HypervisorSpec, new: &HypervisorSpec) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let is_frozen = old.maintenance() == Maintenance::Termination;
    if is_frozen && new.maintenance() != Maintenance::Ha && new != old {
        errors.push(FieldPath::new("spec").broken(rule::TERMINATION));
    }
    errors.extend(validate(new));
    errors
}

fn validate_group(path: &FieldPath, group: &Group, errors: &mut Vec<FieldError>) {
    if group.trait_.is_some() == group.aggregate.is_some() {
        errors.push(path.broken(rule::ONE_GROUP));
    }
    if let Some(trait_) = &group.trait_ {
        path.child("trait").child("name").not_empty(&trait_.name, errors);
    }
    if let Some(aggregate) = &group.aggregate {
        let path = path.child("aggregate");
        path.child("name").not_empty(&aggregate.name, errors);
        let uuid = path.child("uuid");
        if !is_uuid(&aggregate.uuid) {
            let detail = format!("{uuid} in body should match '{}'", rule::UUID_PATTERN);
            errors.push(uuid.error(ErrorKind::Invalid, aggregate.uuid.clone(), detail));
        }
    }
}

/// The same as [`rule::UUID_PATTERN`], without a regular expression engine.
fn is_uuid(text: &str) -> bool {
    let is_hexadecimal = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split('-').all(is_hexadecimal) && text.split('-').map(str::len).eq([8, 4, 4, 4, 12])
}

#[cfg(test)]
#[path = "validation_tests.rs"]
mod tests;
