//! Waiting for something to become true, with an end to it.
//!
//! A slow machine needs patience, not sleeps: what is asked for is asked for again until it holds, and when it never
//! does, the last reason why not is told.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// For what happens at once on a quiet machine.
pub const SOON: Duration = Duration::from_secs(60);

/// For what includes Nova, a timeout of the product, or the start of a daemon.
pub const LATER: Duration = Duration::from_secs(180);

/// How often is asked.
const PAUSE: Duration = Duration::from_millis(150);

/// Asks until the answer is `Ok`, and returns it.
///
/// # Errors
/// When `limit` is over: `what` was waited for, and the last error.
pub fn eventually<Answer>(
    limit: Duration,
    what: &str,
    mut ask: impl FnMut() -> Result<Answer>,
) -> Result<Answer> {
    let started = Instant::now();
    loop {
        let error = match ask() {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        if started.elapsed() >= limit {
            bail!("{what}: not within {} s; last: {error:#}", limit.as_secs());
        }
        sleep(PAUSE);
    }
}
