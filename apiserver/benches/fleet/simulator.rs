//! The simulated fleet as a process of its own, told what shall happen line by line.

use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use c5c3_apiserver::configuration::{HostRules, OpenStack};
use serde::Deserialize;

/// `fleet-simulator`, ended when dropped.
pub(crate) struct Simulator {
    process: std::process::Child,
    input: std::process::ChildStdin,
    answers: BufReader<std::process::ChildStdout>,
    pub(crate) written: Written,
}

/// The part of the server's configuration that leads to the fleet.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Written {
    pub(crate) hosts: HostRules,
    pub(crate) openstack: OpenStack,
}

impl Simulator {
    /// Starts it, and waits until it listens.
    pub(crate) fn start(folder: &Path, hosts: usize, instances: usize, more: &[String]) -> Self {
        let mut process = Command::new(program())
            .args(["--hosts", &hosts.to_string(), "--instances", &instances.to_string(), "--folder"])
            .arg(folder)
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("fleet-simulator is built by `cargo build --release -p fleet-simulator`");
        let input = process.stdin.take().unwrap();
        let mut answers = BufReader::new(process.stdout.take().unwrap());
        let ready = line(&mut answers);
        let file = ready.strip_prefix("ready ").unwrap_or_else(|| panic!("fleet-simulator said {ready:?}"));
        let written = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        Self { process, input, answers, written }
    }

    /// Has something happen, and returns when it has.
    pub(crate) fn tell(&mut self, command: &str) {
        writeln!(self.input, "{command}").unwrap();
        let answer = line(&mut self.answers);
        assert_eq!(answer, "ok", "{command}");
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Beside the server's program, where cargo puts both, unless the environment says otherwise.
fn program() -> PathBuf {
    let beside = Path::new(env!("CARGO_BIN_EXE_c5c3-apiserver")).with_file_name("fleet-simulator");
    std::env::var_os("C5C3_FLEET_SIMULATOR").map_or(beside, PathBuf::from)
}

fn line(answers: &mut impl std::io::BufRead) -> String {
    let mut line = String::new();
    answers.read_line(&mut line).unwrap();
    line.trim().to_owned()
}
