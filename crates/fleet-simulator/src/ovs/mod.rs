//! Each host as ovsdb-server, ovs-vswitchd and ovn-controller: OVSDB, OpenFlow and unixctl on real sockets.
//!
//! ```text
//! Switch (model) ─rows, PURE─► tables ─┬► OVSDB: schema, monitor, transact    TCP or RUN/openvswitch/db.sock
//!        │                             └◄ transact writes back               
//!        ├──────────────────────────────► OpenFlow: flows per table          RUN/openvswitch/BRIDGE.mgmt
//!        └──────────────────────────────► unixctl: bond/show, version …      RUN/{openvswitch,ovn}/PROGRAM.PID.ctl
//! ```
//!
//! Texts of errors are those of the real daemons, because clients are written against them.

mod cells;
mod openflow;
mod ovsdb;
mod rows;
mod schema;
mod serve;
mod transact;
mod unixctl;
mod write_back;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::task::AbortHandle;

use crate::model::{Host, HostChange};
use serve::{Listener, Protocol, serve};
use unixctl::Daemon;

/// Servers that run until this is dropped.
#[derive(Debug)]
#[must_use = "dropping it stops the servers"]
pub struct Servers {
    tasks: Vec<AbortHandle>,
}

impl Drop for Servers {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Serves the host's database on a TCP port.
pub fn serve_ovsdb(host: Arc<Host>, listener: TcpListener) -> Servers {
    let task = tokio::spawn(ovsdb::serve_all(host, Listener::Tcp(listener)));
    Servers { tasks: vec![task.abort_handle()] }
}

/// Serves one connection to the host's database, for as long as the returned future is polled.
pub async fn serve_ovsdb_connection(host: Arc<Host>, stream: TcpStream) {
    ovsdb::serve_connection(host, stream).await;
}

/// Serves everything that a host offers on local sockets, in `run/openvswitch` and `run/ovn`.
///
/// Bridges that come later get their sockets too; an ovn-controller that stops leaves its socket behind, dead.
pub fn serve_run_directory(host: &Arc<Host>, run: &Path) -> io::Result<Servers> {
    let (openvswitch, ovn) = (run.join("openvswitch"), run.join("ovn"));
    std::fs::create_dir_all(&openvswitch)?;
    std::fs::create_dir_all(&ovn)?;
    let database = bind(&openvswitch.join("db.sock"))?;
    let mut tasks = vec![tokio::spawn(ovsdb::serve_all(Arc::clone(host), database)).abort_handle()];
    for daemon in [Daemon::OvsVswitchd, Daemon::OvsdbServer] {
        let listener = unixctl::bind(daemon, &openvswitch)?;
        tasks.push(tokio::spawn(unixctl::serve_all(Arc::clone(host), listener, daemon)).abort_handle());
    }
    // Bound once before we return, so that a caller finds what is there now; the task follows what comes later.
    let mut sockets =
        Sockets { host: Arc::clone(host), openvswitch, ovn, bridges: BTreeMap::new(), controller: None };
    sockets.reconcile()?;
    tasks.push(tokio::spawn(sockets.follow()).abort_handle());
    Ok(Servers { tasks })
}

/// Waits until the switch may have changed; true when nothing can change any more.
async fn changes_ended(changes: &mut broadcast::Receiver<HostChange>) -> bool {
    loop {
        match changes.recv().await {
            Ok(HostChange::Switch) | Err(RecvError::Lagged(_)) => return false,
            Ok(_) => {}
            Err(RecvError::Closed) => return true,
        }
    }
}

/// Binds a unix socket where perhaps a dead one is.
fn bind(path: &Path) -> io::Result<Listener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    UnixListener::bind(path).map(Listener::Unix)
}

/// The sockets that come and go with bridges and with ovn-controller.
struct Sockets {
    host: Arc<Host>,
    openvswitch: PathBuf,
    ovn: PathBuf,
    bridges: BTreeMap<String, Servers>,
    controller: Option<Servers>,
}

impl Sockets {
    async fn follow(mut self) {
        let mut changes = self.host.subscribe();
        loop {
            if let Err(error) = self.reconcile() {
                tracing::warn!(host = %self.host.name, %error, "cannot open a socket of a simulated switch");
            }
            if changes_ended(&mut changes).await {
                return;
            }
        }
    }

    fn reconcile(&mut self) -> io::Result<()> {
        let (wanted, running) = self.host.read(|state| {
            let names: Vec<String> = state.switch.bridges.iter().map(|bridge| bridge.name.clone()).collect();
            (names, state.switch.ovn.running)
        });
        let socket = |name: &str| self.openvswitch.join(format!("{name}.mgmt"));
        self.bridges.retain(|name, _| {
            let stays = wanted.contains(name);
            if !stays && let Err(error) = std::fs::remove_file(socket(name)) {
                tracing::debug!(bridge = name, %error, "socket was gone already");
            }
            stays
        });
        for name in wanted {
            if !self.bridges.contains_key(&name) {
                let listener = bind(&socket(&name))?;
                let (host, bridge) = (Arc::clone(&self.host), name.clone());
                let task = tokio::spawn(serve(host, listener, Protocol::Openflow, move |host, wire| {
                    openflow::session(host, wire, bridge.clone())
                }));
                self.bridges.insert(name, Servers { tasks: vec![task.abort_handle()] });
            }
        }
        match (running, &self.controller) {
            (true, None) => {
                let listener = unixctl::bind(Daemon::OvnController, &self.ovn)?;
                let task = unixctl::serve_all(Arc::clone(&self.host), listener, Daemon::OvnController);
                self.controller = Some(Servers { tasks: vec![tokio::spawn(task).abort_handle()] });
            }
            (false, Some(_)) => self.controller = None,
            _ => {}
        }
        Ok(())
    }
}
