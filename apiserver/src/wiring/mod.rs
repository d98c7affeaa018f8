//! Puts the server together from its configuration. The only room that knows all the others.

mod access;
mod audit;
mod intent;
mod run;
mod signals;

use std::net::SocketAddr;
use std::path::PathBuf;

use aggregated_apiserver::{AuthorityFileError, BuildError, ConfigMapError, ServeError, TlsError};
use thiserror::Error;

pub use self::access::client;
pub use self::run::{Running, start};
pub use self::signals::end_on_signals;

use crate::intent::{DefinitionError, IntentError};
use crate::replicas::SlotError;
use crate::resources::ShelfError;

/// Why the server cannot run.
#[derive(Debug, Error)]
pub enum WiringError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The serving certificate cannot be used.
    #[error("the serving certificate cannot be used")]
    Serving(#[source] TlsError),
    /// The kubeconfig, or the pod's service account, cannot be used.
    #[error("the cluster cannot be addressed ({from})")]
    Kubeconfig {
        /// Where the access came from.
        from: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The CA of clients cannot be used.
    #[error("the CA of clients cannot be used")]
    ClientCa(#[source] AuthorityFileError),
    /// The audit log cannot be written.
    #[error("the audit log {file} cannot be written")]
    Audit {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The cluster does not say whom to believe.
    #[error("the cluster's authentication configuration cannot be read")]
    Authentication(#[source] ConfigMapError),
    /// Kinds contradict each other.
    #[error("the kinds cannot be served")]
    Shelves(#[source] ShelfError),
    /// Resources contradict each other.
    #[error("the server cannot be built")]
    Build(#[source] BuildError),
    /// The intent store cannot be used.
    #[error("the intent store cannot be used")]
    Intent(#[source] IntentError),
    /// The kind that stores intent in the cluster cannot be used.
    #[error("intent cannot be stored in the cluster")]
    Definition(#[source] DefinitionError),
    /// There is no slot for this replica, or it was lost.
    #[error("this replica has no slot")]
    Slot(#[source] SlotError),
    /// Serving ended with an error.
    #[error("serving failed")]
    Serve(#[source] ServeError),
    /// A task of the server was lost.
    #[error("the {0} task was lost")]
    Lost(&'static str),
}
