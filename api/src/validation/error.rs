//! One thing that is wrong with a field, in the words of Kubernetes.

use std::fmt;

use serde_json::Value;

/// One thing that is wrong with a field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// Where it is, such as `spec.groups[0].trait.name`.
    pub path: String,
    /// What kind of mistake it is.
    pub kind: ErrorKind,
    /// The value that was found; `Null` if there was none, or if it is a whole object that is not worth repeating.
    pub value: Value,
    /// What is wrong, for people.
    pub detail: String,
}

/// What kind of mistake it is. The names are the `reason` of a cause in a Kubernetes Status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A value is needed and there is none.
    Required,
    /// The value cannot be used.
    Invalid,
    /// The value is none of those that are allowed.
    NotSupported,
    /// The value would be good elsewhere, or at another time.
    Forbidden,
    /// Another item has the same value.
    Duplicate,
    /// The value is too long.
    TooLong,
}

impl ErrorKind {
    /// The `reason` of a cause in a Kubernetes Status.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::Duplicate => "FieldValueDuplicate",
            Self::TooLong => "FieldValueTooLong",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::Duplicate => "Duplicate value",
            Self::TooLong => "Too long",
        }
    }
}

impl FieldError {
    /// The error without its path: the message of a cause in a Kubernetes Status.
    #[must_use]
    pub fn message(&self) -> String {
        let words = self.kind.words();
        let hides_value =
            matches!(self.kind, ErrorKind::Required | ErrorKind::Forbidden | ErrorKind::TooLong);
        match (hides_value || self.value.is_null(), self.detail.is_empty()) {
            (true, true) => words.to_owned(),
            (true, false) => format!("{words}: {}", self.detail),
            (false, true) => format!("{words}: {}", self.value),
            (false, false) => format!("{words}: {}: {}", self.value, self.detail),
        }
    }
}

/// As kube-apiserver prints it: `spec.hypervisor: Invalid value: "node-2": Value is immutable`.
impl fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.message())
    }
}

impl std::error::Error for FieldError {}

/// Where a field is. Made step by step while a document is walked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath(String);

impl FieldPath {
    /// The path of a field of the object itself, such as `spec`.
    #[must_use]
    pub fn new(field: &str) -> Self {
        Self(field.to_owned())
    }

    /// The path of a field of this one.
    #[must_use]
    pub fn child(&self, field: &str) -> Self {
        Self(format!("{}.{field}", self.0))
    }

    /// The path of an item of this list.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// The path of an entry of this map.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self(format!("{}[{key}]", self.0))
    }

    /// An error about this field.
    #[must_use]
    pub fn error(&self, kind: ErrorKind, value: impl Into<Value>, detail: impl Into<String>) -> FieldError {
        FieldError { path: self.0.clone(), kind, value: value.into(), detail: detail.into() }
    }

    /// Demands that this text is not empty, in the words of a schema's `minLength: 1`.
    pub fn not_empty(&self, text: &str, errors: &mut Vec<FieldError>) {
        if text.is_empty() {
            let detail = format!("{self} in body should be at least 1 chars long");
            errors.push(self.error(ErrorKind::Invalid, text, detail));
        }
    }

    /// An error about a whole object, which is not repeated in it.
    #[must_use]
    pub(crate) fn broken(&self, rule: super::Rule) -> FieldError {
        self.error(ErrorKind::Invalid, Value::Null, rule.message)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_as_kubernetes_writes_it() {
        let path = FieldPath::new("spec").child("groups").index(2).child("metadata").key("a/b");
        let rows = [
            (ErrorKind::Required, Value::Null, "", "Required value"),
            (ErrorKind::Required, Value::from("x"), "is needed", "Required value: is needed"),
            (ErrorKind::Invalid, Value::from("x"), "is no UUID", r#"Invalid value: "x": is no UUID"#),
            (ErrorKind::Invalid, Value::Null, "no way", "Invalid value: no way"),
            (ErrorKind::NotSupported, Value::from(3), "", "Unsupported value: 3"),
            (ErrorKind::Forbidden, Value::from("x"), "not now", "Forbidden: not now"),
            (ErrorKind::Duplicate, Value::from("x"), "", r#"Duplicate value: "x""#),
            (ErrorKind::TooLong, Value::from("x"), "at most 3 bytes", "Too long: at most 3 bytes"),
        ];
        for (kind, value, detail, message) in rows {
            let error = path.error(kind, value, detail);
            assert_eq!(error.message(), message);
            assert_eq!(error.to_string(), format!("spec.groups[2].metadata[a/b]: {message}"));
            assert!(kind.reason().starts_with("FieldValue"));
        }
    }
}
