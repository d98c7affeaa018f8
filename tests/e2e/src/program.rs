//! Runs a program to its end, but not for ever.

use std::ffi::OsStr;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

/// How often a child is looked at.
const GLANCE: Duration = Duration::from_millis(20);

/// What a program that ended has said.
#[derive(Debug)]
pub struct Said {
    /// The command line, for messages.
    pub line: String,
    /// How it ended.
    pub status: ExitStatus,
    /// What it wrote to its standard output.
    pub output: String,
    /// What it wrote to its standard error.
    pub complaint: String,
    /// How long it took.
    pub took: Duration,
}

impl Said {
    /// The output of a program that succeeded.
    ///
    /// # Errors
    /// When it failed; with what it said.
    pub fn success(self) -> Result<String> {
        ensure!(
            self.status.success(),
            "`{}` ended with {}: {}{}",
            self.line,
            self.status,
            self.complaint,
            self.output
        );
        Ok(self.output)
    }

    /// What a program that failed complained about.
    ///
    /// # Errors
    /// When it succeeded.
    pub fn failure(self) -> Result<String> {
        ensure!(!self.status.success(), "`{}` succeeded, and should not have: {}", self.line, self.output);
        Ok(self.complaint)
    }

    /// The output of a program that succeeded, as JSON.
    ///
    /// # Errors
    /// When it failed, or its output is no JSON.
    pub fn json(self) -> Result<Value> {
        let line = self.line.clone();
        let output = self.success()?;
        serde_json::from_str(&output).with_context(|| format!("the output of `{line}` is no JSON: {output}"))
    }
}

/// A command with these arguments and nothing on its standard input.
pub fn command<Word: AsRef<OsStr>>(program: impl AsRef<OsStr>, arguments: &[Word]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Runs a command to its end.
///
/// # Errors
/// When it cannot be started, or does not end within `limit`; then it is killed. A program that fails is no error here.
pub fn run(command: &mut Command, limit: Duration) -> Result<Said> {
    let line = line(command);
    let started = Instant::now();
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{line}` cannot be started"))?;
    let output = collect(child.stdout.take());
    let complaint = collect(child.stderr.take());
    let status = ended_within(&mut child, limit).with_context(|| format!("`{line}`"))?;
    let (Ok(output), Ok(complaint)) = (output.join(), complaint.join()) else {
        bail!("`{line}`: its output could not be read");
    };
    Ok(Said { line, status, output, complaint, took: started.elapsed() })
}

/// Waits for a child; kills it when it does not end.
///
/// # Errors
/// When it does not end within `limit`.
pub fn ended_within(child: &mut Child, limit: Duration) -> Result<ExitStatus> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if started.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            bail!("did not end within {} s and was killed", limit.as_secs_f32());
        }
        thread::sleep(GLANCE);
    }
}

/// The command as one would type it.
pub fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

fn collect(stream: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What was read before an error is all there is to show.
            let _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let error = run(&mut command("sleep", &["60"]), Duration::from_millis(50)).unwrap_err();
        assert!(format!("{error:#}").contains("was killed"), "{error:#}");
    }

    #[test]
    fn what_a_failing_program_says_is_told() {
        let said = run(&mut command("sh", &["-c", "echo why >&2; exit 3"]), Duration::from_secs(10)).unwrap();
        assert!(format!("{:#}", said.success().unwrap_err()).contains("why"));
    }
}
