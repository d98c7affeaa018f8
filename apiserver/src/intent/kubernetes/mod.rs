//! The intent store in custom resources of the hosting cluster: etcd keeps it, and every replica sees it.
//!
//! The cluster's resourceVersion is the compare-and-swap; creating is compare-and-swap with nothing. All records are
//! followed and kept in memory: while kube-apiserver is away, writes fail with a reason and reads show what was known last.

mod definition;
mod failure;
mod follow;
mod name;
mod stored;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use kube::api::{DeleteParams, PostParams, Preconditions};
use kube::core::DynamicObject;
use kube::{Api, Client};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;
use uuid::Uuid;

pub use self::definition::{DefinitionError, StoreDefinition};

use self::failure::Failure;
use self::name::resource_name;
use super::error::Found;
use super::known::{Contents, Known};
use super::record::encoded;
use super::{IntentChanges, IntentError, IntentKey, IntentRecord, IntentSnapshot, IntentStore, StoreVersion};

/// How long one call may take.
const DEADLINE: Duration = Duration::from_secs(10);

/// Intent in custom resources.
#[derive(Debug)]
pub struct KubernetesStore {
    api: Api<DynamicObject>,
    shared: Arc<Shared>,
}

/// What the task that follows the cluster tells.
#[derive(Debug)]
struct Shared {
    known: Known,
    /// Whether everything was listed once.
    listed: watch::Sender<bool>,
    silence: RwLock<Option<String>>,
}

impl KubernetesStore {
    /// Follows the records from now on, until told to end. The kind has to be installed.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn open(
        client: &Client,
        tasks: &TaskTracker,
        end: CancellationToken,
    ) -> Result<Self, IntentError> {
        let api = Api::all_with(client.clone(), &StoreDefinition::resource());
        let shared = Arc::new(Shared {
            known: Known::new(Contents::default()),
            listed: watch::Sender::new(false),
            silence: RwLock::new(None),
        });
        let mut listed = shared.listed.subscribe();
        let following = follow::follow(api.clone(), Arc::clone(&shared), end);
        tasks.spawn(following.instrument(tracing::info_span!("intent")));
        let store = Self { api, shared };
        match tokio::time::timeout(DEADLINE * 2, listed.wait_for(|listed| *listed)).await {
            Ok(Ok(_)) => Ok(store),
            Ok(Err(_)) => Err(IntentError::Interrupted),
            Err(_) => {
                let why = store.silence().unwrap_or_else(|| "no answer in time".to_owned());
                Err(IntentError::Open { store: store.api.resource_url().to_owned(), source: why.into() })
            }
        }
    }

    async fn call<T>(&self, call: impl Future<Output = kube::Result<T>>) -> Result<T, Failure> {
        match tokio::time::timeout(DEADLINE, call).await {
            Ok(done) => Ok(done?),
            Err(_) => Err(Failure::Late),
        }
    }

    async fn write(
        &self,
        key: &IntentKey,
        expected: Option<&StoreVersion>,
        object: Value,
    ) -> Result<IntentRecord, IntentError> {
        let record = IntentRecord { key: key.clone(), version: StoreVersion::of(0), object };
        encoded(&record)?;
        let write = Uuid::new_v4().to_string();
        let resource = stored::resource(key, expected, record.object, &write);
        let name = resource_name(key);
        let params =
            PostParams { field_manager: Some(definition::MANAGER.to_owned()), ..PostParams::default() };
        let written = match expected {
            None => self.call(self.api.create(&params, &resource)).await,
            Some(_) => self.call(self.api.replace(&name, &params, &resource)).await,
        };
        let written = match written {
            Ok(written) => written,
            Err(failure) if failure.code() == Some(409) => return Err(self.conflict(key, expected).await),
            // Nobody has made the kind unknown between our reads and this: the record is gone.
            Err(failure) if failure.code() == Some(404) && expected.is_some() => {
                return Err(self.conflict(key, expected).await);
            }
            Err(failure) if failure.is_uncertain() => {
                // If it was stored, it says so.
                match self.call(self.api.get_opt(&name)).await {
                    Ok(Some(found)) if stored::write_of(&found) == Some(write.as_str()) => found,
                    _ => return Err(failure.of_write(key)),
                }
            }
            Err(failure) => return Err(failure.of_write(key)),
        };
        read(&written, key)
    }

    async fn delete(&self, key: &IntentKey, expected: &StoreVersion) -> Result<(), IntentError> {
        let preconditions = Preconditions { resource_version: Some(expected.to_string()), uid: None };
        let params = DeleteParams::background().preconditions(preconditions);
        match self.call(self.api.delete(&resource_name(key), &params)).await {
            Ok(_) => Ok(()),
            Err(failure) if matches!(failure.code(), Some(404 | 409)) => {
                Err(self.conflict(key, Some(expected)).await)
            }
            Err(failure) => Err(failure.of_write(key)),
        }
    }

    /// Somebody else was faster. What they stored is said as far as it can be read.
    async fn conflict(&self, key: &IntentKey, expected: Option<&StoreVersion>) -> IntentError {
        let found = match self.call(self.api.get_opt(&resource_name(key))).await {
            Ok(found) => found.and_then(|found| found.metadata.resource_version),
            Err(_) => self.shared.known.get(key).map(|record| record.version.to_string()),
        };
        let found = found.and_then(|version| version.parse().ok()).map(StoreVersion::of);
        IntentError::Conflict { key: key.clone(), expected: Found(expected.cloned()), found: Found(found) }
    }
}

impl IntentStore for KubernetesStore {
    fn get<'a>(&'a self, key: &'a IntentKey) -> BoxFuture<'a, Result<Option<IntentRecord>, IntentError>> {
        async move {
            let found = self.call(self.api.get_opt(&resource_name(key))).await;
            let found = found.map_err(|failure| failure.of_read(key.to_string()))?;
            found.map(|found| read(&found, key)).transpose()
        }
        .boxed()
    }

    fn snapshot(&self) -> BoxFuture<'_, Result<IntentSnapshot, IntentError>> {
        async move { Ok(self.shared.known.snapshot()) }.boxed()
    }

    fn put<'a>(
        &'a self,
        key: &'a IntentKey,
        expected: Option<&'a StoreVersion>,
        object: Value,
    ) -> BoxFuture<'a, Result<IntentRecord, IntentError>> {
        self.write(key, expected, object).boxed()
    }

    fn remove<'a>(
        &'a self,
        key: &'a IntentKey,
        expected: &'a StoreVersion,
    ) -> BoxFuture<'a, Result<(), IntentError>> {
        self.delete(key, expected).boxed()
    }

    fn changes(&self) -> IntentChanges {
        self.shared.known.follow()
    }

    fn silence(&self) -> Option<String> {
        self.shared.silence.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Shared {
    fn heard(&self) {
        *self.silence.write().unwrap_or_else(PoisonError::into_inner) = None;
        self.listed.send_if_modified(|listed| !std::mem::replace(listed, true));
    }

    fn fell_silent(&self, why: &str) {
        *self.silence.write().unwrap_or_else(PoisonError::into_inner) = Some(why.to_owned());
    }
}

fn read(resource: &DynamicObject, key: &IntentKey) -> Result<IntentRecord, IntentError> {
    stored::record(resource)
        .map_err(|error| IntentError::Read { what: key.to_string(), source: Box::new(error) })
}
