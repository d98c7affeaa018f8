//! Fresh counters for whoever asks for one object: sources are asked to read again, once for all who ask at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use aggregated_apiserver::{Freshener, ObjectKey};
use futures::FutureExt as _;
use futures::future::{BoxFuture, join_all};

use crate::sources::report::RefreshHandle;

/// Counters younger than this are fresh enough.
const FRESH: Duration = Duration::from_secs(1);

/// The sources of every host, for refreshing.
#[derive(Debug, Default)]
pub struct Freshness {
    hosts: RwLock<BTreeMap<String, Arc<HostSources>>>,
}

#[derive(Debug)]
struct HostSources {
    handles: Vec<RefreshHandle>,
    last: Mutex<Option<Instant>>,
}

impl Freshness {
    /// Makes the sources of a host known, in place of earlier ones.
    pub fn set(&self, host: &str, handles: Vec<RefreshHandle>) {
        let sources = Arc::new(HostSources { handles, last: Mutex::new(None) });
        self.hosts.write().unwrap_or_else(PoisonError::into_inner).insert(host.to_owned(), sources);
    }

    /// Forgets a host.
    pub fn remove(&self, host: &str) {
        self.hosts.write().unwrap_or_else(PoisonError::into_inner).remove(host);
    }

    fn due(&self, host: &str) -> Option<Arc<HostSources>> {
        let sources = self.hosts.read().unwrap_or_else(PoisonError::into_inner).get(host).cloned()?;
        let mut last = sources.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| last.elapsed() < FRESH) {
            return None;
        }
        *last = Some(Instant::now());
        drop(last);
        Some(sources)
    }
}

impl Freshener for Freshness {
    /// Waits for the host's sources to have read again; the server bounds the wait.
    fn freshen<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, ()> {
        async move {
            if let Some(sources) = self.due(&key.name) {
                join_all(sources.handles.iter().map(RefreshHandle::refresh)).await;
            }
        }
        .boxed()
    }
}
