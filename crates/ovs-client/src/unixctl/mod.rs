//! unixctl: one command to one daemon, one text back.
//!
//! Some things only the daemons themselves tell: which members of a bond are enabled, whether ovn-controller reaches
//! the Southbound database, which version runs when no start script wrote it down.
//!
//! ```text
//! run directory ─► Target (the socket that answers) ─► call ─► text ─► parsers, PURE ─► BondStatus, Version …
//! ```

mod bond;
mod call;
mod connection_status;
mod error;
mod target;
mod version;

pub use bond::{BondMember, BondStatus, LacpStatus, parse_bonds};
pub use call::{Options, call};
pub use connection_status::ConnectionStatus;
pub use error::Error;
pub use target::{Program, Target};
pub use version::{ProgramVersion, VersionError};
