//! JSON values as Go writes them, in paths and in messages.
//!
//! kube-apiserver words a conflict and a type error with Go's formatting; here are the few verbs that it takes.

use serde_json::{Number, Value};

/// A value inside a path: `[key="k1"]`, `[=3]`.
pub(crate) fn in_path(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number_text(number, -4),
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("[{}]", items.iter().map(in_path).collect::<Vec<_>>().join(",")),
        Value::Object(map) => map.iter().map(|(key, value)| format!("{key}={}", in_path(value))).collect(),
    }
}

/// A value as `%v` prints it: `map[a:1]`, `[a b]`.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number_text(number, -4),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(" ")),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            let entries: Vec<_> =
                entries.into_iter().map(|(key, value)| format!("{key}:{}", plain(value))).collect();
            format!("map[{}]", entries.join(" "))
        }
    }
}

/// A value as `%#v` prints it where it matters: strings are quoted.
pub(crate) fn detailed(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Null => "interface {}(nil)".into(),
        Value::Array(items) => {
            format!("[]interface {{}}{{{}}}", items.iter().map(detailed).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            let entries: Vec<_> = entries
                .into_iter()
                .map(|(key, value)| format!("{}:{}", quoted(key), detailed(value)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", entries.join(", "))
        }
        Value::Bool(_) | Value::Number(_) => plain(value),
    }
}

/// The name that Go gives the type of a decoded value (`%T`).
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// A string as `%q` prints it.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if u32::from(c) < 0x20 || c == '\u{7f}' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if !is_printable(c) => match u32::from(c) {
                code @ ..=0xffff => out.push_str(&format!("\\u{code:04x}")),
                code => out.push_str(&format!("\\U{code:08x}")),
            },
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whether Go calls a character printable: everything but controls, separators other than the space, and unassigned ones.
pub(crate) fn is_printable(c: char) -> bool {
    !(c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(u32::from(c), 0xad | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xe000..=0xf8ff | 0xfeff | 0xfff0..=0xffff | 0xf0000..))
}

/// Compact JSON in which strings are written with HTML's own characters escaped, as in `k:` and `v:` elements.
pub(crate) fn compact_json(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => json_string(text, out),
        Value::Number(number) => out.push_str(&number_text(number, -7)),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                compact_json(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (index, (key, item)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                json_string(key, out);
                out.push(':');
                compact_json(item, out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) => out.push_str(&value.to_string()),
    }
}

fn json_string(text: &str, out: &mut String) {
    for c in Value::from(text).to_string().chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
}

/// The shortest text of a number; floats get an exponent below 10^`smallest` and from 10^21.
fn number_text(number: &Number, smallest: i32) -> String {
    if number.is_i64() || number.is_u64() {
        return number.to_string();
    }
    let Some(float) = number.as_f64() else { return number.to_string() };
    let scientific = format!("{float:e}");
    let exponent: i32 =
        scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    if exponent < 21 && (exponent > smallest || exponent == smallest && smallest == -4 || float == 0.0) {
        return format!("{float}");
    }
    let mantissa = scientific.split('e').next().unwrap_or_default();
    let sign = if exponent < 0 { '-' } else { '+' };
    let digits = exponent.abs();
    if smallest == -4 {
        format!("{mantissa}e{sign}{digits:02}")
    } else {
        format!("{mantissa}e{sign}{digits}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_in_paths_are_those_of_go() {
        assert_eq!(in_path(&json!("a\"b\n")), r#""a\"b\n""#);
        assert_eq!(in_path(&json!(80)), "80");
        assert_eq!(in_path(&json!(1.5)), "1.5");
        assert_eq!(in_path(&json!(3.0)), "3");
        assert_eq!(in_path(&json!(0.0001)), "0.0001");
        assert_eq!(in_path(&json!(0.00001)), "1e-05");
        assert_eq!(in_path(&json!(1e21)), "1e+21");
    }

    #[test]
    fn keys_are_html_safe_json() {
        let mut out = String::new();
        compact_json(&json!({"b": "<&>", "a": 1e21, "c": 0.000_000_1}), &mut out);
        assert_eq!(out, r#"{"a":1e+21,"b":"\u003c\u0026\u003e","c":1e-7}"#);
    }

    #[test]
    fn messages_show_values_as_go_does() {
        assert_eq!(plain(&json!({"b": [1, "x"], "a": null})), "map[a:<nil> b:[1 x]]");
        assert_eq!(type_name(&json!(1.5)), "float64");
    }
}
