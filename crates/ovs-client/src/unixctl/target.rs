//! Finding the socket of a daemon in its run directory.
//!
//! The name holds a process id as the daemon sees it, which in another pid namespace is nobody's, and a crash leaves
//! dead sockets behind. So no process id is ever believed: every candidate is asked for its version, and the first in
//! order that answers as the program we want is it.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::Endpoint;
use crate::connect::Connector;

use super::{Error, Options, ProgramVersion, call};

/// How long an earlier candidate is waited for once a later one has answered.
const GRACE: Duration = Duration::from_millis(100);

/// A daemon of Open vSwitch or OVN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Program {
    /// `ovs-vswitchd`.
    OvsVswitchd,
    /// `ovsdb-server`.
    OvsdbServer,
    /// `ovn-controller`.
    OvnController,
}

impl Program {
    /// Its name, as in its pid file and sockets.
    pub fn name(self) -> &'static str {
        match self {
            Self::OvsVswitchd => "ovs-vswitchd",
            Self::OvsdbServer => "ovsdb-server",
            Self::OvnController => "ovn-controller",
        }
    }
}

/// A daemon that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its socket.
    pub socket: PathBuf,
    /// What it said its version is.
    pub version: ProgramVersion,
}

impl Target {
    /// Finds the daemon in a run directory.
    pub async fn find(directory: &Path, program: Program, options: &Options) -> Result<Self, Error> {
        let name = program.name();
        let candidates = candidates(directory, name).await.map_err(|source| Error::Directory {
            program: name.to_owned(),
            directory: directory.to_owned(),
            source,
        })?;
        if candidates.is_empty() {
            return Err(Error::NoSocket { program: name.to_owned(), directory: directory.to_owned() });
        }
        // All at once, so that one that accepts and never answers costs little.
        let mut asked = JoinSet::new();
        for (rank, socket) in candidates.into_iter().enumerate() {
            let options = options.clone();
            asked.spawn(async move { Answer { rank, outcome: ask(&socket, name, &options).await, socket } });
        }
        let mut answers = Vec::new();
        while let Some(answer) = asked.join_next().await {
            let found = answer.as_ref().is_ok_and(|answer| answer.outcome.is_ok());
            answers.extend(answer);
            if found {
                break;
            }
        }
        // One that comes earlier in order may only be a little slower.
        let _ = timeout(GRACE, async {
            while let Some(answer) = asked.join_next().await {
                answers.extend(answer);
            }
        })
        .await;
        answers.sort_by_key(|answer| answer.rank);
        let mut tried = Vec::new();
        for Answer { socket, outcome, .. } in answers {
            match outcome {
                Ok(version) => return Ok(Self { socket, version }),
                Err(why) => tried.push(format!("{}: {why}", socket.display())),
            }
        }
        Err(Error::NobodyAnswers { program: name.to_owned(), directory: directory.to_owned(), tried })
    }

    /// Runs a command there.
    pub async fn call(&self, method: &str, params: &[&str], options: &Options) -> Result<String, Error> {
        call(&self.connector(), method, params, options).await
    }

    /// The socket as a connector.
    pub fn connector(&self) -> impl Connector {
        Endpoint::Unix(self.socket.clone())
    }
}

/// What a candidate said.
struct Answer {
    rank: usize,
    socket: PathBuf,
    outcome: Result<ProgramVersion, String>,
}

async fn ask(socket: &Path, program: &str, options: &Options) -> Result<ProgramVersion, String> {
    let text = call(&Endpoint::Unix(socket.to_owned()), "version", &[], options)
        .await
        .map_err(|error| error.chain())?;
    match ProgramVersion::parse(text.as_bytes()) {
        Ok(version) if version.program == program => Ok(version),
        Ok(version) => Err(format!("it is {}", version.program)),
        Err(error) => Err(error.to_string()),
    }
}

/// Sockets that may be the program's: the one its pid file names, the one without a number, then the newest first.
async fn candidates(directory: &Path, program: &str) -> std::io::Result<Vec<PathBuf>> {
    let pid = tokio::fs::read_to_string(directory.join(format!("{program}.pid"))).await.unwrap_or_default();
    let named = format!("{program}.{}.ctl", pid.trim());
    let plain = format!("{program}.ctl");
    let mut found = Vec::new();
    let mut entries = tokio::fs::read_dir(directory).await?;
    while let Some(entry) = entries.next_entry().await? {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let rank = if name == named {
            0
        } else if name == plain {
            1
        } else if is_numbered(&name, program) {
            2
        } else {
            continue;
        };
        let modified =
            entry.metadata().await.and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        found.push((rank, std::cmp::Reverse(modified), entry.path()));
    }
    found.sort();
    Ok(found.into_iter().map(|(.., path)| path).collect())
}

fn is_numbered(name: &str, program: &str) -> bool {
    let number = name
        .strip_prefix(program)
        .and_then(|rest| rest.strip_prefix('.'))
        .and_then(|rest| rest.strip_suffix(".ctl"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_socket_of_the_pid_file_comes_first_and_others_programs_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        for name in [
            "ovs-vswitchd.7.ctl",
            "ovs-vswitchd.12.ctl",
            "ovs-vswitchd.ctl",
            "ovs-vswitchd.x.ctl",
            "ovsdb-server.7.ctl",
            "br-int.mgmt",
        ] {
            file(name, "");
        }
        file("ovs-vswitchd.pid", "12\n");
        let found = candidates(directory.path(), "ovs-vswitchd").await.unwrap();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["ovs-vswitchd.12.ctl", "ovs-vswitchd.ctl", "ovs-vswitchd.7.ctl"]);
    }

    #[tokio::test]
    async fn no_directory_and_no_socket_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let find = async |path: PathBuf| {
            Target::find(&path, Program::OvnController, &Options::default()).await.unwrap_err()
        };
        assert!(matches!(find(directory.path().to_owned()).await, Error::NoSocket { .. }));
        assert!(matches!(find(directory.path().join("nope")).await, Error::Directory { .. }));
    }
}
