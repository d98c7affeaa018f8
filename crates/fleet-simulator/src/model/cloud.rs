//! What OpenStack knows: compute services, aggregates, traits, and who may ask.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use uuid::Uuid;

use super::Fault;

/// The simulated OpenStack. Hypervisors and servers follow from the hosts; the rest is here.
#[derive(Debug)]
pub struct Cloud {
    state: Mutex<CloudState>,
}

/// Everything about the cloud that can change.
#[derive(Debug, Clone)]
pub struct CloudState {
    /// Credentials that Keystone accepts.
    pub credentials: Credentials,
    /// nova-compute services by host.
    pub services: BTreeMap<String, ComputeService>,
    /// Host aggregates.
    pub aggregates: Vec<Aggregate>,
    /// Placement traits by resource provider (host UUID).
    pub traits: BTreeMap<Uuid, BTreeSet<String>>,
    /// Generation of each resource provider, counted from 1; one more with each change of its traits.
    pub generations: BTreeMap<Uuid, i64>,
    /// How the APIs misbehave, all of them.
    pub fault: Fault,
    /// Age and habits of the APIs.
    pub api: CloudApi,
    /// What the APIs were asked.
    pub traffic: Traffic,
}

/// Age and habits of the APIs, which differ from cloud to cloud.
#[derive(Debug, Clone)]
pub struct CloudApi {
    /// How Keystone misbehaves while the cloud as a whole does not.
    pub identity_fault: Fault,
    /// How Nova misbehaves while the cloud as a whole does not.
    pub compute_fault: Fault,
    /// How Placement misbehaves while the cloud as a whole does not.
    pub placement_fault: Fault,
    /// How long a token lives.
    pub token_lifetime: Duration,
    /// Tokens of an earlier epoch are refused: one more revokes all tokens.
    pub token_epoch: u64,
    /// For how many requests a token is good, for tests that need it to end between two of them.
    pub token_requests: Option<u64>,
    /// Newest microversion of Nova, major and minor; the oldest is 2.1.
    pub compute_max: (u16, u16),
    /// Newest microversion of Placement, major and minor; the oldest is 1.0.
    pub placement_max: (u16, u16),
    /// Rows in one answer at most, whatever was asked for.
    pub page_limit: usize,
    /// What a 503 says in `Retry-After`, in seconds.
    pub retry_after: Option<u32>,
    /// Whether the credentials have the role admin; without it Nova hides hosts and refuses operator calls.
    pub admin: bool,
    /// Hosts in a cell that Nova cannot reach: their services and servers are told with the little that the API database has.
    pub unreachable: BTreeSet<String>,
}

impl Default for CloudApi {
    fn default() -> Self {
        Self {
            identity_fault: Fault::None,
            compute_fault: Fault::None,
            placement_fault: Fault::None,
            token_lifetime: Duration::from_secs(3600),
            token_epoch: 0,
            token_requests: None,
            compute_max: (2, 104),
            placement_max: (1, 39),
            page_limit: 1000,
            retry_after: None,
            admin: true,
            unreachable: BTreeSet::new(),
        }
    }
}

/// What the APIs were asked, for tests that count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Tokens that Keystone gave.
    pub logins: u64,
    /// Logins that Keystone refused.
    pub refused_logins: u64,
    /// Requests that Nova or Placement refused for their token.
    pub unauthorized: u64,
    /// Requests that Nova received, misbehaving or not.
    pub compute: u64,
    /// Requests that Placement received, misbehaving or not.
    pub placement: u64,
}

/// A nova-compute service.
#[derive(Debug, Clone)]
pub struct ComputeService {
    /// Service UUID.
    pub uuid: Uuid,
    /// Whether the scheduler may use it.
    pub enabled: bool,
    /// Why not.
    pub disabled_reason: Option<String>,
    /// Whether it reports in.
    pub up: bool,
    /// Forced down by an operator or HA.
    pub forced_down: bool,
    /// Availability zone.
    pub zone: String,
}

/// A host aggregate.
#[derive(Debug, Clone)]
pub struct Aggregate {
    /// Numeric id.
    pub id: i64,
    /// UUID.
    pub uuid: Uuid,
    /// Name.
    pub name: String,
    /// Availability zone, if it makes one.
    pub availability_zone: Option<String>,
    /// Member hosts, by service host name.
    pub hosts: Vec<String>,
    /// Metadata, `availability_zone` included when set.
    pub metadata: BTreeMap<String, String>,
}

/// Who may log in.
#[derive(Debug, Clone)]
pub struct Credentials {
    /// User name.
    pub username: String,
    /// Password.
    pub password: String,
    /// Project name.
    pub project: String,
    /// Application credential id.
    pub application_credential_id: String,
    /// Application credential secret.
    pub application_credential_secret: String,
}

impl Cloud {
    /// A cloud with the given state.
    pub fn new(state: CloudState) -> Self {
        Self { state: Mutex::new(state) }
    }

    /// Looks at the state.
    pub fn read<R>(&self, look: impl FnOnce(&CloudState) -> R) -> R {
        look(&self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the state.
    pub fn change<R>(&self, alter: impl FnOnce(&mut CloudState) -> R) -> R {
        alter(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CloudState {
    /// Adds a trait to a resource provider or takes it away; the generation moves when that changes anything.
    pub fn set_trait(&mut self, provider: Uuid, name: &str, present: bool) {
        let traits = self.traits.entry(provider).or_default();
        let changed = if present { traits.insert(name.to_owned()) } else { traits.remove(name) };
        if changed {
            *self.generations.entry(provider).or_insert(1) += 1;
        }
    }

    /// The generation of a resource provider.
    pub fn generation(&self, provider: Uuid) -> i64 {
        self.generations.get(&provider).copied().unwrap_or(1)
    }
}
