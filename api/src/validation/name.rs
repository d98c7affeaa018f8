//! Names and labels, by the rules of Kubernetes.
//!
//! The names of our kinds are names of Nodes and UUIDs of servers; both are DNS subdomains.

use super::{ErrorKind, FieldError, FieldPath};

const SUBDOMAIN_MAXIMUM: usize = 253;
const LABEL_MAXIMUM: usize = 63;

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
                         and must start and end with an alphanumeric character";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
                     start and end with an alphanumeric character";
const QUALIFIED: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                         alphanumeric character";

/// What is wrong with the name of an object.
///
/// ```
/// use c5c3_api::validation::validate_object_name;
/// assert!(validate_object_name("node-1.example.org").is_empty());
/// assert_eq!(validate_object_name("Node_1").len(), 1);
/// ```
#[must_use]
pub fn validate_object_name(name: &str) -> Vec<FieldError> {
    let path = FieldPath::new("metadata").child("name");
    named(&path, name, SUBDOMAIN_MAXIMUM, |name| name.split('.').all(is_label), SUBDOMAIN)
}

/// What is wrong with the name of a namespace.
#[must_use]
pub fn validate_namespace(name: &str) -> Vec<FieldError> {
    named(&FieldPath::new("metadata").child("namespace"), name, LABEL_MAXIMUM, is_label, LABEL)
}

/// What is wrong with the key of a label or an annotation.
#[must_use]
pub fn validate_label_key(path: &FieldPath, key: &str) -> Vec<FieldError> {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let mut errors = named(path, name, LABEL_MAXIMUM, is_qualified, QUALIFIED);
    if let Some(prefix) = prefix {
        errors.extend(named(
            path,
            prefix,
            SUBDOMAIN_MAXIMUM,
            |name| name.split('.').all(is_label),
            SUBDOMAIN,
        ));
    }
    errors
}

/// What is wrong with the value of a label. It may be empty.
#[must_use]
pub fn validate_label_value(path: &FieldPath, value: &str) -> Vec<FieldError> {
    if value.is_empty() { Vec::new() } else { named(path, value, LABEL_MAXIMUM, is_qualified, QUALIFIED) }
}

fn named(
    path: &FieldPath,
    name: &str,
    maximum: usize,
    is_good: impl Fn(&str) -> bool,
    detail: &str,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if name.is_empty() {
        errors.push(path.error(
            ErrorKind::Required,
            serde_json::Value::Null,
            "name or generateName is required",
        ));
        return errors;
    }
    if name.len() > maximum {
        errors.push(path.error(ErrorKind::Invalid, name, format!("must be no more than {maximum} bytes")));
    }
    if !is_good(name) {
        errors.push(path.error(ErrorKind::Invalid, name, detail));
    }
    errors
}

fn is_label(text: &str) -> bool {
    let is_inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    ends_with(text, is_inner) && text.bytes().all(|byte| is_inner(&byte) || byte == b'-')
}

fn is_qualified(text: &str) -> bool {
    ends_with(text, u8::is_ascii_alphanumeric)
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn ends_with(text: &str, is_end: impl Fn(&u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(&is_end) && bytes.last().is_some_and(&is_end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_name_of_an_object_is_a_subdomain() {
        let longest = format!("{}.{}.{}.{}", "a".repeat(63), "b".repeat(63), "c".repeat(63), "d".repeat(61));
        for good in
            ["a", "1", "node-1", "node-1.example.org", "0b0b7a52-5f0f-4a6e-8d5e-2a3f6d0c8b11", &longest]
        {
            assert_eq!(validate_object_name(good), [], "{good}");
        }
        for wrong in ["", "-a", "a-", "a..b", ".a", "a.", "A", "a_b", "a b", "ä", &format!("{longest}d")] {
            assert_eq!(validate_object_name(wrong).len(), 1, "{wrong}");
        }
    }

    #[test]
    fn a_namespace_has_no_dots_and_63_bytes() {
        assert_eq!(validate_namespace("c5c3-system"), []);
        for wrong in ["", "a.b", &"a".repeat(64)] {
            assert_eq!(validate_namespace(wrong).len(), 1, "{wrong}");
        }
    }

    #[test]
    fn labels_have_a_prefix_a_name_and_a_value() {
        let path = FieldPath::new("metadata").child("labels");
        for good in ["a", "A_b.c", "topology.kubernetes.io/zone"] {
            assert_eq!(validate_label_key(&path, good), [], "{good}");
        }
        for wrong in ["", "/a", "a/", "A/b", "a/b/c", "-a", &"a".repeat(64)] {
            assert!(!validate_label_key(&path, wrong).is_empty(), "{wrong}");
        }
        assert_eq!(validate_label_value(&path, ""), []);
        assert_eq!(validate_label_value(&path, "eu-de-1a"), []);
        assert_eq!(validate_label_value(&path, "a b").len(), 1);
    }

    proptest! {
        #[test]
        fn any_text_gets_an_answer(text in ".*") {
            let path = FieldPath::new("metadata");
            let _ = (validate_object_name(&text), validate_namespace(&text));
            let _ = (validate_label_key(&path, &text), validate_label_value(&path, &text));
        }

        #[test]
        fn a_namespace_is_also_a_name(text in "[a-z0-9.-]{1,70}") {
            prop_assert!(!validate_namespace(&text).is_empty() || validate_object_name(&text).is_empty());
        }
    }
}
