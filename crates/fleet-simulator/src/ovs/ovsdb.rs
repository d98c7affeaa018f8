//! ovsdb-server: JSON-RPC over TCP or a unix socket.
//!
//! Each connection keeps the rows that its client has seen. When the switch changes, the difference between those and
//! the rows of now is what monitors send: no change can be forgotten, however many were missed.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use serde_json::{Map, Value as Json, json};
use tokio::net::TcpStream;
use tokio::sync::broadcast;
use tokio::time::{Instant, sleep_until};

use crate::model::{Host, HostChange, Switch};

use super::changes_ended;
use super::rows::{Row, Tables, server_tables, switch_tables};
use super::schema;
use super::serve::{Listener, Protocol, Wire, next_json, serve, serve_database};
use super::transact::transact;

/// After this much silence a TCP client is probed; after twice as much it is dropped.
const PROBE: Duration = Duration::from_secs(5);

/// Serves every connection of a listener.
pub(super) async fn serve_all(host: Arc<Host>, listener: Listener) {
    serve(host, listener, Protocol::Ovsdb, session).await;
}

/// Serves one TCP connection.
pub(super) async fn serve_connection(host: Arc<Host>, stream: TcpStream) {
    serve_database(host, stream, session).await;
}

/// Errors as the real server words them: an object or a bare string.
pub(super) fn syntax_error(details: impl Into<String>) -> Json {
    json!({ "error": "syntax error", "details": details.into() })
}

struct Session {
    host: Arc<Host>,
    wire: Wire,
    monitors: Vec<Monitor>,
    /// The switch as the client has been told of it.
    seen: Arc<Switch>,
}

struct Monitor {
    id: Json,
    tables: Vec<MonitoredTable>,
}

struct MonitoredTable {
    name: &'static str,
    columns: BTreeSet<String>,
    initial: bool,
}

/// What a request leads to.
enum Outcome {
    Reply(Result<Json, Json>),
    /// The real server closes the connection without a word.
    Close,
}

async fn session(host: Arc<Host>, wire: Wire) -> io::Result<()> {
    let changes = host.subscribe();
    let seen = host.read(|state| Arc::clone(&state.switch));
    Session { host, wire, monitors: Vec::new(), seen }.run(changes).await
}

impl Session {
    async fn run(mut self, mut changes: broadcast::Receiver<HostChange>) -> io::Result<()> {
        let mut buffer = BytesMut::new();
        let mut heard = Instant::now();
        let mut probed = false;
        loop {
            let patience = if probed { PROBE * 2 } else { PROBE };
            tokio::select! {
                read = self.wire.read(&mut buffer) => {
                    if read? == 0 {
                        return Ok(());
                    }
                    (heard, probed) = (Instant::now(), false);
                    while let Some(message) = next_json(&mut buffer)? {
                        if !self.take(&message).await? {
                            return Ok(());
                        }
                    }
                }
                ended = changes_ended(&mut changes) => {
                    if ended {
                        return Ok(());
                    }
                    self.tell_changes().await?;
                }
                () = sleep_until(heard + patience), if self.wire.is_tcp => {
                    if probed {
                        return Ok(());
                    }
                    probed = true;
                    let echo = json!({ "id": "echo", "method": "echo", "params": [] });
                    self.wire.send(echo.to_string().as_bytes()).await?;
                }
            }
        }
    }

    /// Takes one message; false when the connection is to be closed.
    async fn take(&mut self, message: &Json) -> io::Result<bool> {
        let Some(message) = message.as_object() else { return Ok(false) };
        let id = message.get("id").cloned().unwrap_or_default();
        let Some(method) = message.get("method") else {
            // A reply to our probe.
            return Ok(message.contains_key("result") || message.contains_key("error"));
        };
        let known = ["id", "method", "params"];
        let (Some(method), Some(params)) = (method.as_str(), message.get("params").and_then(Json::as_array))
        else {
            return Ok(false);
        };
        if message.keys().any(|key| !known.contains(&key.as_str())) {
            return Ok(false);
        }
        let outcome = self.answer(method, params);
        if id.is_null() {
            return Ok(true);
        }
        let reply = match outcome {
            Outcome::Close => return Ok(false),
            Outcome::Reply(Ok(result)) => json!({ "id": id, "result": result, "error": null }),
            Outcome::Reply(Err(error)) => json!({ "id": id, "error": error }),
        };
        // A change by this very client is told before its reply, as the real server does.
        if method == "transact" {
            self.tell_changes().await?;
        }
        self.wire.send(reply.to_string().as_bytes()).await?;
        Ok(true)
    }

    fn answer(&mut self, method: &str, params: &[Json]) -> Outcome {
        Outcome::Reply(match (method, params) {
            ("echo", _) => Ok(json!(params)),
            ("list_dbs", _) => Ok(json!(["Open_vSwitch", "_Server"])),
            ("get_server_id", _) => Ok(json!(self.host.uuid)),
            ("set_db_change_aware", _) => Ok(json!({})),
            ("get_schema", [name]) => {
                database(method, name).map(|(name, tables)| schema::to_json(name, tables))
            }
            ("monitor", [name, id, requests]) => self.monitor(name, id, requests),
            ("monitor_cancel", [id]) => self.cancel(id),
            ("transact", [name, operations @ ..]) => {
                database(method, name).map(|(name, tables)| transact(&self.host, name, tables, operations))
            }
            ("get_schema" | "monitor" | "monitor_cancel" | "transact", _) => return Outcome::Close,
            _ => Err(json!("unknown method")),
        })
    }

