//! Single cells of the database: comparing and mutating what a column holds.

use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::ovsdb::syntax_error;
use super::rows::Row;
use super::schema::{Kind, Table};

/// Whether the table has the column; every row has an identity.
pub(super) fn is_column(table: &Table, name: &str) -> bool {
    name == "_uuid" || table.column(name).is_some()
}

/// Whether a row meets a clause of `where`.
pub(super) fn holds(table: &Table, uuid: Uuid, row: &Row, condition: &Json) -> Result<bool, Json> {
    let parts = condition.as_array().map(Vec::as_slice).unwrap_or_default();
    let [Json::String(column), Json::String(function), value] = parts else {
        return Err(syntax_error("Parse error in clause."));
    };
    if !is_column(table, column) {
        return Err(syntax_error(format!("No column {column} in table {}.", table.name)));
    }
    let own = json!(["uuid", uuid.to_string()]);
    let has = if column == "_uuid" { &own } else { row.get(column).unwrap_or(&Json::Null) };
    let includes = || atoms(value).iter().all(|atom| atoms(has).contains(atom));
    match function.as_str() {
        "==" => Ok(normal(value) == *has),
        "!=" => Ok(normal(value) != *has),
        "includes" => Ok(includes()),
        "excludes" => Ok(!atoms(value).iter().any(|atom| atoms(has).contains(atom))),
        other => Err(syntax_error(format!("No function named {other}."))),
    }
}

/// What a column holds after a mutation.
pub(super) fn mutated(kind: Kind, has: &Json, mutator: &str, value: &Json) -> Result<Json, Json> {
    let change = atoms(value);
    let mut now = atoms(has);
    let same_key = |a: &Json, b: &Json| if kind.is_map() { a.get(0) == b.get(0) } else { a == b };
    match mutator {
        "insert" => {
            for atom in change {
                if !now.iter().any(|other| same_key(other, &atom)) {
                    now.push(atom);
                }
            }
        }
        // From a map, either pairs or mere keys are taken away.
        "delete" => now.retain(|atom| {
            !change.iter().any(|gone| gone == atom || (kind.is_map() && atom.get(0) == Some(gone)))
        }),
        "+=" | "-=" => {
            let sign = if mutator == "+=" { 1 } else { -1 };
            let sum = has.as_i64().zip(value.as_i64()).and_then(|(has, more)| has.checked_add(sign * more));
            return sum.map(|sum| json!(sum)).ok_or_else(|| json!({ "error": "range error" }));
        }
        other => return Err(syntax_error(format!("No mutator named {other}."))),
    }
    Ok(if kind.is_map() { json!(["map", now]) } else { normal(&json!(["set", now])) })
}

/// The elements of a set or the pairs of a map.
pub(super) fn atoms(value: &Json) -> Vec<Json> {
    match value.as_array().map(Vec::as_slice) {
        Some([Json::String(tag), Json::Array(atoms)]) if tag == "set" || tag == "map" => atoms.clone(),
        _ => vec![value.clone()],
    }
}

/// A set of one as the bare atom that the server sends.
pub(super) fn normal(value: &Json) -> Json {
    match value.as_array().map(Vec::as_slice) {
        Some([Json::String(tag), Json::Array(atoms)]) if tag == "set" => match atoms.as_slice() {
            [atom] => atom.clone(),
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}
