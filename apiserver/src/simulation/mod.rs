//! A simulated fleet and all that is needed to serve it: for the demo, for tests, and for benchmarks.
//!
//! ```text
//!  RunningFleet ─► addresses, clouds.yaml ─┐
//!  Certificates ─► CA, serving pair ───────┴► configuration ─► wiring::start, or `serve --config`
//!       └────────► kubeconfig of an administrator
//! ```
//!
//! Everything listens on loopback and lives in one folder.

mod certificates;
mod configuration;
mod fleet;

use std::path::PathBuf;

use thiserror::Error;

pub use self::certificates::Certificates;
pub use self::configuration::{configuration, standalone, write_configuration};
pub use self::fleet::RunningFleet;

/// Why a fleet cannot be simulated here.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// A file or folder could not be written.
    #[error("cannot write {file}")]
    Write {
        /// The file or folder.
        file: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// There is no address for a daemon to listen on.
    #[error("a simulated daemon cannot listen on loopback")]
    Listen(#[source] std::io::Error),
    /// The sockets of a host's run directories could not be made.
    #[error("the sockets of {host} cannot be made")]
    Sockets {
        /// The host.
        host: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A certificate could not be made.
    #[error("the certificate of {name} cannot be made")]
    Certificate {
        /// Whose.
        name: &'static str,
        /// Why.
        #[source]
        source: rcgen::Error,
    },
    /// The configuration could not be written as YAML.
    #[error("the configuration cannot be written as YAML")]
    Yaml(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Writes a file, with its name in the error.
fn write(file: PathBuf, text: &str) -> Result<PathBuf, SimulationError> {
    match std::fs::write(&file, text) {
        Ok(()) => Ok(file),
        Err(source) => Err(SimulationError::Write { file, source }),
    }
}

/// Makes a folder and those above it, with its name in the error.
fn make_folder(folder: PathBuf) -> Result<PathBuf, SimulationError> {
    match std::fs::create_dir_all(&folder) {
        Ok(()) => Ok(folder),
        Err(source) => Err(SimulationError::Write { file: folder, source }),
    }
}
