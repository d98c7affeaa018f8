//! Following tables: the rows as they are now, and a coalescing notice that they changed.
//!
//! The rows are kept by the connection's own task. Whoever follows them is told that something changed and in which
//! tables, never by one message per change, so a slow reader costs nothing and misses nothing but the steps between.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value as Json, json};
use tokio::sync::Notify;

use super::{Connection, Error, Replica, ReplicaError, Schema};

/// Updates that may come before the answer that they follow.
const EARLY: usize = 16;

/// Tables to follow, and which columns of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MonitorTables {
    tables: BTreeMap<String, BTreeSet<String>>,
}

impl MonitorTables {
    /// Adds columns of a table.
    #[must_use]
    pub fn table(mut self, table: &str, columns: &[&str]) -> Self {
        self.tables
            .entry(table.to_owned())
            .or_default()
            .extend(columns.iter().map(|&column| column.to_owned()));
        self
    }

    /// Only those that the schema has.
    #[must_use]
    pub fn known_to(mut self, schema: &Schema) -> Self {
        self.tables.retain(|table, columns| {
            columns.retain(|column| schema.has(table, column));
            schema.tables.contains_key(table)
        });
        self
    }

    /// Names of the tables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    pub(super) fn to_json(&self) -> Json {
        let tables = self.tables.iter();
        let request =
            |(table, columns): (&String, &BTreeSet<String>)| (table.clone(), json!({ "columns": columns }));
        Json::Object(tables.map(request).collect())
    }
}

/// What changed since the last time somebody asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Tables in which rows came, changed or went.
    pub tables: BTreeSet<String>,
    /// How many updates of the server are in it.
    pub updates: u64,
}

/// A running monitor; it ends when dropped.
#[derive(Debug)]
pub struct Monitor {
    connection: Connection,
    cell: Arc<Cell>,
    id: String,
}

impl Monitor {
    pub(super) fn new(connection: Connection, cell: Arc<Cell>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { connection, cell, id: format!("monitor-{}", NEXT.fetch_add(1, Ordering::Relaxed)) }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Looks at the rows as they are now. `look` should be short: updates wait for it.
    pub fn read<R>(&self, look: impl FnOnce(&Replica) -> R) -> R {
        look(&self.cell.lock().replica)
    }

    /// Waits until something changed since the last call; fails once the connection has ended.
    ///
    /// Safe to cancel: what was not returned is returned the next time.
    pub async fn changed(&self) -> Result<Changes, Error> {
        loop {
            let woken = self.cell.woken.notified();
            if let Some(changes) = self.cell.take() {
                return Ok(changes);
            }
            if let Some(error) = self.connection.end() {
                return Err(error);
            }
            woken.await;
        }
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.connection.end_monitor(&self.id);
    }
}

/// Where the connection's task and the monitor's holder meet.
#[derive(Debug)]
pub(super) struct Cell {
    state: Mutex<State>,
    woken: Notify,
}

#[derive(Debug)]
struct State {
    replica: Replica,
    /// Updates that came before the first rows; `None` once those are there.
    early: Option<Vec<Json>>,
    changes: Changes,
}

impl Cell {
    pub(super) fn new(tables: &MonitorTables, rows: usize) -> Self {
        let replica = Replica::new(tables.names(), rows);
        let state = State { replica, early: Some(Vec::new()), changes: Changes::default() };
        Self { state: Mutex::new(state), woken: Notify::new() }
    }

    /// Takes the first rows, then whatever came before them.
    pub(super) fn begin(&self, initial: &Json) -> Result<(), ReplicaError> {
        let mut state = self.lock();
        state.replica.apply(initial)?;
        for update in state.early.take().unwrap_or_default() {
            state.replica.apply(&update)?;
        }
        Ok(())
    }

    /// Takes an update.
    pub(super) fn update(&self, update: Json) -> Result<(), ReplicaError> {
        let mut state = self.lock();
        if let Some(early) = &mut state.early {
            if early.len() >= EARLY {
                return Err(ReplicaError::Early(EARLY));
            }
            early.push(update);
            return Ok(());
        }
        let touched = state.replica.apply(&update)?;
        state.changes.tables.extend(touched);
        state.changes.updates += 1;
        drop(state);
        self.woken.notify_waiters();
        Ok(())
    }

    pub(super) fn wake(&self) {
        self.woken.notify_waiters();
    }

    fn take(&self) -> Option<Changes> {
        let mut state = self.lock();
        (state.changes.updates > 0).then(|| std::mem::take(&mut state.changes))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "9ba9b625-0000-4000-8000-000000000001";

    #[test]
    fn an_update_that_overtakes_the_first_rows_is_applied_after_them() {
        let cell = Cell::new(&MonitorTables::default().table("T", &["c"]), 10);
        cell.update(json!({"T": {ROW: {"old": {"c": 1}}}})).unwrap();
        cell.begin(&json!({"T": {ROW: {"new": {"c": 1}}}})).unwrap();
        assert!(cell.lock().replica.is_empty());
    }

    #[test]
    fn updates_before_the_first_rows_are_bounded() {
        let cell = Cell::new(&MonitorTables::default(), 10);
        let last = (0..=EARLY).map(|_| cell.update(json!({}))).last();
        assert_eq!(last, Some(Err(ReplicaError::Early(EARLY))));
    }

    #[test]
    fn changes_gather_until_taken() {
        let cell = Cell::new(&MonitorTables::default().table("T", &[]).table("U", &[]), 10);
        cell.begin(&json!({})).unwrap();
        assert_eq!(cell.take(), None);
        cell.update(json!({"T": {ROW: {"new": {}}}})).unwrap();
        cell.update(json!({"U": {ROW: {"new": {}}}})).unwrap();
        let tables = BTreeSet::from(["T".to_owned(), "U".to_owned()]);
        assert_eq!(cell.take(), Some(Changes { tables, updates: 2 }));
        assert_eq!(cell.take(), None);
    }

    #[test]
    fn only_what_the_schema_has_is_asked_for() {
        let schema = br#"{"name":"d","version":"1","tables":{"T":{"columns":{"a":{"type":"string"}}}}}"#;
        let schema = Schema::parse(schema).unwrap();
        let tables = MonitorTables::default().table("T", &["a", "b"]).table("U", &["a"]).known_to(&schema);
        assert_eq!(tables.to_json(), json!({"T": {"columns": ["a"]}}));
    }
}
