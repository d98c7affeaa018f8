//! A host's libvirt as virsh sees it, and domains that tests start there.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::program::{command, run};
use crate::rig::Rig;
use crate::watch::Watch;

const LIMIT: Duration = Duration::from_secs(60);

/// The libvirt of a host.
#[derive(Debug, Clone)]
pub struct Libvirt {
    uri: String,
}

impl Libvirt {
    /// The libvirt of a host of the rig.
    ///
    /// # Errors
    /// When the rig has no such host.
    pub fn of(rig: &Rig, host: &str) -> Result<Self> {
        Ok(Self { uri: format!("qemu+tcp://{}/system", rig.address(host)?) })
    }

    /// What virsh prints.
    ///
    /// # Errors
    /// When it fails.
    pub fn virsh(&self, arguments: &[&str]) -> Result<String> {
        run(&mut self.command(arguments), LIMIT)?.success()
    }

    /// virsh's own watch: a line for each start and end of a domain.
    ///
    /// # Errors
    /// When virsh cannot be started.
    pub fn events(&self) -> Result<Watch<String>> {
        Watch::lines(self.command(&["event", "--event", "lifecycle", "--loop"]))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        command("virsh", &[&["-c", self.uri.as_str()], arguments].concat())
    }

    /// The value of a line `name: value` that virsh prints.
    ///
    /// # Errors
    /// When virsh fails or prints no such line.
    pub fn fact(&self, arguments: &[&str], name: &str) -> Result<String> {
        let text = self.virsh(arguments)?;
        let value = text.lines().find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name));
        let (_, value) = value.with_context(|| format!("virsh prints no `{name}`: {text}"))?;
        Ok(value.trim().to_owned())
    }

    /// UUIDs of all domains.
    ///
    /// # Errors
    /// When virsh fails.
    pub fn domains(&self) -> Result<BTreeSet<String>> {
        Ok(self.virsh(&["list", "--all", "--uuid"])?.split_whitespace().map(str::to_owned).collect())
    }

    /// Starts a small transient domain without disks.
    ///
    /// # Errors
    /// When virsh fails.
    pub fn start(&self, name: &str) -> Result<Domain> {
        let mut file = tempfile::NamedTempFile::new()?;
        write!(
            file,
            "<domain type='qemu'><name>{name}</name><memory unit='MiB'>16</memory><vcpu>1</vcpu>\
             <os><type arch='x86_64'>hvm</type></os>\
             <devices><controller type='usb' model='none'/><memballoon model='none'/></devices></domain>"
        )?;
        let path = file.path().to_string_lossy().into_owned();
        self.virsh(&["create", &path])?;
        let mut domain = Domain { libvirt: self.clone(), name: name.to_owned(), id: String::new() };
        domain.id = self.virsh(&["domuuid", name])?.trim().to_owned();
        Ok(domain)
    }
}

/// A domain that a test started. Destroyed when dropped.
#[derive(Debug)]
pub struct Domain {
    libvirt: Libvirt,
    /// Its name.
    pub name: String,
    /// Its UUID.
    pub id: String,
}

impl Domain {
    /// Moves it to another host while it runs.
    ///
    /// # Errors
    /// When libvirt fails; then it is still where it was.
    pub fn migrate(&mut self, to: &Libvirt) -> Result<()> {
        self.libvirt.virsh(&["migrate", "--live", "--p2p", &self.name, &to.uri])?;
        self.libvirt = to.clone();
        Ok(())
    }

    /// Ends it.
    ///
    /// # Errors
    /// When virsh fails.
    pub fn destroy(&self) -> Result<()> {
        self.libvirt.virsh(&["destroy", &self.name]).map(drop)
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        // Most tests have destroyed it already.
        let _ = self.destroy();
    }
}
