//! What the server says about its own databases, in `_Server`.
//!
//! A clustered or relayed database may be cut off; its tables then look empty or old. That must not be mistaken for a
//! switch without bridges.

use super::{Atom, Condition, Connection, Error, MonitorTables, Replica, Row, Schema, Transaction, Value};

/// Name of the database about databases.
pub(crate) const SERVER: &str = "_Server";

/// The state of one database of a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DatabaseStatus {
    /// `standalone`, `clustered` or `relay`.
    pub model: Option<String>,
    /// Whether the server has the database's content.
    pub connected: Option<bool>,
    /// Whether the server may write it.
    pub leader: Option<bool>,
}

impl DatabaseStatus {
    /// False only when the server says that it is cut off.
    pub fn is_usable(&self) -> bool {
        self.connected != Some(false)
    }

    pub(super) async fn read(connection: &Connection, database: &str) -> Result<Option<Self>, Error> {
        if !connection.list_dbs().await?.iter().any(|name| name == SERVER) {
            return Ok(None);
        }
        let select = Transaction::default().select(
            "Database",
            &[Condition::equal("name", database)],
            &["name", "model", "connected", "leader"],
        );
        let results = connection.transact(SERVER, &select).await?;
        Ok(results.first().and_then(|result| result.rows.first()).map(Self::from_row))
    }

    /// The tables to monitor in `_Server`.
    pub(crate) fn tables(schema: &Schema) -> MonitorTables {
        MonitorTables::default().table("Database", &["name", "model", "connected", "leader"]).known_to(schema)
    }

    /// The row of a database among the monitored ones.
    pub(crate) fn find(replica: &Replica, database: &str) -> Option<Self> {
        let wanted = Value::from(database);
        replica
            .rows("Database")
            .find(|(_, row)| row.get("name") == Some(&wanted))
            .map(|(_, row)| Self::from_row(row))
    }

    fn from_row(row: &Row) -> Self {
        let atom = |column: &str| row.get(column).and_then(|value| value.atoms().first());
        let truth = |column: &str| match atom(column) {
            Some(Atom::Boolean(truth)) => Some(*truth),
            _ => None,
        };
        let model = match atom("model") {
            Some(Atom::String(model)) => Some(model.clone()),
            _ => None,
        };
        Self { model, connected: truth("connected"), leader: truth("leader") }
    }
}
