//! The rig's OpenStack as its own command sees it, and servers that tests create there.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::program::{Said, command, run};
use crate::rig::Rig;

/// The command is a large Python program, and a server takes its time.
const LIMIT: Duration = Duration::from_secs(240);

/// Prints the traits of the resource provider that is named by its argument; no plugin for Placement is needed.
const TRAITS: &str = "import json, openstack, sys
placement = openstack.connect(cloud='rig').placement
headers = {'OpenStack-API-Version': 'placement 1.6'}
print(json.dumps(placement.get(f'/resource_providers/{sys.argv[1]}/traits', headers=headers).json()))";

/// The OpenStack of the rig.
#[derive(Debug, Clone)]
pub struct Cloud {
    program: PathBuf,
    clouds: PathBuf,
}

impl Cloud {
    /// The cloud of a rig.
    pub fn of(rig: &Rig) -> Self {
        Self { program: rig.openstack.clone(), clouds: rig.clouds.clone() }
    }

    /// What `openstack …` prints as JSON.
    ///
    /// # Errors
    /// When it fails.
    pub fn json(&self, arguments: &[&str]) -> Result<Value> {
        self.run(&[arguments, &["-f", "json"]].concat())?.json()
    }

    /// The traits of a resource provider in Placement.
    ///
    /// # Errors
    /// When Placement does not answer.
    pub fn traits(&self, provider: &str) -> Result<Vec<String>> {
        let python = self.program.with_file_name("python3");
        let mut command = command(python, &["-c", TRAITS, provider]);
        let answer = run(command.env("OS_CLIENT_CONFIG_FILE", &self.clouds), LIMIT)?.json()?;
        serde_json::from_value(answer["traits"].clone()).context("Placement's answer has no traits")
    }

    /// Creates a small server on this host, and does not wait for it.
    ///
    /// # Errors
    /// When Nova refuses.
    pub fn create_server(&self, name: &str, zone: &str, host: &str) -> Result<Server> {
        let place = format!("{zone}:{host}");
        let what = ["--flavor", "rig.tiny", "--image", "rig-image", "--network", "rig-net"];
        let arguments = [&["server", "create"], &what[..], &["--availability-zone", &place, name]].concat();
        let id = self.json(&arguments)?["id"].as_str().context("the new server has no id")?.to_owned();
        Ok(Server { cloud: self.clone(), id, deleted: false })
    }

    fn run(&self, arguments: &[&str]) -> Result<Said> {
        let mut command = command(&self.program, &[&["--os-cloud", "rig"], arguments].concat());
        run(command.env("OS_CLIENT_CONFIG_FILE", &self.clouds), LIMIT)
    }
}

/// The row of a list whose field has this value.
///
/// # Errors
/// When there is none.
pub fn row<'a>(list: &'a Value, field: &str, value: &str) -> Result<&'a Value> {
    let found = list.as_array().into_iter().flatten().find(|row| row[field] == value);
    found.with_context(|| format!("no row with {field} {value} in {list}"))
}

/// A server that a test created. Deleted when dropped.
#[derive(Debug)]
pub struct Server {
    cloud: Cloud,
    /// Its UUID, which is also that of its domain.
    pub id: String,
    deleted: bool,
}

impl Server {
    /// Deletes it and waits until it is gone.
    ///
    /// # Errors
    /// When Nova refuses.
    pub fn delete(&mut self) -> Result<()> {
        self.cloud.run(&["server", "delete", "--wait", &self.id])?.success()?;
        self.deleted = true;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.deleted {
            return;
        }
        if let Err(error) = self.delete() {
            eprintln!("server {} could not be deleted: {error:#}", self.id);
        }
    }
}
