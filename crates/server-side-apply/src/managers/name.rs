//! What a field manager may be called, and what a client is called that does not say.

use crate::json::go_text;

const LONGEST: usize = 128;

/// Why a name is none. The text is that of kube-apiserver, to stand after `fieldManager: `.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManagerNameError {
    /// Longer than 128 bytes.
    #[error("Too long: may not be more than {LONGEST} bytes")]
    TooLong,
    /// A character that cannot be printed.
    #[error("Invalid value: {quoted}: invalid character U+{code:04X} (at position {position})")]
    Unprintable {
        /// The name, quoted.
        quoted: String,
        /// The character.
        code: u32,
        /// Where it stands, in bytes.
        position: usize,
    },
}

/// Whether this may be the `fieldManager` of a request or the manager of an entry.
///
/// # Errors
/// When it is too long or has unprintable characters.
pub fn check_manager_name(name: &str) -> Result<(), ManagerNameError> {
    if name.len() > LONGEST {
        return Err(ManagerNameError::TooLong);
    }
    match name.char_indices().find(|(_, c)| !go_text::is_printable(*c)) {
        None => Ok(()),
        Some((position, c)) => {
            Err(ManagerNameError::Unprintable { quoted: go_text::quoted(name), code: u32::from(c), position })
        }
    }
}

/// The manager of an update that names none: its user agent up to the first slash, without what cannot be printed, at most 128 bytes.
///
/// ```
/// assert_eq!(server_side_apply::manager_name_of_agent("kubectl/v1.36.3 (linux/amd64)"), "kubectl");
/// assert_eq!(server_side_apply::manager_name_of_agent(""), "unknown");
/// ```
#[must_use]
pub fn manager_name_of_agent(agent: &str) -> String {
    let mut name = String::new();
    for c in agent.split('/').next().unwrap_or_default().chars().filter(|c| go_text::is_printable(*c)) {
        if name.len() + c.len_utf8() > LONGEST {
            break;
        }
        name.push(c);
    }
    if name.is_empty() { "unknown".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_printable() {
        assert_eq!(check_manager_name("kube ctl"), Ok(()));
        assert_eq!(
            check_manager_name(&"m".repeat(129)).unwrap_err().to_string(),
            "Too long: may not be more than 128 bytes"
        );
        assert_eq!(
            check_manager_name("a\nb").unwrap_err().to_string(),
            r#"Invalid value: "a\nb": invalid character U+000A (at position 1)"#
        );
        assert_eq!(manager_name_of_agent(&"u".repeat(140)).len(), 128);
    }
}
