//! The cloud as its users see it: connect once, then ask.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use uuid::Uuid;

use crate::compute::{Aggregate, ComputeService, Hypervisor, Server, ServerMigration, check_hosts};
use crate::error::Error;
use crate::failure::Failure;
use crate::options::CloudOptions;
use crate::placement::{ProviderInventories, ProviderTraits, ProviderUsages, ResourceProvider};
use crate::requests::{Read, Requests};
use crate::service::Service;
use crate::version::Microversion;

/// One OpenStack cloud, logged in. Clones share the session.
///
/// Every call has a deadline ([`Limits::operation`](crate::Limits::operation)), is repeated within it while the service
/// is away, and logs in anew when its token ends. How many calls run at once is the caller's choice.
#[derive(Clone)]
pub struct Cloud {
    requests: Arc<Requests>,
    page_rows: u32,
}

impl fmt::Debug for Cloud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cloud").finish_non_exhaustive()
    }
}

impl Cloud {
    /// Logs in and agrees on API versions with Nova and Placement.
    ///
    /// Fails when the credentials are refused, Keystone is away, or a service offers only versions that this crate does
    /// not speak. A service that is merely away does not fail it: the calls to that service will say so.
    pub async fn connect(options: CloudOptions) -> Result<Self, Error> {
        let page_rows = options.limits().page_rows;
        let requests = Requests::begin(options).await?;
        let (compute, placement) =
            tokio::join!(requests.version(Service::Compute), requests.version(Service::Placement));
        for (service, agreed) in [(Service::Compute, compute), (Service::Placement, placement)] {
            match agreed {
                Ok(_) => {}
                Err(source @ (Failure::Version { .. } | Failure::NoVersionDocument { .. })) => {
                    return Err(Error::NegotiateVersion { service, source });
                }
                Err(failure) => tracing::warn!(%service, %failure, "API version not known yet"),
            }
        }
        Ok(Self { requests: Arc::new(requests), page_rows })
    }

    /// [`connect`](Self::connect)s to a cloud by its name in a `clouds.yaml`.
    pub async fn from_clouds_yaml(path: impl AsRef<Path>, cloud: &str) -> Result<Self, Error> {
        Self::connect(CloudOptions::from_clouds_yaml(path, cloud)?).await
    }

    /// The API version agreed with a service.
    pub async fn version(&self, service: Service) -> Result<Microversion, Error> {
        self.requests.version(service).await.map_err(|source| Error::NegotiateVersion { service, source })
    }

    /// All hypervisors, without their servers.
    pub async fn hypervisors(&self) -> Result<Vec<Hypervisor>, Error> {
        let read =
            Read::new(Service::Compute, "/os-hypervisors/detail").with("limit", self.page_rows.to_string());
        self.requests.list(&read, "hypervisors").await.map_err(|source| Error::ListHypervisors { source })
    }

    /// All nova-compute services.
    pub async fn compute_services(&self) -> Result<Vec<ComputeService>, Error> {
        let read = Read::new(Service::Compute, "/os-services").with("binary", "nova-compute");
        self.requests.list(&read, "services").await.map_err(|source| Error::ListComputeServices { source })
    }

    /// All host aggregates.
    pub async fn aggregates(&self) -> Result<Vec<Aggregate>, Error> {
        let read = Read::new(Service::Compute, "/os-aggregates");
        self.requests.list(&read, "aggregates").await.map_err(|source| Error::ListAggregates { source })
    }

    /// The servers of all projects on one host, by its service host name. An error rather than an incomplete list.
    pub async fn servers_of_host(&self, service_host: &str) -> Result<Vec<Server>, Error> {
        let read = Read::new(Service::Compute, "/servers/detail")
            .with("all_tenants", "1")
            .with("host", service_host)
            .with("limit", self.page_rows.to_string());
        let listed = self.requests.list::<Server>(&read, "servers").await;
        listed
            .and_then(|servers| check_hosts(&servers, service_host).map(|()| servers))
            .map_err(|source| Error::ListServers { host: service_host.to_owned(), source })
    }

    /// A server of any project, wherever it is; `None` when Nova has none of that id.
    pub async fn server(&self, server: Uuid) -> Result<Option<Server>, Error> {
        #[derive(serde::Deserialize)]
        struct Answer {
            server: Server,
        }
        let read = Read::new(Service::Compute, format!("/servers/{server}"));
        let found = self.requests.one_if_there::<Answer>(&read).await;
        found
            .map(|found| found.map(|answer| answer.server))
            .map_err(|source| Error::ReadServer { server, source })
    }

    /// Migration records from and to one host, newest first. Records are kept for ever: name a time to look back to.
    pub async fn migrations_of_host(
        &self,
        service_host: &str,
        changed_since: Option<Timestamp>,
    ) -> Result<Vec<ServerMigration>, Error> {
        let mut read = Read::new(Service::Compute, "/os-migrations")
            .with("host", service_host)
            .with("limit", self.page_rows.to_string());
        if let Some(since) = changed_since {
            read = read.with("changes-since", since.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
        }
        let listed = self.requests.list(&read, "migrations").await;
        listed.map_err(|source| Error::ListMigrations { host: service_host.to_owned(), source })
    }

    /// All resource providers.
    pub async fn resource_providers(&self) -> Result<Vec<ResourceProvider>, Error> {
        let read = Read::new(Service::Placement, "/resource_providers");
        let listed = self.requests.list(&read, "resource_providers").await;
        listed.map_err(|source| Error::ListResourceProviders { source })
    }

    /// A resource provider, if Placement has it.
    pub async fn resource_provider(&self, provider: Uuid) -> Result<Option<ResourceProvider>, Error> {
        let read = Read::new(Service::Placement, format!("/resource_providers/{provider}"));
        let found = self.requests.one_if_there(&read).await;
        found.map_err(|source| Error::ReadResourceProvider { provider, source })
    }

    /// The traits of a resource provider, if Placement has it. A host's provider has its hypervisor's id.
    pub async fn provider_traits(&self, provider: Uuid) -> Result<Option<ProviderTraits>, Error> {
        let read = Read::new(Service::Placement, format!("/resource_providers/{provider}/traits"));
        let found = self.requests.one_if_there(&read).await;
        found.map_err(|source| Error::ReadTraits { provider, source })
    }

    /// What a resource provider has, if Placement has it.
    pub async fn provider_inventories(&self, provider: Uuid) -> Result<Option<ProviderInventories>, Error> {
        let read = Read::new(Service::Placement, format!("/resource_providers/{provider}/inventories"));
        let found = self.requests.one_if_there(&read).await;
        found.map_err(|source| Error::ReadInventories { provider, source })
    }

    /// How much of a resource provider is allocated, if Placement has it.
    pub async fn provider_usages(&self, provider: Uuid) -> Result<Option<ProviderUsages>, Error> {
        let read = Read::new(Service::Placement, format!("/resource_providers/{provider}/usages"));
        let found = self.requests.one_if_there(&read).await;
        found.map_err(|source| Error::ReadUsages { provider, source })
    }
}
