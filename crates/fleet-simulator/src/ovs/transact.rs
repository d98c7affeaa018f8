//! Transactions on the simulated database: operations on a copy of the rows, then checked, then written back.
//!
//! As much of RFC 7047 as tools and tests use. What is not offered is refused in the words of the real server.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use uuid::Uuid;

use crate::model::{Host, HostChange};

use super::cells::{holds, is_column, mutated, normal};
use super::ovsdb::syntax_error;
use super::rows::{Row, Tables, counter_rows, row, server_tables, switch_tables};
use super::schema::{self, Kind, Table};
use super::write_back::{check, collect, write_back};

/// Does the operations; gives one result per operation, and an error after them when the commit fails.
pub(super) fn transact(host: &Host, name: &str, tables: &'static [Table], operations: &[Json]) -> Json {
    if name == "_Server" {
        return Work { schema: tables, rows: server_tables(), names: Vec::new(), writes: false }
            .run(operations)
            .0;
    }
    if asks_for_counters(operations) {
        let switch = host.read(|state| Arc::clone(&state.switch));
        return json!([{ "rows": counter_rows(&switch) }]);
    }
    host.change(|state, happened| {
        let rows = switch_tables(&state.switch);
        let mut work = Work { schema: tables, rows, names: named(operations), writes: false };
        let (mut results, failed) = work.run(operations);
        if failed || !work.writes {
            return results;
        }
        let Work { mut rows, .. } = work;
        collect(&mut rows);
        match check(&rows) {
            Ok(()) => {
                write_back(Arc::make_mut(&mut state.switch), &rows);
                happened.push(HostChange::Switch);
            }
            Err(error) => drop(results.as_array_mut().map(|results| results.push(error))),
        }
        results
    })
}

/// What followers of a switch ask all the time; it needs none of the other rows.
fn asks_for_counters(operations: &[Json]) -> bool {
    let [operation] = operations else { return false };
    let empty = |name| operation.get(name).and_then(Json::as_array).is_some_and(Vec::is_empty);
    operation.get("op") == Some(&json!("select"))
        && operation.get("table") == Some(&json!("Interface"))
        && operation.get("columns") == Some(&json!(["_uuid", "statistics"]))
        && empty("where")
}

/// A transaction under way.
struct Work {
    schema: &'static [Table],
    rows: Tables,
    /// Rows that operations name before or after they are inserted.
    names: Vec<(String, Uuid)>,
    writes: bool,
}

/// The identities of rows that the transaction will insert, by their names.
fn named(operations: &[Json]) -> Vec<(String, Uuid)> {
    let names = operations.iter().filter_map(|operation| operation.get("uuid-name")?.as_str());
    names.map(|name| (name.to_owned(), Uuid::new_v4())).collect()
}

impl Work {
    /// The results, and whether an operation failed.
    fn run(&mut self, operations: &[Json]) -> (Json, bool) {
        let mut results = Vec::new();
        let mut failed = false;
        for (index, operation) in operations.iter().enumerate() {
            if failed {
                results.push(Json::Null);
                continue;
            }
            let result = self.operate(operation, index + 1, operations.len());
            failed = result.is_err();
            results.push(result.unwrap_or_else(|error| error));
        }
        (Json::Array(results), failed)
    }

    fn operate(&mut self, operation: &Json, number: usize, of: usize) -> Result<Json, Json> {
        let parsing =
            |what: String| syntax_error(format!("Parsing ovsdb operation {number} of {of} failed: {what}"));
        let op = operation.get("op").and_then(Json::as_str).unwrap_or_default();
        match op {
            "comment" => return Ok(json!({})),
            "abort" => return Err(json!({ "error": "aborted", "details": "aborted by request" })),
            "assert" => {
                let lock = operation.get("lock").and_then(Json::as_str).unwrap_or_default();
                return Err(
                    json!({ "error": "not owner", "details": format!("Asserted lock {lock} not held.") }),
                );
            }
            "insert" | "select" | "update" | "mutate" | "delete" | "wait" => {}
            other => return Err(parsing(format!("No operation \"{other}\""))),
        }
        let name = operation.get("table").and_then(Json::as_str).unwrap_or_default();
        let table =
            schema::table(self.schema, name).ok_or_else(|| parsing(format!("No table named {name}.")))?;
        match op {
            "insert" => self.insert(table, operation),
            "select" => self.select(table, operation),
            "wait" => self.wait(table, operation),
            "update" => self.update(table, operation),
            "mutate" => self.mutate(table, operation),
            _ => {
                let found = self.find(table, operation)?;
                let rows = self.rows.entry(table.name).or_default();
                rows.retain(|uuid, _| !found.contains(uuid));
                self.writes = true;
                Ok(json!({ "count": found.len() }))
            }
        }
    }

    fn insert(&mut self, table: &'static Table, operation: &Json) -> Result<Json, Json> {
        let columns = self.columns(table, operation)?;
        let name = operation.get("uuid-name").and_then(Json::as_str);
        let known = name.and_then(|name| self.names.iter().find(|(known, _)| known == name));
        let uuid = known.map_or_else(Uuid::new_v4, |(_, uuid)| *uuid);
        let columns = columns.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        self.rows.entry(table.name).or_default().insert(uuid, row(self.schema, table.name, columns));
        self.writes = true;
        Ok(json!({ "uuid": ["uuid", uuid.to_string()] }))
    }

