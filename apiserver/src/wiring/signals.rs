//! The first signal lets the server end in order; the second ends it at once.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancels `end` at the first SIGTERM or SIGINT, and ends the process at the second.
///
/// # Errors
/// When the signals cannot be listened for.
pub fn end_on_signals(end: CancellationToken) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        for again in [false, true] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if again {
                tracing::warn!("second signal: ending at once");
                std::process::exit(1);
            }
            tracing::info!("signal: ending in order, a second one ends at once");
            end.cancel();
        }
    });
    Ok(())
}
