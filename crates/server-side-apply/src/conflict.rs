//! Fields an applier wants to change and somebody else owns.

use std::fmt;

use crate::field_set::{FieldSet, PathElement, path_text};
use crate::managers::Identity;

/// One field of one other manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub(crate) identity: Identity,
    /// The field.
    pub path: Vec<PathElement>,
}

impl Conflict {
    /// The other manager as messages name it: `"kubectl-edit" using v1`.
    #[must_use]
    pub fn manager(&self) -> String {
        self.identity.text()
    }
}

/// A cause of the 409: reason `FieldManagerConflict`, with this message and field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// `conflict with "kubectl-edit" using v1`.
    pub message: String,
    /// `.spec.mode`.
    pub field: String,
}

/// All conflicts of one apply, sorted by manager. `Display` is the message of the 409.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts(pub(crate) Vec<Conflict>);

impl Conflicts {
    /// Each of them.
    #[must_use]
    pub fn list(&self) -> &[Conflict] {
        &self.0
    }

    /// Each of them, as a cause of the status.
    #[must_use]
    pub fn causes(&self) -> Vec<Cause> {
        let cause = |conflict: &Conflict| Cause {
            message: format!("conflict with {}", conflict.manager()),
            field: path_text(&conflict.path),
        };
        self.0.iter().map(cause).collect()
    }

    /// Without the fields of a set.
    pub(crate) fn without(self, set: &FieldSet) -> Self {
        Self(self.0.into_iter().filter(|conflict| !set.contains(&conflict.path)).collect())
    }
}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            return write!(
                f,
                "Apply failed with 1 conflict: conflict with {}: {}",
                only.manager(),
                path_text(&only.path)
            );
        }
        write!(f, "Apply failed with {} conflicts: ", self.0.len())?;
        let mut last: Option<&Identity> = None;
        for conflict in &self.0 {
            if last != Some(&conflict.identity) {
                let line = if last.is_some() { "\n" } else { "" };
                write!(f, "{line}conflicts with {}:", conflict.manager())?;
                last = Some(&conflict.identity);
            }
            write!(f, "\n- {}", path_text(&conflict.path))?;
        }
        Ok(())
    }
}
