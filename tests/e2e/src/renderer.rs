//! The renderer as a program, run as a person would run it.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use serde_json::Value;

use crate::program::{Said, command, run};

/// A cold build on a busy machine.
const BUILD: Duration = Duration::from_secs(1800);

/// How long a run may take.
const LIMIT: Duration = Duration::from_secs(120);

/// Runs `c5c3-renderer` to its end.
///
/// # Errors
/// When it cannot be built or started, or does not end.
pub fn renderer(arguments: &[&str]) -> Result<Said> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| build().map_err(|error| format!("{error:#}")));
    let program = program.as_ref().map_err(|error| anyhow!("{error}"))?;
    run(&mut command(program, arguments), LIMIT)
}

/// The program: what `C5C3_RENDERER` names, else what cargo builds from this tree.
fn build() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os("C5C3_RENDERER") {
        return Ok(program.into());
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["build", "--quiet", "--package", "c5c3-renderer", "--message-format=json"];
    let output = run(&mut command(cargo, &arguments), BUILD)?.success()?;
    for message in output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if message["target"]["name"] == "c5c3-renderer"
            && let Some(program) = message["executable"].as_str()
        {
            return Ok(PathBuf::from(program));
        }
    }
    bail!("cargo has built no c5c3-renderer")
}
