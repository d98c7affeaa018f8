//! `serve`: the server, until a signal.

use std::path::Path;
use std::process::ExitCode;

use tokio_util::sync::CancellationToken;

use super::Failure;
use crate::configuration;
use crate::wiring;

/// Serves until a signal.
pub(super) async fn serve(file: &Path) -> Result<ExitCode, Failure> {
    let configuration = configuration::load(file)?;
    // Secrets are files of their own; what is printed here are their paths.
    match serde_json::to_string(&configuration) {
        Ok(effective) => tracing::info!(file = %file.display(), effective, "configuration"),
        Err(error) => return Err(Failure::other(&error)),
    }
    let end = CancellationToken::new();
    wiring::end_on_signals(end.clone()).map_err(|error| Failure::other(&error))?;
    let running = wiring::start(configuration, end).await.map_err(|error| Failure::other(&error))?;
    running.ended().await.map_err(|error| Failure::other(&error))?;
    Ok(ExitCode::SUCCESS)
}
