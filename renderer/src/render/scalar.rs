//! Scalars that every YAML reader, of any version, reads back as what they were.
//!
//! Text is always in double quotes: then `no`, `1e3`, `0x1F` and `2026-09-09` stay text. Line separators that YAML would fold are escaped.

use std::fmt::Write as _;

use serde_json::Value;

/// Text in double quotes, valid as JSON and as YAML.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            character if must_escape(character) => {
                // Everything to escape is in the basic plane, where JSON and YAML agree on the spelling.
                let _infallible = write!(quoted, "\\u{:04x}", u32::from(character));
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// Control characters, line and paragraph separators, the byte order mark and non-characters.
const fn must_escape(character: char) -> bool {
    matches!(character, '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A key: bare when no reader can mistake it, quoted otherwise.
pub(crate) fn key(name: &str) -> String {
    const WORDS: [&str; 8] = ["y", "n", "yes", "no", "on", "off", "true", "false"];
    let plain = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
        && !WORDS.contains(&name.to_ascii_lowercase().as_str())
        && !name.eq_ignore_ascii_case("null");
    if plain { name.to_owned() } else { quote(name) }
}

/// A scalar; `None` for lists, mappings and null, which are no scalars to print.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(quote(text)),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRICKY: &[&str] = &[
        "on",
        "off",
        "yes",
        "no",
        "y",
        "n",
        "N",
        "~",
        "null",
        "true",
        "1e3",
        "61e9540",
        "6063e25",
        "0123",
        "0o17",
        "0x1F",
        "0b1",
        "1_000",
        "1__0",
        "10:20",
        "80:80",
        "2222:22",
        ".inf",
        ".nan",
        "-.5",
        "+1",
        "2026-09-09",
        "<<",
        "=",
        "-",
        "?",
        ":",
        "a: b",
        "#x",
        " lead",
        "trail ",
        "",
        "\t",
        "*x",
        "&x",
        "!x",
        "%x",
        "@x",
        "`x",
        "12345678901234567890",
        "x\nspec:\n  prune: true",
        "---\nkind: ClusterRoleBinding",
        "\r\n",
        "\u{2028}",
        "\u{85}",
        "\u{feff}x",
        "🦀",
        "é",
        "\"",
        "\\",
        "{{ 7*7 }}",
        "'",
        "[a]",
        "{a: b}",
        "\0",
        "\u{7f}",
        "a #b",
    ];

    #[test]
    fn tricky_text_is_read_back_as_the_same_text_as_key_and_value() {
        for text in TRICKY {
            let document = format!("{}: {}\n", key(text), quote(text));
            let read: std::collections::BTreeMap<String, Value> = serde_saphyr::from_str(&document).unwrap();
            assert_eq!(
                read.into_iter().next().unwrap(),
                ((*text).to_owned(), Value::from(*text)),
                "{document}"
            );
            let json: String = serde_json::from_str(&quote(text)).unwrap();
            assert_eq!(&json, text);
        }
    }

    #[test]
    fn integers_keep_their_digits() {
        for text in ["9007199254740993", "9223372036854775808", "1048576", "0", "-1"] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(scalar(&value).unwrap(), text);
        }
    }
}
