//! Log lines on standard error; `RUST_LOG` says which.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use super::LogFormat;

/// What is logged unless `RUST_LOG` says otherwise. The OpenStack client tells of every request at the level of info.
const DEFAULT: &str = "info,openstack_sdk=warn";

/// Starts logging. Called once; a second start changes nothing.
pub(super) fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_span_events(FmtSpan::NONE)
        .with_target(false);
    // An error means that logging was started before, by a test: its lines go there.
    let _ = match format {
        LogFormat::Text => lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
}
