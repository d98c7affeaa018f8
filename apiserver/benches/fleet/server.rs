//! The server as a process of its own, so that its memory and processor time are its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use c5c3_apiserver::configuration::Configuration;
use c5c3_apiserver::simulation::write_configuration;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// Kernel ticks per second of `/proc/PID/stat`, the same on every Linux that we build for.
const TICKS_PER_SECOND: f64 = 100.0;

/// `c5c3-apiserver serve`, killed when dropped.
pub(crate) struct Child {
    process: std::process::Child,
    log: PathBuf,
    started: Instant,
}

impl Child {
    pub(crate) fn start(folder: &Path, configuration: &Configuration) -> Self {
        let file = write_configuration(folder.join("configuration.yaml"), configuration).unwrap();
        let log = folder.join("server.log");
        let started = Instant::now();
        let process = Command::new(env!("CARGO_BIN_EXE_c5c3-apiserver"))
            .args(["serve", "--config"])
            .arg(file)
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stderr(std::fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        Self { process, log, started }
    }

    /// Ends the benchmark with the server's log when the server has ended.
    pub(crate) fn must_run(&mut self) {
        if let Some(status) = self.process.try_wait().unwrap() {
            panic!("the server ended: {status}\n{}", self.log_end());
        }
    }

    /// Time since it was started.
    pub(crate) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// The last lines of its log.
    pub(crate) fn log_end(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(20).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// Resident memory in MiB.
    pub(crate) fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        resident.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1024.0
    }

    /// Processor time used so far.
    pub(crate) fn processor(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        // The name, in parentheses, may hold anything; user and system time are the 12th and 13th field after it.
        let fields = stat.rsplit_once(')').unwrap().1.split_whitespace();
        let ticks: f64 = fields.skip(11).take(2).map(|field| field.parse::<f64>().unwrap()).sum();
        Duration::from_secs_f64(ticks / TICKS_PER_SECOND)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A port of loopback that nobody listens on.
pub(crate) async fn free_port() -> u16 {
    tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port()
}

pub(crate) async fn client(kubeconfig: Kubeconfig) -> Client {
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}
