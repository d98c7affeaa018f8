//! The real kubectl, as one identity against one server.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::program::{self, Said};

/// How long kubectl may take for anything but a wait or a watch.
const LIMIT: Duration = Duration::from_secs(60);

/// kubectl with its credentials.
#[derive(Debug, Clone)]
pub struct Kubectl {
    program: PathBuf,
    options: Vec<String>,
    home: PathBuf,
}

impl Kubectl {
    /// kubectl with the identity of a kubeconfig.
    pub fn new(program: &Path, kubeconfig: &Path) -> Self {
        let options = vec![format!("--kubeconfig={}", kubeconfig.display())];
        Self { program: program.to_owned(), options, home: std::env::temp_dir() }
    }

    /// The same with an option more.
    #[must_use]
    pub fn with(&self, option: impl Into<String>) -> Self {
        let mut more = self.clone();
        more.options.push(option.into());
        more
    }

    /// Keeps what it remembers of discovery in this folder.
    #[must_use]
    pub fn remembering_in(mut self, home: &Path) -> Self {
        home.clone_into(&mut self.home);
        self
    }

    /// Impersonates a user.
    #[must_use]
    pub fn acting_as(&self, user: &str) -> Self {
        self.with(format!("--as={user}"))
    }

    /// The command, not started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program::command(&self.program, arguments);
        // After the arguments: plugins and `--` are not used here.
        command.args(&self.options).env("HOME", &self.home).env_remove("KUBECONFIG");
        command.env("KUBECACHEDIR", self.home.join("kube-cache"));
        command
    }

    /// Runs it to its end, whatever that is.
    ///
    /// # Errors
    /// When it cannot be started or does not end.
    pub fn run(&self, arguments: &[&str]) -> Result<Said> {
        program::run(&mut self.command(arguments), LIMIT)
    }

    /// Runs it and returns what it printed.
    ///
    /// # Errors
    /// When it fails.
    pub fn print(&self, arguments: &[&str]) -> Result<String> {
        self.run(arguments)?.success()
    }

    /// Runs it with `-o json` and returns what it printed.
    ///
    /// # Errors
    /// When it fails.
    pub fn json(&self, arguments: &[&str]) -> Result<Value> {
        self.run(&[arguments, &["-o", "json"]].concat())?.json()
    }

    /// The Hypervisor of this name.
    ///
    /// # Errors
    /// When it cannot be had.
    pub fn hypervisor(&self, name: &str) -> Result<Value> {
        self.json(&["get", "hypervisors.hypervisor.c5c3.io", name])
    }

    /// The OVSNode of this name.
    ///
    /// # Errors
    /// When it cannot be had, or there is none.
    pub fn ovs_node(&self, name: &str) -> Result<Value> {
        let list =
            self.json(&["get", "ovsnodes", "-A", &format!("--field-selector=metadata.name={name}")])?;
        let found = list.pointer("/items/0").cloned();
        found.with_context(|| format!("there is no OVSNode {name}"))
    }
}

/// A condition of an object: its status, reason and message.
///
/// # Errors
/// When the object has no such condition.
pub fn condition<'a>(object: &'a Value, type_: &str) -> Result<(&'a str, &'a str, &'a str)> {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let found = conditions.into_iter().flatten().find(|condition| condition["type"] == type_);
    let found =
        found.with_context(|| format!("no condition {type_} in {}", object["status"]["conditions"]))?;
    let text = |field: &str| found[field].as_str().unwrap_or_default();
    Ok((text("status"), text("reason"), text("message")))
}

/// The names of a list's items, in order.
pub fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array();
    items.into_iter().flatten().filter_map(|item| item.pointer("/metadata/name")?.as_str()).collect()
}
