//! A host's Open vSwitch as ovs-vsctl sees it.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;

use crate::program::{command, run};
use crate::rig::Rig;

const LIMIT: Duration = Duration::from_secs(60);

/// The Open vSwitch of a host.
#[derive(Debug, Clone)]
pub struct Switch {
    database: String,
}

impl Switch {
    /// The switch of a host of the rig.
    ///
    /// # Errors
    /// When the rig has no such host.
    pub fn of(rig: &Rig, host: &str) -> Result<Self> {
        Ok(Self { database: format!("--db=tcp:{}:6640", rig.address(host)?) })
    }

    /// What ovs-vsctl prints.
    ///
    /// # Errors
    /// When it fails.
    pub fn vsctl(&self, arguments: &[&str]) -> Result<String> {
        let options = ["--timeout=20", self.database.as_str()];
        run(&mut command("ovs-vsctl", &[&options, arguments].concat()), LIMIT)?.success()
    }

    /// A value of the root row, without quotes.
    ///
    /// # Errors
    /// When ovs-vsctl fails.
    pub fn root(&self, column: &str) -> Result<String> {
        Ok(self.vsctl(&["get", "Open_vSwitch", ".", column])?.trim().trim_matches('"').to_owned())
    }

    /// Names of the rows that a condition selects.
    ///
    /// # Errors
    /// When ovs-vsctl fails.
    pub fn names(&self, table: &str, condition: &[&str]) -> Result<BTreeSet<String>> {
        let columns = ["--bare", "--no-headings", "--columns=name", "find", table];
        let text = self.vsctl(&[&columns, condition].concat())?;
        Ok(text.split_whitespace().map(str::to_owned).collect())
    }
}
