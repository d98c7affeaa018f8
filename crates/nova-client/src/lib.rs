//! The Keystone, Nova and Placement calls that a hypervisor cluster needs, on openstack_sdk.
//!
//! ```text
//!  CloudOptions ─► Cloud ─► requests ─► sessions ─► login (openstack_sdk: password, application credential)
//!  clouds.yaml       │         │            └─► catalog: endpoint by type, interface, region
//!                    │         └─► transport: one GET, token on, deadline and size limit kept
//!                    └─► Hypervisor, ComputeService, Aggregate, Server … (our own tolerant structs)
//! ```
//!
//! ```no_run
//! # async fn show() -> Result<(), nova_client::Error> {
//! let cloud = nova_client::Cloud::from_clouds_yaml("/etc/openstack/clouds.yaml", "production").await?;
//! for hypervisor in cloud.hypervisors().await? {
//!     println!("{:?} {:?}", hypervisor.service_host(), hypervisor.state);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What it promises
//!
//! * A microversion is pinned (Nova 2.93, Placement 1.39); an older service gets its own maximum down to a floor (2.88,
//!   1.28), and below that a clear error with both numbers.
//! * Fields that a service may leave out are `Option`s; one odd value makes one absent field, not a failed list.
//! * Lists are complete (all pages) or an error. A 404 of Placement itself is `None`; any other 404 is an error.
//! * Reads are repeated while a service is away: bounded, with jitter, `Retry-After` heeded, within one deadline.
//! * A token is replaced before it ends, and once when it is refused; many callers cause one login.
//! * No token, password or secret is in any `Debug`, error or log line, and none is written to disk.
//!
//! # How much of the SDK
//!
//! The SDK logs in. Calls are not sent through its `QueryAsync`, because that has no size limit, hides Keystone's
//! failure behind the service's 401, follows the host of paging links and prints bodies at debug level; its typed
//! responses differ by microversion. Endpoints are chosen here, because with `interface: internal` the SDK finds none.
//! It makes a folder `~/.osc` for its token cache; the cache is off and the folder stays empty.

mod catalog;
mod cloud;
mod clouds_yaml;
mod compute;
mod credentials;
mod error;
mod failure;
mod fault;
mod lenient;
mod login;
mod options;
mod placement;
mod requests;
mod service;
mod sessions;
mod transport;
mod version;

pub use cloud::Cloud;
pub use clouds_yaml::CloudsYamlError;
pub use compute::{
    Aggregate, AttachedVolume, ComputeService, Fault, Flavor, Hypervisor, HypervisorService, Server,
    ServerMigration, ServiceState, ServiceStatus,
};
pub use credentials::{Credentials, Domain, Identity, PasswordCredentials, SecretString};
pub use error::Error;
pub use failure::{Failure, LoginFailure, Refusal};
pub use options::{CloudOptions, Interface, Limits};
pub use placement::{Inventory, ProviderInventories, ProviderTraits, ProviderUsages, ResourceProvider};
pub use service::Service;
pub use version::{Microversion, NotAMicroversion, VersionRange};
