//! What this replica can state: at which version it had applied the store through which revision.

use std::sync::{Arc, Mutex, PoisonError};

use aggregated_apiserver::VersionClock;
use tokio::sync::watch;

/// Statements that are kept: the first, which speaks for all that was there at the start, and the newest.
const KEPT: usize = 512;

/// "Every version after `after` was issued with the store applied through `through`."
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    /// Microseconds of the last version that may have been issued before.
    pub after: u64,
    /// Revision of the store.
    pub through: u64,
}

/// The statements of this process.
#[derive(Debug)]
pub struct Ledger {
    clock: Arc<VersionClock>,
    statements: Mutex<Vec<Statement>>,
    news: watch::Sender<u64>,
}

impl Ledger {
    /// Nothing is stated yet.
    pub fn new(clock: Arc<VersionClock>) -> Self {
        Self { clock, statements: Mutex::new(Vec::new()), news: watch::Sender::new(0) }
    }

    /// The store has been applied through that revision, and what follows from it has not been published yet.
    ///
    /// Returns the revision through which versions are not spoken for any more: objects that still show those have to be
    /// published again.
    pub fn applied(&self, through: u64) -> Option<u64> {
        let forgotten = {
            let mut statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
            if statements.last().is_some_and(|last| last.through >= through) {
                return None;
            }
            let forgotten = (statements.len() >= KEPT).then(|| statements.remove(1).through);
            statements.push(Statement { after: self.clock.read().micros(), through });
            forgotten
        };
        self.news.send_replace(through);
        forgotten
    }

    /// All statements, oldest first.
    pub fn statements(&self) -> Vec<Statement> {
        self.statements.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes when there is a new statement.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_statement_and_the_newest_are_kept_and_what_is_forgotten_is_said() {
        let clock = Arc::new(VersionClock::with_time(0, || 7));
        let ledger = Ledger::new(clock);
        let forgotten: Vec<u64> = (1..=600).filter_map(|through| ledger.applied(through * 10)).collect();
        assert_eq!(forgotten, (2..=89).map(|number| number * 10).collect::<Vec<_>>());
        let statements = ledger.statements();
        assert_eq!((statements.len(), statements[0].through, statements[1].through), (KEPT, 10, 900));
        assert_eq!(ledger.applied(6_000), None, "nothing new");
        assert_eq!(ledger.statements(), statements);
    }
}
