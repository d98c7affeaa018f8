//! No secret value reaches Git: not as a Secret, not inside of anything else. Findings never repeat the value.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::documents::Document;
use super::report;
use crate::finding::Findings;
use crate::rules::operator_secrets;

/// Text that is a secret by its looks, and what it looks like.
static PATTERNS: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let patterns = [
        ("a private key", "-----BEGIN [A-Z ]*PRIVATE KEY-----"),
        ("a URL with a password", "[A-Za-z][A-Za-z0-9+.-]*://[^/@[:space:]:]+:[^/@[:space:]]+@"),
        ("a signed token", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\."),
        ("a Vault token", r"\bhv[sb]\.[A-Za-z0-9_-]{20,}"),
        ("an access key", r"\b(AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("a GitHub token", r"\b(ghp|gho|ghs|ghr)_[A-Za-z0-9]{36}|\bgithub_pat_[A-Za-z0-9_]{22,}"),
        ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ];
    patterns.into_iter().filter_map(|(kind, pattern)| Some((kind, Regex::new(pattern).ok()?))).collect()
});

/// What secret the text looks like, if any.
pub(crate) fn secret_kind(text: &str) -> Option<&'static str> {
    PATTERNS.iter().find(|(_, pattern)| pattern.is_match(text)).map(|(kind, _)| *kind)
}

/// Calls back for every text in a value, with its path.
pub(crate) fn visit_text(path: &str, value: &Value, visit: &mut dyn FnMut(String, &str)) {
    match value {
        Value::String(text) => visit(path.to_owned(), text),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                visit_text(&format!("{path}[{index}]"), item, visit);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                visit_text(&path, field, visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

pub(super) fn check(documents: &[Document], findings: &mut Findings) {
    let mut reserved = Vec::new();
    for control_plane in documents.iter().filter(|document| document.kind().1 == "ControlPlane") {
        reserved.extend(operator_secrets(control_plane.name()));
    }
    for document in documents {
        if document.kind() == ("", "Secret") {
            let encrypted = document.object.get("sops").is_some();
            let values = document.object.get("data").is_some() || document.object.get("stringData").is_some();
            if values && !encrypted {
                report(findings, "secret-in-git", document, "is a Secret with values; use an ExternalSecret");
            }
        }
        visit_text("", &document.object, &mut |field, text| {
            if let Some(kind) = secret_kind(text) {
                report(findings, "secret-in-git", document, format!("{field} looks like {kind}"));
            }
        });
        let made = match document.kind() {
            ("", "Secret") => document.name(),
            ("external-secrets.io", "ExternalSecret") => document.text("/spec/target/name"),
            _ => continue,
        };
        if reserved.iter().any(|name| name == made) {
            report(
                findings,
                "secret-reserved",
                document,
                format!("the Secret {made} is delivered by an operator"),
            );
        }
    }
}
