//! The rows of a monitor, kept as the server tells them. Pure: messages in, rows out.
//!
//! This applies the first form of update (`update`): each change carries the whole new row, so nothing has to be
//! known about column types. The diffs of `update2` and `update3` would be applied here too.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use uuid::Uuid;

use super::Row;

/// Rows of the monitored tables.
#[derive(Debug, Clone, Default)]
pub struct Replica {
    tables: BTreeMap<String, BTreeMap<Uuid, Row>>,
    rows: usize,
    limit: usize,
}

/// Why rows cannot be kept up with the server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplicaError {
    /// Not `{table: {uuid: {"new": row, "old": row}}}`.
    #[error("not a table update: {0}")]
    Syntax(&'static str),
    /// A table that was not asked for.
    #[error("an update for table {0:?}, which was not asked for")]
    Table(String),
    /// More rows than allowed.
    #[error("more than {0} rows")]
    TooManyRows(usize),
    /// More updates before the first rows than are kept.
    #[error("more than {0} updates came before the rows that they change")]
    Early(usize),
}

impl Replica {
    /// No rows yet, of these tables, never more than `limit`.
    pub fn new<'a>(tables: impl IntoIterator<Item = &'a str>, limit: usize) -> Self {
        let tables = tables.into_iter().map(|table| (table.to_owned(), BTreeMap::new())).collect();
        Self { tables, rows: 0, limit }
    }

    /// Applies the answer to `monitor` or the tables of an `update`; says which tables it touched.
    ///
    /// After an error the rows are not to be trusted any more.
    pub fn apply(&mut self, updates: &Json) -> Result<BTreeSet<String>, ReplicaError> {
        let updates = updates.as_object().ok_or(ReplicaError::Syntax("tables are not an object"))?;
        let mut touched = BTreeSet::new();
        for (table, changes) in updates {
            let rows = self.tables.get_mut(table).ok_or_else(|| ReplicaError::Table(table.clone()))?;
            let changes = changes.as_object().ok_or(ReplicaError::Syntax("rows are not an object"))?;
            for (uuid, change) in changes {
                let uuid = Uuid::try_parse(uuid).map_err(|_| ReplicaError::Syntax("a row id is no UUID"))?;
                match (change.get("new"), change.get("old")) {
                    (None | Some(Json::Null), Some(_)) => {
                        self.rows -= usize::from(rows.remove(&uuid).is_some());
                    }
                    (Some(new), _) => {
                        let row =
                            Row::from_json(new).ok_or(ReplicaError::Syntax("a row is not an object"))?;
                        self.rows += usize::from(rows.insert(uuid, row).is_none());
                    }
                    (None, None) => return Err(ReplicaError::Syntax("a change has neither new nor old")),
                }
                if self.rows > self.limit {
                    return Err(ReplicaError::TooManyRows(self.limit));
                }
            }
            touched.insert(table.clone());
        }
        Ok(touched)
    }

    /// The rows of a table; none when it is not monitored.
    pub fn rows(&self, table: &str) -> impl Iterator<Item = (Uuid, &Row)> {
        self.tables.get(table).into_iter().flatten().map(|(uuid, row)| (*uuid, row))
    }

    /// One row.
    pub fn row(&self, table: &str, uuid: Uuid) -> Option<&Row> {
        self.tables.get(table)?.get(&uuid)
    }

    /// Whether the table is monitored.
    pub fn has_table(&self, table: &str) -> bool {
        self.tables.contains_key(table)
    }

    /// How many rows are kept.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether no rows are kept.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const ROW: &str = "9ba9b625-0000-4000-8000-000000000001";

    fn name(replica: &Replica) -> Vec<Option<crate::ovsdb::Value>> {
        replica.rows("Bridge").map(|(_, row)| row.get("name").cloned()).collect()
    }

    #[test]
    fn insert_modify_and_delete_leave_what_the_server_has() {
        let mut replica = Replica::new(["Bridge"], 10);
        let touched = replica.apply(&json!({"Bridge": {ROW: {"new": {"name": "a"}}}})).unwrap();
        assert_eq!(touched, BTreeSet::from(["Bridge".to_owned()]));
        replica.apply(&json!({"Bridge": {ROW: {"new": {"name": "b"}, "old": {"name": "a"}}}})).unwrap();
        assert_eq!(name(&replica), [Some("b".into())]);
        replica.apply(&json!({"Bridge": {ROW: {"old": {"name": "b"}}}})).unwrap();
        assert!(replica.is_empty());
    }

    #[test]
    fn one_unreadable_column_hides_nothing_else() {
        let mut replica = Replica::new(["Bridge"], 10);
        replica.apply(&json!({"Bridge": {ROW: {"new": {"name": "a", "ports": {"odd": 1}}}}})).unwrap();
        let (_, row) = replica.rows("Bridge").next().unwrap();
        assert_eq!(row.get("name"), Some(&"a".into()));
        assert_eq!(row.unreadable().collect::<Vec<_>>(), ["ports"]);
    }

    #[test]
    fn what_cannot_be_applied_is_an_error() {
        let mut replica = Replica::new(["Bridge"], 0);
        let apply = |replica: &mut Replica, json: Json| replica.apply(&json).unwrap_err();
        assert_eq!(apply(&mut replica, json!({"Port": {}})), ReplicaError::Table("Port".to_owned()));
        assert_eq!(apply(&mut replica, json!({"Bridge": {ROW: {"new": {}}}})), ReplicaError::TooManyRows(0));
        for json in
            [json!([]), json!({"Bridge": 1}), json!({"Bridge": {"x": {}}}), json!({"Bridge": {ROW: {}}})]
        {
            assert!(matches!(apply(&mut replica, json), ReplicaError::Syntax(_)));
        }
    }

    proptest! {
        #![proptest_config(crate::property::few(64))]

        /// The count follows the rows whatever the order of changes, repeated inserts and deletes of nothing included.
        #[test]
        fn the_number_of_rows_is_the_number_of_rows(changes in prop::collection::vec((0_u128..4, any::<bool>()), 0..40)) {
            let mut replica = Replica::new(["T"], 10);
            for (uuid, insert) in changes {
                let key = if insert { "new" } else { "old" };
                replica.apply(&json!({"T": {Uuid::from_u128(uuid).to_string(): {key: {}}}})).unwrap();
                prop_assert_eq!(replica.len(), replica.rows("T").count());
            }
        }
    }
}
