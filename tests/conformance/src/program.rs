//! Client programs in Go, as children that direct the stage.
//!
//! A program writes a line `@stage {"do": "kill-replica"}` to its standard output and reads the answer, one line of JSON, from its standard
//! input. Everything else that it writes is kept for the message of a test that fails.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use c5c3_e2e::program::{command, run};
use serde_json::{Value, json};

use crate::stage::Stage;

/// A cold build of all client programs on a busy machine.
const BUILD: Duration = Duration::from_secs(2400);

/// What begins a line that is for the stage.
const MARK: &str = "@stage ";

/// Folder with the built client programs: what C5C3_CONFORMANCE_CLIENTS names, else they are built now.
///
/// # Errors
/// When they cannot be built.
pub fn clients() -> Result<PathBuf> {
    static FOLDER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let found = FOLDER.get_or_init(|| match std::env::var_os("C5C3_CONFORMANCE_CLIENTS") {
        Some(folder) => Ok(PathBuf::from(folder)),
        None => build().map_err(|error| format!("{error:#}")),
    });
    found.clone().map_err(|error| anyhow!(error))
}

fn build() -> Result<PathBuf> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("build-clients");
    let said = run(&mut command(script, &[] as &[&str]), BUILD)?.success()?;
    Ok(PathBuf::from(said.lines().last().context("build-clients names no folder")?))
}

/// Runs one test of a Go test binary against a stage.
///
/// # Errors
/// When it fails, is not there, or does not end within `limit`; with what it wrote.
pub fn go_test(
    stage: &Stage,
    binary: &str,
    test: &str,
    variables: &[(&str, &str)],
    limit: Duration,
) -> Result<String> {
    let program = clients()?.join(binary);
    let timeout = format!("-test.timeout={}s", limit.as_secs());
    let pattern = format!("-test.run=^{test}$");
    let mut command = command(&program, &["-test.v", "-test.count=1", &timeout, &pattern]);
    command.env("KUBECONFIG", &stage.rig.kubeconfig).env("HOME", stage.folder()).current_dir(stage.folder());
    for (name, value) in variables {
        command.env(name, value);
    }
    let text = direct(stage, &mut command, limit + Duration::from_secs(10))?;
    // `-test.run` that matches nothing passes, too.
    ensure!(text.contains(&format!("--- PASS: {test}")), "{binary} has no test {test}: {text}");
    Ok(text)
}

/// Runs a program to its end and does what it asks of the stage.
fn direct(stage: &Stage, command: &mut Command, limit: Duration) -> Result<String> {
    let line = c5c3_e2e::program::line(command);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{line}` cannot be started"))?;
    let mut input = child.stdin.take().context("no standard input")?;
    let output = child.stdout.take().context("no standard output")?;
    let mut complaint = child.stderr.take().context("no standard error")?;
    let deadline = Instant::now() + limit;
    thread::scope(|scope| {
        let complaints = scope.spawn(move || {
            let mut bytes = Vec::new();
            // What was read before an error is all there is to show.
            let _ = complaint.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let told = scope.spawn(move || {
            let mut text = String::new();
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let Some(wish) = line.strip_prefix(MARK) else {
                    text.push_str(&line);
                    text.push('\n');
                    continue;
                };
                let answer = answer(stage, wish);
                text.push_str(&format!("stage: {wish} -> {answer:.200}\n"));
                if writeln!(input, "{answer}").is_err() {
                    break;
                }
            }
            text
        });
        let status =
            c5c3_e2e::program::ended_within(&mut child, deadline.saturating_duration_since(Instant::now()));
        let text = told.join().unwrap_or_default();
        let complaints = complaints.join().unwrap_or_default();
        let status = status.with_context(|| format!("`{line}`: {text}{complaints}"))?;
        ensure!(status.success(), "`{line}` ended with {status}:\n{text}{complaints}");
        Ok(text)
    })
}

/// What the stage says to a wish: `{"ok": …}` or `{"error": "…"}`, on one line.
fn answer(stage: &Stage, wish: &str) -> String {
    let done = serde_json::from_str::<Value>(wish)
        .context("a wish that is no JSON")
        .and_then(|wish| stage.perform(&wish));
    match done {
        Ok(value) => json!({ "ok": value }).to_string(),
        Err(error) => json!({ "error": format!("{error:#}") }).to_string(),
    }
}
