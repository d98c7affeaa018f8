//! Which unix socket of this machine serves a driver.
//!
//! libvirt is one daemon for all drivers (`libvirt-sock`) or one per driver (`virtqemud-sock` …); with the latter a proxy may hold the
//! old name, but whoever goes straight to the driver's own daemon does not depend on it. libvirt's clients take the driver's
//! socket where it is there; so does this.

use std::path::{Path, PathBuf};

use crate::Endpoint;

/// Where a machine's sockets are. `/var/run` is `/run` on every current system, and where libvirt's own clients look.
const FOLDER: &str = "/var/run/libvirt";

/// Drivers with a daemon of their own, by the scheme of their URI.
const DAEMONS: &[(&str, &str)] = &[
    ("qemu", "virtqemud"),
    ("ch", "virtchd"),
    ("xen", "virtxend"),
    ("lxc", "virtlxcd"),
    ("vbox", "virtvboxd"),
    ("bhyve", "virtbhyved"),
    ("vz", "virtvzd"),
];

impl Endpoint {
    /// The unix socket of this machine that serves `uri` (`qemu:///system`): that of the driver's own daemon where it is there, else
    /// that of the one daemon for all. With `read_only`, the socket that lets nobody change anything.
    ///
    /// ```
    /// use libvirt_rpc::Endpoint;
    /// println!("{}", Endpoint::local("qemu:///system", false));
    /// ```
    pub fn local(uri: &str, read_only: bool) -> Self {
        Self::local_in(Path::new(FOLDER), uri, read_only)
    }

    /// Like [`Endpoint::local`], with the sockets in another folder: those of another machine that are mounted, or a session's.
    pub fn local_in(folder: &Path, uri: &str, read_only: bool) -> Self {
        let suffix = if read_only { "-sock-ro" } else { "-sock" };
        let socket = |daemon: &str| -> PathBuf { folder.join(format!("{daemon}{suffix}")) };
        let scheme = uri.split(':').next().unwrap_or_default();
        let own = DAEMONS.iter().find(|(driver, _)| *driver == scheme).map(|(_, daemon)| socket(daemon));
        Self::Unix(own.filter(|path| path.exists()).unwrap_or_else(|| socket("libvirt")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_daemon_of_the_driver_comes_before_the_one_for_all() {
        let folder = tempfile::tempdir().unwrap();
        let chosen = |uri, read_only| match Endpoint::local_in(folder.path(), uri, read_only) {
            Endpoint::Unix(path) => path.file_name().unwrap().to_str().unwrap().to_owned(),
            other => panic!("{other}"),
        };
        assert_eq!(chosen("qemu:///system", false), "libvirt-sock");
        for socket in ["virtqemud-sock", "virtchd-sock", "virtqemud-sock-ro"] {
            std::fs::write(folder.path().join(socket), "").unwrap();
        }
        assert_eq!(chosen("qemu:///system", false), "virtqemud-sock");
        assert_eq!(chosen("qemu:///system", true), "virtqemud-sock-ro");
        assert_eq!(chosen("ch:///system", false), "virtchd-sock");
        assert_eq!(chosen("ch:///system", true), "libvirt-sock-ro", "one daemon without a read-only socket");
        assert_eq!(chosen("test:///default", false), "libvirt-sock");
    }
}
