//! Scripted faults: what a protocol server does instead of behaving.

use std::str::FromStr;

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
    /// libvirtd: a job holds the lock of every active domain. What needs the lock is refused as libvirtd does after 30 s,
    /// though at once; bulk statistics that do not wait have the state alone. Other servers behave.
    JobLock,
    /// libvirtd: life-cycle and job events are not sent. Other servers behave.
    LostEvents,
    /// libvirtd with TLS: it shows a certificate for another name. Other servers behave.
    WrongCertificate,
    /// libvirtd with TLS: it rejects the client's certificate. Other servers behave.
    CertificateRejected,
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

/// Not the name of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a fault is one of none, refuse, stall, half-frame, job-lock, lost-events, wrong-certificate, certificate-rejected, unavailable"
)]
pub struct NotAFault;

impl FromStr for Fault {
    type Err = NotAFault;

    fn from_str(name: &str) -> Result<Self, NotAFault> {
        Ok(match name {
            "none" => Self::None,
            "refuse" => Self::Refuse,
            "stall" => Self::Stall,
            "half-frame" => Self::HalfFrame,
            "job-lock" => Self::JobLock,
            "lost-events" => Self::LostEvents,
            "wrong-certificate" => Self::WrongCertificate,
            "certificate-rejected" => Self::CertificateRejected,
            "unavailable" => Self::Unavailable,
            _ => return Err(NotAFault),
        })
    }
}