    fn select(&self, table: &'static Table, operation: &Json) -> Result<Json, Json> {
        let wanted = operation.get("columns").and_then(Json::as_array);
        let wanted: Option<Vec<&str>> = wanted.map(|names| names.iter().filter_map(Json::as_str).collect());
        for name in wanted.iter().flatten() {
            if !is_column(table, name) {
                return Err(syntax_error(format!("{name} is not a valid column name")));
            }
        }
        let is_wanted = |name: &str| wanted.as_ref().is_none_or(|wanted| wanted.contains(&name));
        let mut found = Vec::new();
        for uuid in self.find(table, operation)? {
            let Some(row) = self.row(table, uuid) else { continue };
            let mut out: Row =
                row.iter().filter(|(name, _)| is_wanted(name)).map(|(k, v)| (k.clone(), v.clone())).collect();
            if is_wanted("_uuid") {
                out.insert("_uuid".to_owned(), json!(["uuid", uuid.to_string()]));
            }
            found.push(out);
        }
        Ok(json!({ "rows": found }))
    }

    fn wait(&self, table: &'static Table, operation: &Json) -> Result<Json, Json> {
        let names: Vec<&str> = operation
            .get("columns")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect();
        let has: Vec<Row> = self
            .find(table, operation)?
            .into_iter()
            .filter_map(|uuid| self.row(table, uuid))
            .map(|row| {
                names.iter().filter_map(|name| Some(((*name).to_owned(), row.get(*name)?.clone()))).collect()
            })
            .collect();
        let wanted: Vec<Row> = operation
            .get("rows")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .filter_map(|row| row.as_object().cloned())
            .collect();
        let equal = has.len() == wanted.len() && has.iter().all(|row| wanted.contains(row));
        let until_equal = operation.get("until").and_then(Json::as_str) != Some("!=");
        if equal == until_equal {
            return Ok(json!({}));
        }
        Err(json!({ "error": "timed out", "details": "\"where\" clause test failed" }))
    }

    fn update(&mut self, table: &'static Table, operation: &Json) -> Result<Json, Json> {
        let columns = self.columns(table, operation)?;
        let found = self.find(table, operation)?;
        for uuid in &found {
            if let Some(row) = self.row_mut(table, *uuid) {
                row.extend(columns.clone());
            }
        }
        self.writes = true;
        Ok(json!({ "count": found.len() }))
    }

    fn mutate(&mut self, table: &'static Table, operation: &Json) -> Result<Json, Json> {
        let found = self.find(table, operation)?;
        for mutation in operation.get("mutations").and_then(Json::as_array).into_iter().flatten() {
            let parts = mutation.as_array().map(Vec::as_slice).unwrap_or_default();
            let [Json::String(column), Json::String(mutator), value] = parts else {
                return Err(syntax_error("Parsing mutation failed"));
            };
            let kind = kind_of(table, column)?;
            let value = self.resolve(value)?;
            for uuid in &found {
                if let Some(slot) = self.row_mut(table, *uuid).and_then(|row| row.get_mut(column)) {
                    *slot = mutated(kind, slot, mutator, &value)?;
                }
            }
        }
        self.writes = true;
        Ok(json!({ "count": found.len() }))
    }

    /// The columns of an operation's `row`, with names of rows replaced by their identities.
    fn columns(&self, table: &'static Table, operation: &Json) -> Result<Row, Json> {
        let mut columns = Row::new();
        for (name, value) in operation.get("row").and_then(Json::as_object).into_iter().flatten() {
            kind_of(table, name)?;
            columns.insert(name.clone(), normal(&self.resolve(value)?));
        }
        Ok(columns)
    }

    fn resolve(&self, value: &Json) -> Result<Json, Json> {
        match value.as_array().map(Vec::as_slice) {
            Some([Json::String(tag), Json::String(name)]) if tag == "named-uuid" => {
                let known = self.names.iter().find(|(known, _)| known == name);
                // The real server invents an identity, and the commit then fails for it.
                Ok(json!(["uuid", known.map_or_else(Uuid::new_v4, |(_, uuid)| *uuid).to_string()]))
            }
            Some(parts) => {
                parts.iter().map(|part| self.resolve(part)).collect::<Result<Vec<_>, _>>().map(Json::Array)
            }
            None => Ok(value.clone()),
        }
    }

    fn find(&self, table: &'static Table, operation: &Json) -> Result<Vec<Uuid>, Json> {
        let mut found = Vec::new();
        let conditions: Vec<&Json> =
            operation.get("where").and_then(Json::as_array).into_iter().flatten().collect();
        for (uuid, row) in self.rows.get(table.name).into_iter().flatten() {
            let mut all = true;
            for condition in &conditions {
                all &= holds(table, *uuid, row, condition)?;
            }
            if all {
                found.push(*uuid);
            }
        }
        Ok(found)
    }

    fn row(&self, table: &Table, uuid: Uuid) -> Option<&Row> {
        self.rows.get(table.name)?.get(&uuid)
    }

    fn row_mut(&mut self, table: &Table, uuid: Uuid) -> Option<&mut Row> {
        self.rows.get_mut(table.name)?.get_mut(&uuid)
    }
}

fn kind_of(table: &Table, name: &str) -> Result<Kind, Json> {
    table
        .column(name)
        .ok_or_else(|| syntax_error(format!("Table {} has no column named {name}.", table.name)))
}
