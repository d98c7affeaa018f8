//! A room of the rig (a host, or the cloud) from the inside, and daemons in it that are frozen for a while.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::program::{command, run};
use crate::rig::Rig;

const LIMIT: Duration = Duration::from_secs(60);

/// The namespaces of a room.
#[derive(Debug, Clone)]
pub struct Room {
    pid: String,
}

impl Room {
    /// The room of this name.
    ///
    /// # Errors
    /// When it is not open.
    pub fn of(rig: &Rig, name: &str) -> Result<Self> {
        let file = rig.nodes.join(name).join("pid");
        let pid = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        Ok(Self { pid: pid.trim().to_owned() })
    }

    /// What a command prints in the room.
    ///
    /// # Errors
    /// When it fails.
    pub fn run(&self, arguments: &[&str]) -> Result<String> {
        let enter = ["-t", self.pid.as_str(), "-m", "-u", "-i", "-n", "-p", "--"];
        run(&mut command("nsenter", &[&enter, arguments].concat()), LIMIT)?.success()
    }

    /// Stops every process whose command line matches: it holds its connections, and never answers.
    ///
    /// # Errors
    /// When there is none.
    pub fn freeze(&self, pattern: &str) -> Result<Frozen> {
        let pids = self.run(&["pgrep", "-f", pattern])?;
        let pids: Vec<String> = pids.split_whitespace().map(str::to_owned).collect();
        ensure!(!pids.is_empty(), "no process matches {pattern}");
        // The guard first: half of a failed freeze is thawed as well.
        let frozen = Frozen { room: self.clone(), pids };
        frozen.signal("-STOP")?;
        Ok(frozen)
    }
}

/// Processes that are frozen. They go on when this is dropped.
#[derive(Debug)]
pub struct Frozen {
    room: Room,
    pids: Vec<String>,
}

impl Frozen {
    /// Lets them go on.
    ///
    /// # Errors
    /// When they are gone.
    pub fn thaw(self) -> Result<()> {
        self.signal("-CONT")
    }

    fn signal(&self, signal: &str) -> Result<()> {
        let mut arguments = vec!["kill", signal];
        arguments.extend(self.pids.iter().map(String::as_str));
        self.room.run(&arguments).map(drop)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        if let Err(error) = self.signal("-CONT") {
            eprintln!("a frozen daemon could not be told to go on: {error:#}");
        }
    }
}
