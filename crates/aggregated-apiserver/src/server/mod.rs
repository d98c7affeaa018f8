//! The server: what it serves, how it listens, how it ends.

mod accept;
mod builder;
mod certificate;
mod handler;
mod health;
mod metrics;
mod settings;

pub use self::accept::ServeError;
pub(crate) use self::builder::Site;
pub use self::builder::{ApiServer, BuildError, Freshener, ServedResource, ServerBuilder};
pub use self::certificate::{TlsConfig, TlsError};
pub use self::health::{Latch, Readiness};
pub(crate) use self::metrics::WatchGuard;
pub use self::settings::{Drain, Limits, VersionInfo, Watching};
