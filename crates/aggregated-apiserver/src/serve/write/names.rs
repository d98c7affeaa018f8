//! The forms of names, label keys and label values, with Kubernetes' words for those that have another.

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
     start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const NAME_PART: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric \
     character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
     '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start \
     and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
     '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// What is wrong with the name of an object.
pub(super) fn subdomain(name: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if name.len() > 253 {
        faults.push("must be no more than 253 bytes".to_owned());
    }
    let label = |label: &str| {
        let byte = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        label.bytes().all(|b| byte(b) || b == b'-')
            && label.bytes().next().is_some_and(byte)
            && label.bytes().next_back().is_some_and(byte)
    };
    if !name.split('.').all(label) {
        faults.push(SUBDOMAIN.to_owned());
    }
    faults
}

/// What is wrong with the key of a label or an annotation, or with a finalizer.
pub(super) fn qualified(name: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let part = match name.split_once('/') {
        None => name,
        Some((_, rest)) if rest.contains('/') => {
            return vec![format!(
                "a qualified name {NAME_PART} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
        Some(("", part)) => {
            faults.push("prefix part must be non-empty".to_owned());
            part
        }
        Some((prefix, part)) => {
            faults.extend(subdomain(prefix).iter().map(|fault| format!("prefix part {fault}")));
            part
        }
    };
    if part.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    } else if part.len() > 63 {
        faults.push("name part must be no more than 63 bytes".to_owned());
    }
    if !has_form(part) {
        faults.push(format!("name part {NAME_PART}"));
    }
    faults
}

/// What is wrong with the value of a label.
pub(super) fn label_value(value: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if value.len() > 63 {
        faults.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !has_form(value) {
        faults.push(LABEL.to_owned());
    }
    faults
}

/// Letters, digits, `-`, `_`, `.`, and a letter or digit at both ends.
fn has_form(text: &str) -> bool {
    let end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && end(text.bytes().next())
        && end(text.bytes().next_back())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_forms_of_kubernetes() {
        for good in ["a", "a-b.c", "0", &"a".repeat(253)] {
            assert_eq!(subdomain(good), [""; 0], "{good}");
        }
        for bad in ["", "A", "a_b", "-a", "a-", "a..b", ".", "a/b", "ü", &"a".repeat(254)] {
            assert_eq!(subdomain(bad).len(), 1, "{bad}");
        }
        for good in ["a", "A_b.c-d", "x.io/a", &format!("{}/{}", "x".repeat(253), "n".repeat(63))] {
            assert_eq!(qualified(good), [""; 0], "{good}");
        }
        for (bad, count) in [("", 2), ("/", 3), ("a/", 2), ("/a", 1), ("a/b/c", 1), ("X/a", 1), ("a b", 1)] {
            assert_eq!(qualified(bad).len(), count, "{bad}");
        }
        for good in ["", "a", "A-b_c.d", &"a".repeat(63)] {
            assert_eq!(label_value(good), [""; 0], "{good}");
        }
        for bad in ["-", "a b", "-a", &"a".repeat(64)] {
            assert_eq!(label_value(bad).len(), 1, "{bad}");
        }
    }
}
