//! Scripted faults: what a protocol server does instead of behaving.

/// How one server of one host (or the cloud) misbehaves from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fault {
    /// It behaves.
    #[default]
    None,
    /// New connections are closed at once and open ones are dropped.
    Refuse,
    /// Connections are accepted and requests read, but nothing is ever answered, keepalive included.
    Stall,
    /// Half of the next frame is sent, then the connection is dropped; afterwards like [`Fault::None`].
    HalfFrame,
    /// HTTP servers answer 503; other servers treat it like [`Fault::Refuse`].
    Unavailable,
}

/// The fault of each protocol of one host.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// libvirtd.
    pub libvirt: Fault,
    /// ovsdb-server.
    pub ovsdb: Fault,
    /// OpenFlow management sockets.
    pub openflow: Fault,
    /// unixctl sockets.
    pub unixctl: Fault,
}
