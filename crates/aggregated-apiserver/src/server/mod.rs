//! The server: what it serves, how it listens, how it ends.

mod accept;
mod audit;
mod builder;
mod certificate;
mod flow;
mod handler;
mod health;
mod metrics;
mod paths;
mod settings;
mod stall;

pub use self::accept::ServeError;
pub use self::audit::{AuditLevel, AuditLog};
pub(crate) use self::builder::Site;
pub use self::builder::{ApiServer, BuildError, Freshener, ServedResource, ServerBuilder};
pub use self::certificate::{TlsConfig, TlsError};
pub(crate) use self::flow::Place;
pub use self::health::{Latch, Readiness};
pub(crate) use self::metrics::WatchGuard;
pub use self::settings::{Drain, Limits, VersionInfo, Watching};
pub(crate) use self::stall::{asked_for, handed_over};
