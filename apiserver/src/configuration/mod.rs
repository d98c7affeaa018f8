//! The one YAML file that `serve` reads. Unknown fields are refused; every default stands here.
//!
//! Secrets are never in it: only paths of files that hold them.

mod audit;
mod hosts;
mod intent;
mod interval;
mod libvirt;
mod load;

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::audit::{Audit, Level};
pub use self::hosts::{HostAddress, HostRules, Reach};
pub use self::intent::{Intent, IntentInKubernetes};
pub use self::interval::Interval;
pub use self::libvirt::{LibvirtSasl, LibvirtTls};
pub use self::load::{ConfigurationError, load, parse};

/// Everything the server is told from outside.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Configuration {
    /// Address to listen on.
    #[serde(default = "default_listen")]
    pub listen: SocketAddr,
    /// Certificate that the server shows.
    pub serving: ServingCertificate,
    /// The cluster that this server is aggregated into; absent for a standalone server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<Kubernetes>,
    /// Who may do what on a standalone server. Ignored, and refused, together with `kubernetes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standalone: Option<Standalone>,
    /// Which hosts there are and how to reach them.
    #[serde(default)]
    pub hosts: HostRules,
    /// The cloud whose compute these hosts are; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openstack: Option<OpenStack>,
    /// How old values may get.
    #[serde(default)]
    pub refresh: Refresh,
    /// Namespaces that the namespaced kinds appear in.
    #[serde(default)]
    pub namespaces: Namespaces,
    /// Where people's intent is stored.
    #[serde(default)]
    pub intent: Intent,
    /// Who did what; absent: not logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<Audit>,
    /// How the server behaves when it is told to stop.
    #[serde(default)]
    pub shutdown: Shutdown,
    /// Slot of this replica, 0 to 15: no two replicas may share one, it is part of every resourceVersion. Not used with
    /// `intent.kubernetes`: there, replicas take their slots by Leases.
    #[serde(default)]
    pub replica: u8,
}

/// Certificate and key files in PEM, read again when they change.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ServingCertificate {
    /// Certificate chain.
    pub certificate: PathBuf,
    /// Private key.
    pub key: PathBuf,
}

/// The cluster to be aggregated into.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Kubernetes {
    /// kubeconfig file; absent: the pod's service account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<PathBuf>,
    /// Follow Nodes: a host exists for each Node with this label. Empty: only configured hosts exist.
    #[serde(default = "default_node_label")]
    pub node_label: String,
}

impl Kubernetes {
    /// Whether hosts exist because of their Nodes.
    pub fn follows_nodes(&self) -> bool {
        !self.node_label.is_empty()
    }
}

/// Access to a server without a cluster.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Standalone {
    /// CA that signs client certificates: CN is the user, O the groups.
    pub client_ca: PathBuf,
    /// Group that may read.
    #[serde(default = "default_reader_group")]
    pub reader_group: String,
    /// Group that may do everything.
    #[serde(default = "default_admin_group")]
    pub admin_group: String,
}

/// The cloud.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OpenStack {
    /// clouds.yaml file.
    pub clouds: PathBuf,
    /// Name of the cloud in it.
    pub cloud: String,
}

/// Longest ages, by kind of value.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Refresh {
    /// Counters and everything else that no event announces, per host.
    pub counters: Interval,
    /// Nova's services and hypervisors.
    pub services: Interval,
    /// Aggregates and traits.
    pub memberships: Interval,
    /// How old the comparison of Nova's servers with a host's domains may be when somebody reads that host. Nobody reads it:
    /// nothing is compared.
    pub servers: Interval,
    /// How often counters alone make a MODIFIED event.
    pub slow_tick: Interval,
    /// How long one call to a source may take.
    pub deadline: Interval,
    /// How long a migration is shown after it ended.
    pub migrations_kept: Interval,
}

/// Namespaces of the namespaced kinds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Namespaces {
    /// Of Migration.
    pub migrations: String,
    /// Of OVSNode.
    pub ovs_nodes: String,
}

/// Stopping.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Shutdown {
    /// How long to serve on, not ready, so that everybody has heard of it.
    pub delay: Interval,
    /// How long to wait for requests under way after that.
    pub grace: Interval,
}

impl Default for Refresh {
    fn default() -> Self {
        Self {
            counters: Interval::seconds(10),
            services: Interval::seconds(10),
            memberships: Interval::seconds(30),
            servers: Interval::seconds(60),
            slow_tick: Interval::seconds(60),
            deadline: Interval::seconds(5),
            migrations_kept: Interval::seconds(3600),
        }
    }
}

impl Default for Namespaces {
    fn default() -> Self {
        Self { migrations: "c5c3-system".to_owned(), ovs_nodes: "ovn-system".to_owned() }
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Self { delay: Interval::seconds(15), grace: Interval::seconds(15) }
    }
}

fn default_listen() -> SocketAddr {
    SocketAddr::from(([0, 0, 0, 0], 6443))
}

fn default_node_label() -> String {
    c5c3_api::labels::VIRT_DRIVER.to_owned()
}

fn default_reader_group() -> String {
    "c5c3:readers".to_owned()
}

fn default_admin_group() -> String {
    "c5c3:admins".to_owned()
}