    fn monitor(&mut self, name: &Json, id: &Json, requests: &Json) -> Result<Json, Json> {
        let (name, tables) = database("monitor", name)?;
        if self.monitors.iter().any(|monitor| monitor.id == *id) {
            return Err(syntax_error("duplicate monitor ID"));
        }
        let requests =
            requests.as_object().ok_or_else(|| syntax_error("monitor-requests must be an object"))?;
        let mut monitored = Vec::new();
        for (table, request) in requests {
            let table = schema::table(tables, table)
                .ok_or_else(|| syntax_error(format!("no table named {table}")))?;
            let request = request.as_array().and_then(|requests| requests.first()).unwrap_or(request);
            monitored.push(monitored_table(table, request)?);
        }
        let monitor = Monitor { id: id.clone(), tables: monitored };
        let initial = match name {
            "_Server" => monitor.difference(&Tables::new(), &server_tables(), true),
            _ => {
                // Whatever changed since the last update belongs to the other monitors still; so compare with what was seen.
                monitor.difference(&Tables::new(), &switch_tables(&self.seen), true)
            }
        };
        self.monitors.push(monitor);
        Ok(Json::Object(initial))
    }

    fn cancel(&mut self, id: &Json) -> Result<Json, Json> {
        let before = self.monitors.len();
        self.monitors.retain(|monitor| monitor.id != *id);
        if self.monitors.len() < before { Ok(json!({})) } else { Err(json!("unknown monitor")) }
    }

    async fn tell_changes(&mut self) -> io::Result<()> {
        let now = self.host.read(|state| Arc::clone(&state.switch));
        if Arc::ptr_eq(&now, &self.seen) {
            return Ok(());
        }
        let (before, after) = (switch_tables(&self.seen), switch_tables(&now));
        for monitor in &self.monitors {
            let changes = monitor.difference(&before, &after, false);
            if !changes.is_empty() {
                let update = json!({ "id": null, "method": "update", "params": [monitor.id, changes] });
                self.wire.send(update.to_string().as_bytes()).await?;
            }
        }
        self.seen = now;
        Ok(())
    }
}

impl Monitor {
    /// What turns the rows of `before` into those of `now`, as far as this monitor looks.
    fn difference(&self, before: &Tables, now: &Tables, initial: bool) -> Map<String, Json> {
        let mut changes = Map::new();
        for table in self.tables.iter().filter(|table| table.initial || !initial) {
            let rows = table.difference(before, now);
            if !rows.is_empty() {
                changes.insert(table.name.to_owned(), Json::Object(rows));
            }
        }
        changes
    }
}

impl MonitoredTable {
    fn difference(&self, before: &Tables, now: &Tables) -> Map<String, Json> {
        let (before, now) = (before.get(self.name), now.get(self.name));
        let old = |uuid| before.and_then(|rows| rows.get(uuid));
        let mut changes = Map::new();
        for (uuid, row) in now.into_iter().flatten() {
            let new = self.project(row);
            match old(uuid).map(|row| self.project(row)) {
                None => drop(changes.insert(uuid.to_string(), json!({ "new": new }))),
                Some(mut old) if old != new => {
                    old.retain(|column, value| new.get(column) != Some(value));
                    changes.insert(uuid.to_string(), json!({ "new": new, "old": old }));
                }
                Some(_) => {}
            }
        }
        for (uuid, row) in before.into_iter().flatten() {
            if !now.is_some_and(|rows| rows.contains_key(uuid)) {
                changes.insert(uuid.to_string(), json!({ "old": self.project(row) }));
            }
        }
        changes
    }

    fn project(&self, row: &Row) -> Row {
        let columns = row.iter().filter(|(column, _)| self.columns.contains(*column));
        columns.map(|(column, value)| (column.clone(), value.clone())).collect()
    }
}

fn monitored_table(table: &'static schema::Table, request: &Json) -> Result<MonitoredTable, Json> {
    let columns = match request.get("columns").and_then(Json::as_array) {
        None => table.columns.iter().map(|(name, _)| (*name).to_owned()).collect(),
        Some(columns) => columns
            .iter()
            .map(|column| match column.as_str() {
                Some(name) if table.column(name).is_some() => Ok(name.to_owned()),
                name => Err(json!({
                    "error": "syntax error",
                    "details": format!("{} is not a valid column name", name.unwrap_or_default()),
                    "syntax": json!([column]).to_string(),
                })),
            })
            .collect::<Result<_, _>>()?,
    };
    let initial = request.pointer("/select/initial").and_then(Json::as_bool).unwrap_or(true);
    Ok(MonitoredTable { name: table.name, columns, initial })
}

fn database(method: &str, name: &Json) -> Result<(&'static str, &'static [schema::Table]), Json> {
    let text = name.as_str().unwrap_or_default();
    let known = ["Open_vSwitch", "_Server"].into_iter().find(|known| *known == text);
    known.and_then(|known| Some((known, schema::database(known)?))).ok_or_else(|| {
        json!({
            "error": "unknown database",
            "details": format!("{method} request specifies unknown database {text}"),
            "syntax": json!([name]).to_string(),
        })
    })
}
