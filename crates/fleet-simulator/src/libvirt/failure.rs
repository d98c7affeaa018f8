//! The errors a daemon answers with, by what went wrong.

use libvirt_rpc::wire::{Procedure, WireError};
use uuid::Uuid;

/// `virErrorDomain`, the part of libvirt that speaks, as libvirtd 9.0 was seen to send it.
const FROM_RPC: i32 = 7;
const FROM_QEMU: i32 = 10;
const FROM_DOMAIN: i32 = 20;
const FROM_NONE: i32 = 0;
/// `VIR_ERR_ERROR`.
const LEVEL_ERROR: i32 = 2;

/// A call that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// A program number nobody serves.
    UnknownProgram(u32),
    /// A procedure number nobody serves.
    UnknownProcedure(i32),
    /// Arguments that are not what the procedure takes.
    MalformedArguments,
    /// The reply is larger than the protocol allows.
    ReplyTooLarge,
    /// A call before the driver was opened.
    NotOpen,
    /// The driver is opened a second time.
    AlreadyOpen,
    /// A driver this daemon does not have.
    NoDriver(String),
    /// A change on a read-only connection.
    ReadOnly(Procedure),
    /// No domain of that UUID.
    NoDomain(Uuid),
    /// No domain of that name.
    NoDomainNamed(String),
    /// The domain is not running, or has no job.
    Invalid(&'static str),
    /// Numbers of a migration are asked of its target.
    StatsOfTarget,
    /// A job of another holds the domain's lock.
    JobLocked,
    /// A call before the client has said who it is.
    NotAuthenticated,
    /// Name or password are wrong.
    AuthFailed,
    /// An argument that makes no sense here.
    InvalidArgument(String),
    /// A host that domains cannot be migrated to.
    NoDestination(String),
    /// Somebody aborted it.
    Aborted(&'static str),
    /// A domain of that UUID or name is there.
    AlreadyExists(String),
    /// XML that is no domain.
    BadXml(String),
    /// An event the daemon does not know.
    UnknownEvent(i32),
    /// A callback that was not registered.
    UnknownCallback(i32),
}

impl Failure {
    /// As the wire carries it.
    pub(super) fn to_wire(&self) -> WireError {
        let (code, domain) = self.numbers();
        WireError { code, domain, message: Some(self.text()), level: LEVEL_ERROR, ..WireError::default() }
    }

    /// `virErrorNumber` and `virErrorDomain`.
    fn numbers(&self) -> (i32, i32) {
        match self {
            Self::UnknownProgram(_)
            | Self::UnknownProcedure(_)
            | Self::MalformedArguments
            | Self::NotAuthenticated
            | Self::ReplyTooLarge => (39, FROM_RPC),
            Self::AuthFailed => (45, FROM_RPC),
            Self::InvalidArgument(_) => (8, FROM_QEMU),
            Self::NoDestination(_) => (38, FROM_RPC),
            Self::Aborted(_) => (78, FROM_QEMU),
            Self::NotOpen | Self::AlreadyOpen | Self::UnknownEvent(_) | Self::UnknownCallback(_) => {
                (1, FROM_RPC)
            }
            Self::NoDriver(_) => (5, FROM_NONE),
            Self::ReadOnly(_) => (29, FROM_DOMAIN),
            Self::NoDomain(_) | Self::NoDomainNamed(_) => (42, FROM_QEMU),
            Self::Invalid(_) => (55, FROM_QEMU),
            Self::StatsOfTarget => (84, FROM_QEMU),
            Self::JobLocked => (68, FROM_QEMU),
            Self::AlreadyExists(_) => (9, FROM_QEMU),
            Self::BadXml(_) => (27, FROM_QEMU),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::UnknownProgram(program) => {
                format!("Cannot find program {program} version {}", libvirt_rpc::wire::PROTOCOL_VERSION)
            }
            Self::UnknownProcedure(procedure) => format!("unknown procedure: {procedure}"),
            Self::MalformedArguments => "Unable to decode message payload".to_owned(),
            Self::ReplyTooLarge => "Unable to encode message payload".to_owned(),
            Self::NotOpen => "internal error: hypervisor connection not open".to_owned(),
            Self::AlreadyOpen => "internal error: connection already open".to_owned(),
            Self::NoDriver(uri) => format!("no connection driver available for {uri}"),
            Self::ReadOnly(procedure) => {
                format!("operation forbidden: read only access prevents {procedure}")
            }
            Self::NoDomain(uuid) => format!("Domain not found: no domain with matching uuid '{uuid}'"),
            Self::NoDomainNamed(name) => format!("Domain not found: no domain with matching name '{name}'"),
            Self::Invalid(why) => format!("Requested operation is not valid: {why}"),
            Self::StatsOfTarget => {
                "Operation not supported: migration statistics are available only on the source host"
                    .to_owned()
            }
            Self::JobLocked => "Timed out during operation: cannot acquire state change lock (held by \
                                monitor=remoteDispatchDomainMigratePerform3Params)"
                .to_owned(),
            Self::NotAuthenticated => "authentication required".to_owned(),
            Self::AuthFailed => "authentication failed: authentication failed".to_owned(),
            Self::InvalidArgument(why) => format!("invalid argument: {why}"),
            Self::NoDestination(uri) => format!("unable to connect to server at '{uri}': No route to host"),
            Self::Aborted(why) => format!("operation aborted: {why}"),
            Self::AlreadyExists(name) => format!("operation failed: domain '{name}' already exists"),
            Self::BadXml(why) => format!("XML error: {why}"),
            Self::UnknownEvent(kind) => format!("internal error: unsupported event ID {kind}"),
            Self::UnknownCallback(id) => format!("internal error: domain event callback {id} not registered"),
        }
    }
}
