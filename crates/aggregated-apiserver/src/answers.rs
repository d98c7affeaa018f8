//! Asking the cluster about clients, and whether it answers: said in the log once when it changes, not for each request.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tracing::{info, warn};

/// An answer within a time. A question that did not reach a cluster, or that it was not ready for, is asked again.
pub(crate) async fn delivered<T, F>(
    timeout: Duration,
    mut ask: impl FnMut() -> F,
) -> Option<Result<T, kube::Error>>
where
    F: Future<Output = Result<T, kube::Error>>,
{
    const FIRST_PAUSE: Duration = Duration::from_millis(50);
    const LONGEST_PAUSE: Duration = Duration::from_secs(1);
    let end = tokio::time::Instant::now() + timeout;
    let mut pause = FIRST_PAUSE;
    loop {
        let answer = tokio::time::timeout_at(end, ask()).await.ok()?;
        match answer {
            Err(error) if is_passing(&error) && tokio::time::Instant::now() + pause < end => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            answer => return Some(answer),
        }
    }
}

/// Whether the same question may be answered a moment later.
fn is_passing(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => [429, 500, 502, 503, 504].contains(&status.code),
        kube::Error::Service(_) | kube::Error::HyperError(_) => true,
        _ => false,
    }
}

/// The state of one kind of question.
#[derive(Debug)]
pub(crate) struct Answers {
    to: &'static str,
    missing: AtomicBool,
}

impl Answers {
    pub(crate) fn new(to: &'static str) -> Self {
        Self { to, missing: AtomicBool::new(false) }
    }

    pub(crate) fn missing(&self, error: &dyn std::error::Error) {
        if !self.missing.swap(true, Ordering::Relaxed) {
            warn!(error = %chain(error), to = self.to, "the cluster does not answer");
        }
    }

    pub(crate) fn present(&self) {
        if self.missing.load(Ordering::Relaxed) && self.missing.swap(false, Ordering::Relaxed) {
            info!(to = self.to, "the cluster answers again");
        }
    }
}

/// An error with all its sources.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}
