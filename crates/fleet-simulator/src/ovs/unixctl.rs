//! The control sockets of the daemons.

use std::fmt::Write;
use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::BytesMut;
use serde_json::{Value as Json, json};

use crate::model::{Host, HostState, Interface, Port};

use super::serve::{Listener, Protocol, Wire, next_json, serve};

/// Which daemon answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Daemon {
    OvsVswitchd,
    OvsdbServer,
    OvnController,
}

impl Daemon {
    fn name(self) -> &'static str {
        match self {
            Self::OvsVswitchd => "ovs-vswitchd",
            Self::OvsdbServer => "ovsdb-server",
            Self::OvnController => "ovn-controller",
        }
    }

    /// A process id as the daemon would see it in a namespace of its own.
    fn pid(self) -> u32 {
        match self {
            Self::OvsdbServer => 11,
            Self::OvsVswitchd => 12,
            Self::OvnController => 13,
        }
    }

    fn commands(self) -> &'static [&'static str] {
        match self {
            Self::OvsVswitchd => &["bond/list", "bond/show", "list-commands", "version"],
            Self::OvsdbServer => &["list-commands", "ovsdb-server/list-dbs", "version"],
            Self::OvnController => &["connection-status", "list-commands", "version"],
        }
    }
}

/// Binds the daemon's socket and writes its pid file.
pub(super) fn bind(daemon: Daemon, directory: &Path) -> io::Result<Listener> {
    let (name, pid) = (daemon.name(), daemon.pid());
    std::fs::write(directory.join(format!("{name}.pid")), format!("{pid}\n"))?;
    super::bind(&directory.join(format!("{name}.{pid}.ctl")))
}

/// Serves every connection of a listener.
pub(super) async fn serve_all(host: Arc<Host>, listener: Listener, daemon: Daemon) {
    serve(host, listener, Protocol::Unixctl, move |host, wire| session(host, wire, daemon)).await;
}

async fn session(host: Arc<Host>, mut wire: Wire, daemon: Daemon) -> io::Result<()> {
    let mut buffer = BytesMut::new();
    loop {
        while let Some(request) = next_json(&mut buffer)? {
            let (id, method) = (
                request.get("id").cloned().unwrap_or_default(),
                request.get("method").and_then(Json::as_str),
            );
            let (Some(method), Some(params)) = (method, request.get("params").and_then(Json::as_array))
            else {
                return Ok(());
            };
            if id.is_null() {
                return Ok(());
            }
            let reply = match answer(&host, daemon, method, params) {
                Ok(text) => json!({ "id": id, "result": text, "error": null }),
                Err(text) => json!({ "id": id, "error": format!("{text}\n") }),
            };
            wire.send(reply.to_string().as_bytes()).await?;
        }
        if wire.read(&mut buffer).await? == 0 {
            return Ok(());
        }
    }
}

fn answer(host: &Host, daemon: Daemon, method: &str, params: &[Json]) -> Result<String, String> {
    if !daemon.commands().contains(&method) {
        return Err(format!(
            "\"{method}\" is not a valid command (use \"list-commands\" to see a list of valid commands)"
        ));
    }
    let most = usize::from(method == "bond/show");
    if params.len() > most {
        return Err(format!("\"{method}\" command takes at most {most} arguments"));
    }
    if params.iter().any(|param| !param.is_string()) {
        return Err(format!("\"{method}\" command has non-string argument"));
    }
    host.read(|state| match method {
        "version" => Ok(version(state, daemon)),
        "list-commands" => {
            let lines = daemon.commands().iter().fold(String::new(), |text, name| text + "  " + name + "\n");
            Ok(format!("The available commands are:\n{lines}"))
        }
        "ovsdb-server/list-dbs" => Ok("Open_vSwitch\n".to_owned()),
        "connection-status" => {
            Ok(if state.switch.ovn.connected { "connected\n" } else { "not connected\n" }.to_owned())
        }
        "bond/list" => {
            let lines = bonds(state).map(|(port, mode)| {
                let names: Vec<&str> =
                    port.interfaces.iter().map(|interface| interface.name.as_str()).collect();
                format!("{}\t{mode}\t0\t{}\n", port.name, names.join(", "))
            });
            Ok(format!("bond\ttype\trecircID\tmembers\n{}", lines.collect::<String>()))
        }
        _ => match params.first().and_then(Json::as_str) {
            None => Ok(bonds(state).map(|(port, _)| bond_show(port)).collect()),
            Some(name) => bonds(state)
                .find(|(port, _)| port.name == name)
                .map(|(port, _)| bond_show(port))
                .ok_or_else(|| "no such bond".to_owned()),
        },
    })
}

fn version(state: &HostState, daemon: Daemon) -> String {
    let switch = &state.switch;
    match daemon {
        Daemon::OvnController => {
            format!(
                "ovn-controller {}\nOpen vSwitch Library {}\n",
                switch.ovn.version, switch.program_version
            )
        }
        _ => format!("{} (Open vSwitch) {}\n", daemon.name(), switch.program_version),
    }
}

fn bonds(state: &HostState) -> impl Iterator<Item = (&Port, &str)> {
    state.switch.ports().filter_map(|port| Some((port, port.bond.as_ref()?.mode.as_str())))
}

fn bond_show(port: &Port) -> String {
    let Some(bond) = &port.bond else { return String::new() };
    let lacp = match bond.lacp.as_deref() {
        None | Some("off") => "off",
        Some(_) if port.interfaces.iter().any(|member| member.link_up) => "negotiated",
        Some(_) => "configured",
    };
    let named = |name: &String| port.interfaces.iter().find(|member| member.name == *name);
    let active = bond.active_member.as_ref().and_then(named);
    let mac = active.map_or_else(
        || "00:00:00:00:00:00(none)".to_owned(),
        |member| format!("{}({})", member.mac, member.name),
    );
    let mut text = format!(
        "---- {} ----\nbond_mode: {}\nbond may use recirculation: no, Recirc-ID : -1\nbond-hash-basis: 0\n\
         lb_output action: disabled, bond-id: -1\nupdelay: 0 ms\ndowndelay: 0 ms\nlacp_status: {lacp}\n\
         lacp_fallback_ab: false\nactive-backup primary: <none>\nactive member mac: {mac}\n\n",
        port.name, bond.mode
    );
    for member in &port.interfaces {
        // Writing to a string cannot fail.
        let _ =
            write!(text, "{}", member_text(member, active.is_some_and(|active| active.uuid == member.uuid)));
    }
    text
}

fn member_text(member: &Interface, active: bool) -> String {
    let state = if member.link_up { "enabled" } else { "disabled" };
    let active = if active { "  active member\n" } else { "" };
    format!("member {}: {state}\n{active}  may_enable: {}\n\n", member.name, member.link_up)
}
