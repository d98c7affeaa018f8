//! A live view of one switch: open it, look at the picture, wait until it changed.
//!
//! It lives as long as its connection. When that ends, [`SwitchView::changed`] says why, and the caller opens a new
//! one with fresh rows: nothing survives from before, so nothing stale can.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use uuid::Uuid;

use crate::connect::Connector;
use crate::ovsdb::{
    Atom, Changes, Connection, DatabaseStatus, Error, Monitor, Options, Row, SERVER, Schema, Transaction,
};

use super::columns::{DATABASE, wanted};
use super::{Switch, decode};

/// Counters of all interfaces, by row, and when they were read.
#[derive(Debug, Default)]
struct Counters {
    read_at: Option<Instant>,
    interfaces: BTreeMap<Uuid, BTreeMap<String, i64>>,
}

/// A live view of one switch. All methods take `&self`: share it behind an `Arc` if several tasks look.
#[derive(Debug)]
pub struct SwitchView {
    connection: Connection,
    schema: Schema,
    rows: Monitor,
    server: Option<Monitor>,
    counters: Mutex<Counters>,
}

impl SwitchView {
    /// Connects, reads the schema, follows what the picture needs and reads the counters once.
    ///
    /// Fails with [`Error::DatabaseNotConnected`] when the server itself says that it is cut off from the database.
    pub async fn open(connector: &dyn Connector, options: &Options) -> Result<Self, Error> {
        let connection = Connection::connect(connector, options).await?;
        Self::over(connection).await
    }

    /// The same over a connection that exists.
    pub async fn over(connection: Connection) -> Result<Self, Error> {
        let offered = connection.list_dbs().await?;
        if !offered.iter().any(|name| name == DATABASE) {
            return Err(Error::NoDatabase { database: DATABASE.to_owned(), offered });
        }
        let server = if offered.iter().any(|name| name == SERVER) {
            let tables = DatabaseStatus::tables(&connection.get_schema(SERVER).await?);
            Some(connection.monitor(SERVER, &tables).await?)
        } else {
            None
        };
        let schema = connection.get_schema(DATABASE).await?;
        let rows = connection.monitor(DATABASE, &wanted().known_to(&schema)).await?;
        let view = Self { connection, schema, rows, server, counters: Mutex::default() };
        view.usable()?;
        view.read_counters().await?;
        Ok(view)
    }

    /// The picture as it is now.
    pub fn switch(&self) -> Switch {
        let counters = self.counters().interfaces.clone();
        let mut switch = self.rows.read(|replica| decode(replica, &counters));
        switch.schema_version.clone_from(&self.schema.version);
        switch
    }

    /// Waits until the picture may have changed since the last call; says in which tables.
    ///
    /// Fails once the connection ended or the database is cut off; the view is of no more use then. Safe to cancel.
    pub async fn changed(&self) -> Result<Changes, Error> {
        let Some(server) = &self.server else { return self.rows.changed().await };
        loop {
            tokio::select! {
                changes = self.rows.changed() => return changes,
                changes = server.changed() => {
                    changes?;
                    self.usable()?;
                }
            }
        }
    }

    /// Reads the counters of all interfaces. Later pictures hold them.
    pub async fn read_counters(&self) -> Result<(), Error> {
        if !self.schema.has("Interface", "statistics") {
            return Ok(());
        }
        let select = Transaction::default().select("Interface", &[], &["_uuid", "statistics"]);
        let results = self.connection.transact(DATABASE, &select).await?;
        let interfaces = results.iter().flat_map(|result| &result.rows).filter_map(counters_of).collect();
        *self.counters() = Counters { read_at: Some(Instant::now()), interfaces };
        Ok(())
    }

    /// When the counters were last read.
    pub fn counters_read_at(&self) -> Option<Instant> {
        self.counters().read_at
    }

    /// The schema of the database.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What the server says about the database; `None` on servers that do not say.
    pub fn database_status(&self) -> Option<DatabaseStatus> {
        self.server.as_ref()?.read(|replica| DatabaseStatus::find(replica, DATABASE))
    }

    /// The connection, for more questions.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    fn usable(&self) -> Result<(), Error> {
        match self.database_status() {
            Some(status) if !status.is_usable() => {
                Err(Error::DatabaseNotConnected { database: DATABASE.to_owned() })
            }
            _ => Ok(()),
        }
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The counters in a row; a counter that is no integer is left out.
fn counters_of(row: &Row) -> Option<(Uuid, BTreeMap<String, i64>)> {
    let [Atom::Uuid(uuid)] = row.get("_uuid")?.atoms() else { return None };
    let pairs = row.get("statistics")?.pairs().iter();
    let counters = pairs.filter_map(|pair| match pair {
        (Atom::String(name), Atom::Integer(count)) => Some((name.clone(), *count)),
        _ => None,
    });
    Some((*uuid, counters.collect()))
}
