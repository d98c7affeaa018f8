//! OVSDB (RFC 7047): a connection, schemas, monitors and transactions.
//!
//! A [`Connection`] reads in a task of its own, so that the server's echo is answered and updates are applied while
//! the caller is busy. A [`Monitor`] keeps the rows; whoever looks at them never holds the connection up.

mod connection;
mod error;
mod monitor;
mod operation;
mod replica;
mod row;
mod schema;
mod server;
mod session;
mod value;

pub use connection::{Connection, Options};
pub use error::{Closed, Error};
pub use monitor::{Changes, Monitor, MonitorTables};
pub use operation::{Condition, Function, Mutation, Mutator, OperationResult, Transaction};
pub use replica::{Replica, ReplicaError};
pub use row::Row;
pub use schema::{AtomType, ColumnType, Schema, SchemaError, TableSchema};
pub use server::DatabaseStatus;
pub(crate) use server::SERVER;
pub use value::{Atom, Value, ValueError};
