//! Transactions: built, sent as one, answered operation by operation.
//!
//! For tests and tools. A program that only watches a switch should send selects and nothing else: a careless mutate
//! of an empty optional column succeeds and stays.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

use crate::rpc::RemoteError;

use super::{Error, Row, Value};

/// Operations that succeed or fail together.
///
/// ```
/// use ovs_client::ovsdb::{Condition, Transaction};
///
/// let ports = Transaction::default().select("Port", &[Condition::equal("name", "bond0")], &["bond_mode", "lacp"]);
/// assert_eq!(ports.len(), 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transaction {
    operations: Vec<Json>,
}

/// A clause of `where`: rows must meet all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    column: String,
    function: Function,
    value: Value,
}

/// How a column is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of RFC 7047 say all")]
pub enum Function {
    Equal,
    NotEqual,
    Includes,
    Excludes,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A change of a column that depends on what it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Mutation {
    /// The column.
    pub column: String,
    /// What is done to it.
    pub mutator: Mutator,
    /// With what.
    pub value: Value,
}

/// What a mutation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutator {
    /// Adds a number.
    Add,
    /// Subtracts a number.
    Subtract,
    /// Adds elements to a set or pairs to a map.
    Insert,
    /// Takes elements or pairs away.
    Delete,
}

/// What an operation gave.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OperationResult {
    /// The row that was inserted.
    pub uuid: Option<Uuid>,
    /// How many rows were updated, mutated or deleted.
    pub count: Option<u64>,
    /// The rows that were selected.
    pub rows: Vec<Row>,
}

impl Condition {
    /// A comparison.
    pub fn new(column: &str, function: Function, value: impl Into<Value>) -> Self {
        Self { column: column.to_owned(), function, value: value.into() }
    }

    /// The column holds exactly this.
    pub fn equal(column: &str, value: impl Into<Value>) -> Self {
        Self::new(column, Function::Equal, value)
    }

    fn to_json(&self) -> Json {
        let function = match self.function {
            Function::Equal => "==",
            Function::NotEqual => "!=",
            Function::Includes => "includes",
            Function::Excludes => "excludes",
            Function::Less => "<",
            Function::LessOrEqual => "<=",
            Function::Greater => ">",
            Function::GreaterOrEqual => ">=",
        };
        json!([self.column, function, self.value.to_json()])
    }
}

impl Mutation {
    /// Adds elements to a set or pairs to a map.
    pub fn insert(column: &str, value: impl Into<Value>) -> Self {
        Self { column: column.to_owned(), mutator: Mutator::Insert, value: value.into() }
    }

    /// Takes elements or pairs away.
    pub fn delete(column: &str, value: impl Into<Value>) -> Self {
        Self { column: column.to_owned(), mutator: Mutator::Delete, value: value.into() }
    }

    fn to_json(&self) -> Json {
        let mutator = match self.mutator {
            Mutator::Add => "+=",
            Mutator::Subtract => "-=",
            Mutator::Insert => "insert",
            Mutator::Delete => "delete",
        };
        json!([self.column, mutator, self.value.to_json()])
    }
}

impl Transaction {
    /// Any operation at all.
    #[must_use]
    pub fn raw(mut self, operation: Json) -> Self {
        self.operations.push(operation);
        self
    }

    /// Reads columns of the rows that meet all conditions.
    #[must_use]
    pub fn select(self, table: &str, rows: &[Condition], columns: &[&str]) -> Self {
        self.raw(json!({ "op": "select", "table": table, "where": conditions(rows), "columns": columns }))
    }

    /// Adds a row; other operations may refer to it as [`Atom::NamedUuid`](super::Atom::NamedUuid) of `name`.
    #[must_use]
    pub fn insert(self, table: &str, name: &str, row: &[(&str, Value)]) -> Self {
        self.raw(json!({ "op": "insert", "table": table, "uuid-name": name, "row": columns(row) }))
    }

    /// Sets columns of the rows that meet all conditions.
    #[must_use]
    pub fn update(self, table: &str, rows: &[Condition], row: &[(&str, Value)]) -> Self {
        self.raw(json!({ "op": "update", "table": table, "where": conditions(rows), "row": columns(row) }))
    }

