//! The audit log as the configuration wants it.

use std::time::Duration;

use aggregated_apiserver::{AuditLevel, AuditLog};

use super::WiringError;
use crate::configuration::{Audit, Level};

/// How long the last lines may take to be written when the server ends.
const LAST_LINES: Duration = Duration::from_secs(5);

/// Opens the log.
pub(super) fn open(audit: &Audit) -> Result<AuditLog, WiringError> {
    let log = match audit.path() {
        Some(path) => AuditLog::to_file(path),
        None => AuditLog::new(std::io::stdout()),
    };
    let log = log.map_err(|source| WiringError::Audit { file: audit.file.clone(), source })?;
    Ok(log.levels(level(audit.reads), level(audit.writes)))
}

/// Sees to it that what was logged is written.
pub(super) async fn close(log: AuditLog) {
    let written = tokio::task::spawn_blocking(move || log.flush(LAST_LINES)).await;
    if !matches!(written, Ok(true)) {
        tracing::error!("the last lines of the audit log could not be written");
    }
}

fn level(level: Level) -> AuditLevel {
    match level {
        Level::None => AuditLevel::None,
        Level::Metadata => AuditLevel::Metadata,
        Level::Request => AuditLevel::Request,
    }
}
