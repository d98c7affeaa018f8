//! What a value can do wrong.

use std::fmt;

/// One violation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Violation {
    /// Path of the field, empty for the value as a whole.
    pub field: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// The ways to violate a schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Problem {
    /// A field that the schema does not know, and the known name that looks most like it.
    Unknown {
        /// A known field with a similar name.
        similar: Option<String>,
        /// All known fields.
        known: Vec<String>,
    },
    /// A required field that is absent.
    Missing {
        /// Its name.
        name: String,
    },
    /// A value of another type.
    Type {
        /// The type that the schema asks for.
        expected: String,
        /// The type that was found.
        found: &'static str,
    },
    /// A value that is none of those listed.
    NotListed {
        /// The values to choose from.
        allowed: Vec<String>,
    },
    /// Text that does not match a pattern.
    Pattern {
        /// The regular expression.
        pattern: String,
    },
    /// A number, length or count outside of its bounds.
    Bound {
        /// The bound in words.
        bound: String,
    },
}

impl Problem {
    /// Identifier for messages and programs.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "field-unknown",
            Self::Missing { .. } => "field-missing",
            Self::Type { .. } => "field-type",
            Self::NotListed { .. } => "field-enum",
            Self::Pattern { .. } => "field-pattern",
            Self::Bound { .. } => "field-bound",
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { similar: Some(name), .. } => Some(format!("did you mean `{name}`?")),
            Self::Unknown { known, .. } if !known.is_empty() => {
                Some(format!("known here: {}", known.join(", ")))
            }
            Self::Type { expected, found: "string" } if expected.contains("boolean") => {
                Some("only `true` and `false`, without quotes, are booleans".to_owned())
            }
            Self::Type { expected, found: "number" | "integer" | "boolean" }
                if expected.contains("string") =>
            {
                Some("put the value in double quotes".to_owned())
            }
            _ => None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { .. } => formatter.write_str("there is no such field"),
            Self::Missing { name } => write!(formatter, "`{name}` is required"),
            Self::Type { expected, found } => write!(formatter, "must be {expected}, not {found}"),
            Self::NotListed { allowed } => write!(formatter, "must be one of {}", allowed.join(", ")),
            Self::Pattern { pattern } => write!(formatter, "must match {pattern}"),
            Self::Bound { bound } => write!(formatter, "must be {bound}"),
        }
    }
}
