//! Lists and mappings as indented YAML.

use serde_json::Value;

use super::scalar::{key, scalar};

/// What follows `name:`. A scalar stays on the line, anything larger goes below, indented. Null is no value to print.
pub(crate) fn block(value: &Value, indent: usize) -> Option<String> {
    match value {
        Value::Object(fields) if fields.is_empty() => Some(" {}".to_owned()),
        Value::Array(items) if items.is_empty() => Some(" []".to_owned()),
        Value::Object(fields) => {
            let mut text = String::new();
            for (name, field) in fields {
                text.push('\n');
                text.push_str(&" ".repeat(indent));
                text.push_str(&key(name));
                text.push(':');
                text.push_str(&block(field, indent + 2)?);
            }
            Some(text)
        }
        Value::Array(items) => {
            let mut text = String::new();
            for item in items {
                text.push('\n');
                text.push_str(&" ".repeat(indent));
                text.push('-');
                text.push_str(&item_text(item, indent)?);
            }
            Some(text)
        }
        _ => scalar(value).map(|text| format!(" {text}")),
    }
}

/// What follows `-`: the first field of a mapping stands on the same line.
fn item_text(item: &Value, indent: usize) -> Option<String> {
    let text = block(item, indent + 2)?;
    let inner = format!("\n{}", " ".repeat(indent + 2));
    Some(match (item, text.strip_prefix(&inner)) {
        (Value::Object(_) | Value::Array(_), Some(rest)) => format!(" {rest}"),
        _ => text,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_block_is_read_back_as_the_value() {
        let value = json!({
            "empty": {}, "none": [], "text": "a", "list": ["x", {"b": 1, "c": [true, [2, 3]]}, {}],
            "deep": {"on": {"a.b/c": "no"}},
        });
        let text = format!("root:{}\n", block(&value, 2).unwrap());
        let read: Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(read, json!({ "root": value }), "{text}");
    }

    #[test]
    fn null_is_not_printed() {
        assert_eq!(block(&json!({"a": [null]}), 0), None);
    }
}
