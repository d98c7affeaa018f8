//! OpenFlow, as far as counting flows needs it: agree on a version, ask for statistics, answer echoes.
//!
//! Every bridge offers a management socket `BRIDGE.mgmt` next to the database socket. OpenFlow is the only place that
//! knows how many flows each table holds.
//!
//! ```text
//! connect ─► HELLO both ways ─► version ─► multipart request ─► parts … last part ─► decode, PURE ─► numbers
//! ```

mod bytes;
mod connection;
mod error;
mod message;
mod statistics;
mod version;

pub use connection::{Connection, Options};
pub use error::Error;
pub use message::{Header, Multipart, MultipartKind, Part, hello};
pub use statistics::{Aggregate, TableStatistics};
pub use version::{Version, Versions};
