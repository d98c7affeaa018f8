//! The server under test: the real program, as a child, on a free loopback port.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::Value;
use tempfile::TempDir;

use crate::kubectl::Kubectl;
use crate::patience::{SOON, eventually};
use crate::program::{command, ended_within, run};
use crate::rig::Rig;

/// A cold build of the server on a busy machine.
const BUILD: Duration = Duration::from_secs(1800);

/// How long the server may take to end: what its configuration says, and a slow machine.
const END: Duration = Duration::from_secs(20);

/// A server that runs. Stopped when dropped.
#[derive(Debug)]
pub struct Server {
    folder: TempDir,
    port: u16,
    child: Child,
}

impl Server {
    /// Starts a server for the hosts of a rig, and waits until it is ready.
    ///
    /// # Errors
    /// When it cannot be built or started, ends, or does not become ready.
    pub fn start(rig: &Rig) -> Result<Self> {
        Self::start_as(rig, |port| configuration(rig, port))
    }

    /// Starts a server with another configuration, which is told its port, and waits until it is ready.
    ///
    /// # Errors
    /// When it cannot be built or started, ends, or does not become ready.
    pub fn start_as(rig: &Rig, configure: impl FnOnce(u16) -> String) -> Result<Self> {
        let folder = TempDir::new()?;
        // Free now; if somebody takes it before the server does, the server says so and ends.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        fs::write(folder.path().join("server.yaml"), configure(port))?;
        let child = spawn(folder.path())?;
        let mut server = Self { folder, port, child };
        server.until_ready(rig)?;
        Ok(server)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A folder that lives as long as the server.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// kubectl that asks this server and not kube-apiserver, with the identity of a certificate.
    pub fn direct(&self, rig: &Rig, certificate: &str) -> Kubectl {
        let file = |extension: &str| rig.pki.join(format!("{certificate}.{extension}")).display().to_string();
        // A kubeconfig would bring the administrator's identity along.
        Kubectl::new(&rig.kubectl, Path::new("/dev/null"))
            .with(format!("--server=https://127.0.0.1:{}", self.port))
            .with(format!("--certificate-authority={}", rig.pki.join("ca.crt").display()))
            .with(format!("--client-certificate={}", file("crt")))
            .with(format!("--client-key={}", file("key")))
            .remembering_in(&self.folder.path().join(certificate))
    }

    /// Sends SIGTERM, and does not wait.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn terminate(&self) -> Result<()> {
        run(&mut command("kill", &["-TERM", &self.pid().to_string()]), END)?.success().map(drop)
    }

    /// Ends it as a machine that loses power would, and waits for that.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When it does not end in time; then it is killed.
    pub fn ended(&mut self) -> Result<ExitStatus> {
        ended_within(&mut self.child, END).context("c5c3-apiserver")
    }

    /// Starts it again, with the same configuration and port, after it has ended.
    ///
    /// # Errors
    /// When it does not become ready.
    pub fn start_again(&mut self, rig: &Rig) -> Result<()> {
        self.child = spawn(self.folder.path())?;
        self.until_ready(rig)
    }

    /// The end of its log.
    pub fn last_words(&self) -> String {
        let log = fs::read_to_string(self.folder.path().join("server.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines.get(lines.len().saturating_sub(60)..).unwrap_or_default().join("\n")
    }

    fn until_ready(&mut self, rig: &Rig) -> Result<()> {
        let kubectl = self.direct(rig, "admin");
        let ready = eventually(SOON, "readyz of c5c3-apiserver", || {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Err(anyhow!("c5c3-apiserver ended with {status}")));
            }
            kubectl.print(&["get", "--raw", "/readyz"]).map(|_| Ok(()))
        });
        ready.and_then(|outcome| outcome).with_context(|| self.last_words())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        // Whatever fails here, the child is killed when it does not end.
        let _ = self.terminate();
        if let Err(error) = self.ended() {
            eprintln!("{error:#}");
        }
    }
}

fn spawn(folder: &Path) -> Result<Child> {
    let program = program()?;
    let log = File::options().create(true).append(true).open(folder.join("server.log"))?;
    let configuration = folder.join("server.yaml");
    command(&program, &["serve".as_ref(), "--config".as_ref(), configuration.as_os_str()])
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .with_context(|| format!("{} cannot be started", program.display()))
}

/// As an operator would write it, but for the short wait at the end.
fn configuration(rig: &Rig, port: u16) -> String {
    let cluster = format!(
        "listen: 127.0.0.1:{port}
serving: {{certificate: {pki}/agg.crt, key: {pki}/agg.key}}
kubernetes: {{kubeconfig: {state}/kube/c5c3-apiserver.kubeconfig}}
shutdown: {{delay: 1s, grace: 5s}}
",
        pki = rig.pki.display(),
        state = rig.state.display(),
    );
    if rig.hosts.is_empty() {
        return cluster;
    }
    cluster
        + &format!(
            "hosts:
  reach:
    libvirt: tcp://{{address}}:16509
    ovsdb: tcp:{{address}}:6640
    openvswitchRun: {nodes}/{{name}}/run/openvswitch
    ovnRun: {nodes}/{{name}}/run/ovn
openstack: {{clouds: {clouds}, cloud: rig}}
",
            nodes = rig.nodes.display(),
            clouds = rig.clouds.display(),
        )
}

/// The program: what C5C3_APISERVER names, else what cargo builds from this tree.
///
/// # Errors
/// When it cannot be built.
pub fn program() -> Result<PathBuf> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let found = PROGRAM.get_or_init(|| match std::env::var_os("C5C3_APISERVER") {
        Some(path) => Ok(PathBuf::from(path)),
        None => build().map_err(|error| format!("{error:#}")),
    });
    found.clone().map_err(|error| anyhow!(error))
}

fn build() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["build", "--locked", "-p", "c5c3-apiserver", "--message-format=json-render-diagnostics"];
    let mut command = command(cargo, &arguments);
    let messages = run(command.current_dir(env!("CARGO_MANIFEST_DIR")), BUILD)?.success()?;
    let executable = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let ours = message["target"]["name"] == "c5c3-apiserver";
        ours.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
    };
    match messages.lines().find_map(executable) {
        Some(path) => Ok(path),
        None => bail!("cargo has built no c5c3-apiserver"),
    }
}
