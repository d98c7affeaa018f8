//! Cells of table rows, computed when an object is published.
//!
//! The rules are those of CRD printer columns: a value that is absent or of another type than its column's is null,
//! an object or a list in a string column is compact JSON. Where a path of a string column has several results, all
//! are joined by commas.

use jiff::Timestamp;
use serde_json::Value;

use super::duration;
use crate::collection::Cell;
use crate::definition::{CheckedPaths, ResourceDefinition};

/// The cells of the definition's columns, without the name.
pub(crate) fn of(object: &Value, definition: &ResourceDefinition, paths: &CheckedPaths) -> Box<[Cell]> {
    if paths.columns.is_empty() {
        return Box::new([since(object.pointer("/metadata/creationTimestamp"))]);
    }
    let columns = definition.columns.iter().zip(&paths.columns);
    columns.map(|(column, path)| cell(&column.type_, &path.find(object))).collect()
}

/// A cell as JSON, at a moment.
pub(crate) fn write(cell: &Cell, now: Timestamp, out: &mut Vec<u8>) {
    match cell {
        Cell::Fixed(json) => out.extend_from_slice(json.as_bytes()),
        Cell::Since(start) => {
            out.push(b'"');
            out.extend_from_slice(duration::human(now.duration_since(*start)).as_bytes());
            out.push(b'"');
        }
    }
}

fn cell(type_: &str, found: &[&Value]) -> Cell {
    let Some(first) = found.first() else { return Cell::Fixed("null".to_owned()) };
    let fixed = match type_ {
        "date" => return since(Some(first)),
        "string" if found.len() == 1 && first.is_null() => Value::Null,
        "string" => Value::from(found.iter().map(|value| text(value)).collect::<Vec<_>>().join(",")),
        "integer" => match (first.as_i64(), first.as_u64(), first.as_f64()) {
            (Some(number), ..) => Value::from(number),
            (_, Some(number), _) => Value::from(number),
            (_, _, Some(number)) => Value::from(number.trunc()),
            _ => Value::Null,
        },
        "number" if first.is_number() => (*first).clone(),
        "boolean" if first.is_boolean() => (*first).clone(),
        _ => Value::Null,
    };
    Cell::Fixed(fixed.to_string())
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn since(value: Option<&Value>) -> Cell {
    match value.and_then(Value::as_str) {
        None => Cell::Fixed("\"<unknown>\"".to_owned()),
        Some(time) => match time.parse() {
            Ok(time) => Cell::Since(time),
            Err(_) => Cell::Fixed("\"<invalid>\"".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(type_: &str, values: &[Value]) -> String {
        let cell = cell(type_, &values.iter().collect::<Vec<_>>());
        let mut out = Vec::new();
        write(&cell, "2026-01-02T00:00:00Z".parse().unwrap(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cells_follow_their_columns_type() {
        assert_eq!(written("string", &[json!("a\"b")]), r#""a\"b""#);
        assert_eq!(written("string", &[json!(["a", "b"])]), r#""[\"a\",\"b\"]""#);
        assert_eq!(written("string", &[json!("a"), json!("b")]), r#""a,b""#);
        assert_eq!(written("string", &[json!(true)]), r#""true""#);
        assert_eq!(written("string", &[json!(null)]), "null");
        assert_eq!(written("string", &[]), "null");
        assert_eq!(written("integer", &[json!(7)]), "7");
        assert_eq!(written("integer", &[json!("7")]), "null");
        assert_eq!(written("number", &[json!(7.5)]), "7.5");
        assert_eq!(written("boolean", &[json!(false)]), "false");
        assert_eq!(written("boolean", &[json!("false")]), "null");
        assert_eq!(written("date", &[json!("2026-01-01T23:00:00Z")]), r#""60m""#);
        assert_eq!(written("date", &[json!("yesterday")]), r#""<invalid>""#);
    }
}