    /// Changes columns of the rows that meet all conditions.
    #[must_use]
    pub fn mutate(self, table: &str, rows: &[Condition], mutations: &[Mutation]) -> Self {
        let mutations: Vec<_> = mutations.iter().map(Mutation::to_json).collect();
        self.raw(json!({ "op": "mutate", "table": table, "where": conditions(rows), "mutations": mutations }))
    }

    /// Removes the rows that meet all conditions.
    #[must_use]
    pub fn delete(self, table: &str, rows: &[Condition]) -> Self {
        self.raw(json!({ "op": "delete", "table": table, "where": conditions(rows) }))
    }

    /// Fails the transaction unless the rows that meet all conditions have exactly these values now.
    #[must_use]
    pub fn wait(self, table: &str, rows: &[Condition], row: &[(&str, Value)]) -> Self {
        let names: Vec<&str> = row.iter().map(|(name, _)| *name).collect();
        self.raw(json!({ "op": "wait", "table": table, "timeout": 0, "where": conditions(rows),
            "columns": names, "until": "==", "rows": [columns(row)] }))
    }

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    pub(super) fn to_params(&self, database: &str) -> Json {
        let database = std::iter::once(json!(database));
        database.chain(self.operations.iter().cloned()).collect()
    }
}

impl OperationResult {
    /// Reads the answer to a transaction of `operations` operations. The first error in it is the transaction's error.
    pub(super) fn read_all(result: &Json, operations: usize) -> Result<Vec<Self>, Error> {
        let unexpected = |expected| Error::Unexpected { method: "transact".to_owned(), expected };
        let slots = result.as_array().ok_or_else(|| unexpected("a list"))?;
        let failed = slots.iter().position(|slot| slot.get("error").is_some_and(|error| !error.is_null()));
        if let Some((index, slot)) = failed.and_then(|index| slots.get(index).map(|slot| (index, slot))) {
            return Err(Error::Operation { index, error: RemoteError::from_json(slot) });
        }
        if slots.len() != operations {
            return Err(unexpected("one result per operation"));
        }
        slots.iter().map(|slot| Self::read(slot).ok_or_else(|| unexpected("results of operations"))).collect()
    }

    fn read(slot: &Json) -> Option<Self> {
        let slot = slot.as_object()?;
        let uuid = match slot.get("uuid") {
            Some(uuid) => Some(uuid.get(1)?.as_str()?.parse().ok()?),
            None => None,
        };
        let rows = match slot.get("rows") {
            Some(rows) => rows.as_array()?.iter().map(Row::from_json).collect::<Option<_>>()?,
            None => Vec::new(),
        };
        Some(Self { uuid, count: slot.get("count").and_then(Json::as_u64), rows })
    }
}

fn conditions(rows: &[Condition]) -> Vec<Json> {
    rows.iter().map(Condition::to_json).collect()
}

fn columns(row: &[(&str, Value)]) -> Map<String, Json> {
    let row: BTreeMap<_, _> = row.iter().map(|(name, value)| ((*name).to_owned(), value.to_json())).collect();
    row.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_in_a_slot_or_after_the_last_is_the_transactions_error() {
        let inside = json!([{"error": "syntax error", "details": "x is not a valid column name"}, null]);
        let after = json!([{"uuid": ["uuid", "9929084c-0000-4000-8000-000000000001"]}, {"error": "constraint violation", "details": "two"}]);
        let error = |result: &Json, operations| OperationResult::read_all(result, operations).unwrap_err();
        assert!(
            matches!(error(&inside, 2), Error::Operation { index: 0, error } if error.error == "syntax error")
        );
        assert!(
            matches!(error(&after, 1), Error::Operation { index: 1, error } if error.to_string() == "constraint violation: two")
        );
        assert!(matches!(error(&json!([]), 1), Error::Unexpected { .. }));
        assert!(matches!(error(&json!([null]), 1), Error::Unexpected { .. }));
    }

    #[test]
    fn results_are_typed() {
        let result = json!([{"count": 2}, {"rows": [{"name": "a"}]}, {}]);
        let results = OperationResult::read_all(&result, 3).unwrap();
        assert_eq!(results[0].count, Some(2));
        assert_eq!(results[1].rows[0].get("name"), Some(&"a".into()));
        assert_eq!(results[2], OperationResult::default());
    }
}
