//! Fresh counters for whoever asks for one object: sources are asked to read again, once for all who ask at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use aggregated_apiserver::{Freshener, ObjectKey};
use futures::FutureExt as _;
use futures::future::{BoxFuture, join_all};
use tokio::sync::oneshot;

use crate::configuration::HostRules;
use crate::sources::libvirt::Inspectors;
use crate::sources::report::RefreshHandle;
use crate::sources::servers::{Comparison, Comparisons};

/// Counters younger than this are fresh enough.
const FRESH: Duration = Duration::from_secs(1);

/// The sources of every host, for refreshing.
#[derive(Debug, Default)]
pub struct Freshness {
    hosts: RwLock<BTreeMap<String, Arc<HostSources>>>,
    comparing: Option<Comparing>,
}

/// What is needed to have Nova's servers compared with a host's domains.
#[derive(Debug)]
pub struct Comparing {
    /// Where comparisons are asked for.
    pub comparisons: Comparisons,
    /// What domains hosts have.
    pub inspectors: Arc<Inspectors>,
    /// Which hosts have another name in Nova.
    pub rules: HostRules,
    /// How old a comparison may be.
    pub fresh: Duration,
}

#[derive(Debug)]
struct HostSources {
    handles: Vec<RefreshHandle>,
    last: Mutex<Option<Instant>>,
    compared: Mutex<Option<Instant>>,
}

impl Freshness {
    /// With servers compared for who reads a Hypervisor.
    pub fn comparing(comparing: Comparing) -> Self {
        Self { comparing: Some(comparing), ..Self::default() }
    }

    /// Makes the sources of a host known, in place of earlier ones.
    pub fn set(&self, host: &str, handles: Vec<RefreshHandle>) {
        let sources = Arc::new(HostSources { handles, last: Mutex::new(None), compared: Mutex::new(None) });
        self.hosts.write().unwrap_or_else(PoisonError::into_inner).insert(host.to_owned(), sources);
    }

    /// Forgets a host.
    pub fn remove(&self, host: &str) {
        self.hosts.write().unwrap_or_else(PoisonError::into_inner).remove(host);
    }

    fn sources(&self, host: &str) -> Option<Arc<HostSources>> {
        self.hosts.read().unwrap_or_else(PoisonError::into_inner).get(host).cloned()
    }
}

impl Freshener for Freshness {
    /// Waits for the host's sources to have read again; the server bounds the wait.
    fn freshen<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, ()> {
        async move {
            let Some(sources) = self.sources(&key.name) else { return };
            let reading = async {
                if is_due(&sources.last, FRESH) {
                    join_all(sources.handles.iter().map(RefreshHandle::refresh)).await;
                }
            };
            // Only a Hypervisor shows what Nova's servers have to do with the host.
            let comparing = self.comparing.as_ref().filter(|_| key.namespace.is_none());
            let comparing = async {
                if let Some(comparing) = comparing {
                    comparing.compare(&key.name, &sources).await;
                }
            };
            futures::join!(reading, comparing);
        }
        .boxed()
    }
}

impl Comparing {
    async fn compare(&self, host: &str, sources: &HostSources) {
        let Some(said) = self.inspectors.of(host).map(|inspector| inspector.last()) else { return };
        // Without its domains there is nothing to compare.
        let Some(picture) = said.value().filter(|_| said.is_connected()) else { return };
        if !is_due(&sources.compared, self.fresh) {
            return;
        }
        let (done, seen) = oneshot::channel();
        let comparison = Comparison {
            host: host.to_owned(),
            nova_host: self.rules.nova_host(host).to_owned(),
            domains: picture.domains.keys().copied().collect(),
            done,
        };
        if self.comparisons.try_send(comparison).is_ok() {
            // An error means that nothing came of it.
            let _ = seen.await;
        }
    }
}

/// Whether the last time is so long ago; if so, this is the last time.
fn is_due(last: &Mutex<Option<Instant>>, fresh: Duration) -> bool {
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    let due = last.is_none_or(|last| last.elapsed() >= fresh);
    if due {
        *last = Some(Instant::now());
    }
    due
}
