//! Refreshing an object before it is read, once for all who ask at the same time, and not for long.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};

use crate::collection::ObjectKey;
use crate::server::Freshener;

type Run = Shared<BoxFuture<'static, ()>>;

/// The runs that are under way.
pub(crate) struct Freshening {
    freshener: Arc<dyn Freshener>,
    time: Duration,
    runs: Arc<Mutex<HashMap<ObjectKey, Run>>>,
}

impl Freshening {
    pub(crate) fn new(freshener: Arc<dyn Freshener>, time: Duration) -> Self {
        Self { freshener, time, runs: Arc::default() }
    }

    /// Joins the run for an object, or starts one. Returns when it ended or its time is over.
    pub(crate) async fn freshen(&self, key: &ObjectKey) {
        let run = {
            let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
            runs.entry(key.clone()).or_insert_with(|| self.start(key.clone())).clone()
        };
        run.await;
    }

    fn start(&self, key: ObjectKey) -> Run {
        let (freshener, runs, time) = (self.freshener.clone(), self.runs.clone(), self.time);
        let run = async move {
            if tokio::time::timeout(time, freshener.freshen(&key)).await.is_err() {
                tracing::debug!(object = %key, "object could not be refreshed in time");
            }
            runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        };
        // A reader that goes away must not leave a run that nobody drives.
        let task = tokio::spawn(run);
        async move { task.await.unwrap_or_default() }.boxed().shared()
    }
}

impl fmt::Debug for Freshening {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Freshening").field("time", &self.time).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct Slow {
        runs: AtomicUsize,
        takes: Duration,
    }

    impl Freshener for Slow {
        fn freshen<'a>(&'a self, _: &'a ObjectKey) -> BoxFuture<'a, ()> {
            self.runs.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(self.takes).boxed()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn readers_of_the_same_object_share_a_run() {
        let slow = Arc::new(Slow { runs: AtomicUsize::new(0), takes: Duration::from_millis(100) });
        let freshening = Freshening::new(slow.clone(), Duration::from_millis(500));
        let (a, b) = (ObjectKey::cluster("a"), ObjectKey::cluster("b"));
        futures::join!(freshening.freshen(&a), freshening.freshen(&a), freshening.freshen(&b));
        assert_eq!(slow.runs.load(Ordering::SeqCst), 2);
        freshening.freshen(&a).await;
        assert_eq!(slow.runs.load(Ordering::SeqCst), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_takes_too_long_is_given_up() {
        let slow = Arc::new(Slow { runs: AtomicUsize::new(0), takes: Duration::from_secs(3600) });
        let freshening = Freshening::new(slow, Duration::from_millis(500));
        let start = tokio::time::Instant::now();
        freshening.freshen(&ObjectKey::cluster("a")).await;
        assert_eq!(start.elapsed(), Duration::from_millis(500));
    }
}
