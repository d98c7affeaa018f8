//! Whether the cluster answers when it is asked about clients: said in the log once when it changes, not for each request.

use std::sync::atomic::{AtomicBool, Ordering};

use tracing::{info, warn};

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
