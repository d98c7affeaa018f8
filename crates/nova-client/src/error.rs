//! What can go wrong, told so that a person can act: which operation, which service, which status, which request id.
//!
//! [`Error`] names the operation of ours that failed; [`Failure`], its source, names why. Both hold no secret: neither
//! tokens nor passwords ever reach them. Displays do not repeat their source; [`Error::report`] joins the chain.

use std::path::PathBuf;
use std::time::Duration;

use http::StatusCode;
use thiserror::Error;
use uuid::Uuid;

use crate::clouds_yaml::CloudsYamlError;
use crate::failure::Failure;
use crate::service::Service;

/// An operation of this crate that failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A cloud could not be read from its `clouds.yaml`.
    #[error("read cloud `{cloud}` of {}", path.display())]
    ReadCloudsYaml {
        /// The file.
        path: PathBuf,
        /// The name of the cloud in it.
        cloud: String,
        /// Why.
        #[source]
        source: CloudsYamlError,
    },
    /// No token could be had from Keystone.
    #[error("log in to Keystone at {auth_url}")]
    Login {
        /// Where Keystone was asked.
        auth_url: String,
        /// Why.
        #[source]
        source: Failure,
    },
    /// A service offers no API version that this crate speaks, or did not say which it offers.
    #[error("agree with {service} on an API version")]
    NegotiateVersion {
        /// The service.
        service: Service,
        /// Why.
        #[source]
        source: Failure,
    },
    /// The hypervisors could not be listed.
    #[error("list hypervisors")]
    ListHypervisors {
        /// Why.
        #[source]
        source: Failure,
    },
    /// The nova-compute services could not be listed.
    #[error("list compute services")]
    ListComputeServices {
        /// Why.
        #[source]
        source: Failure,
    },
    /// The host aggregates could not be listed.
    #[error("list host aggregates")]
    ListAggregates {
        /// Why.
        #[source]
        source: Failure,
    },
    /// The servers of a host could not be listed completely.
    #[error("list servers of host `{host}`")]
    ListServers {
        /// The service host.
        host: String,
        /// Why.
        #[source]
        source: Failure,
    },
    /// A server could not be read.
    #[error("read server {server}")]
    ReadServer {
        /// The server.
        server: Uuid,
        /// Why.
        #[source]
        source: Failure,
    },
    /// The migrations from and to a host could not be listed.
    #[error("list migrations of host `{host}`")]
    ListMigrations {
        /// The service host.
        host: String,
        /// Why.
        #[source]
        source: Failure,
    },
    /// The resource providers could not be listed.
    #[error("list resource providers")]
    ListResourceProviders {
        /// Why.
        #[source]
        source: Failure,
    },
    /// A resource provider could not be read.
    #[error("read resource provider {provider}")]
    ReadResourceProvider {
        /// The provider.
        provider: Uuid,
        /// Why.
        #[source]
        source: Failure,
    },
    /// The traits of a resource provider could not be read.
    #[error("read traits of resource provider {provider}")]
    ReadTraits {
        /// The provider.
        provider: Uuid,
        /// Why.
        #[source]
        source: Failure,
    },
    /// The inventories of a resource provider could not be read.
    #[error("read inventories of resource provider {provider}")]
    ReadInventories {
        /// The provider.
        provider: Uuid,
        /// Why.
        #[source]
        source: Failure,
    },
    /// The usages of a resource provider could not be read.
    #[error("read usages of resource provider {provider}")]
    ReadUsages {
        /// The provider.
        provider: Uuid,
        /// Why.
        #[source]
        source: Failure,
    },
}

impl Error {
    /// Why the operation failed; `None` when the configuration could not even be read.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::ReadCloudsYaml { .. } => None,
            Self::Login { source, .. }
            | Self::NegotiateVersion { source, .. }
            | Self::ListHypervisors { source }
            | Self::ListComputeServices { source }
            | Self::ListAggregates { source }
            | Self::ListServers { source, .. }
            | Self::ReadServer { source, .. }
            | Self::ListMigrations { source, .. }
            | Self::ListResourceProviders { source }
            | Self::ReadResourceProvider { source, .. }
            | Self::ReadTraits { source, .. }
            | Self::ReadInventories { source, .. }
            | Self::ReadUsages { source, .. } => Some(source),
        }
    }

    /// Credentials or token were refused, or lack the right: repeating does not help, another credential may.
    pub fn is_unauthorized(&self) -> bool {
        self.failure().is_some_and(Failure::is_unauthorized)
    }

    /// The service cannot be reached or says that it is unavailable: repeating later helps.
    pub fn is_unavailable(&self) -> bool {
        self.failure().is_some_and(Failure::is_unavailable)
    }

    /// How long the service asked to be left alone.
    pub fn retry_after(&self) -> Option<Duration> {
        self.failure().and_then(Failure::retry_after)
    }

    /// The HTTP status, when there was an answer.
    pub fn status(&self) -> Option<StatusCode> {
        self.failure().and_then(Failure::status)
    }

    /// The request id to look for in the service's log.
    pub fn request_id(&self) -> Option<&str> {
        self.failure().and_then(Failure::request_id)
    }

    /// The whole chain in one line, for a condition's message or a log.
    pub fn report(&self) -> String {
        let mut line = self.to_string();
        let mut next = std::error::Error::source(self);
        while let Some(source) = next {
            line.push_str(": ");
            line.push_str(&source.to_string());
            next = source.source();
        }
        line
    }
}
