//! What can go wrong: opening, calling, staying connected.
//!
//! A caller acts differently on "the daemon says no" ([`RemoteError`], the connection is fine), "no answer in time" (the
//! daemon is busy or stuck) and "disconnected" (open again), so these are variants, not texts.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::DomainRef;
use crate::connector::ConnectError;
use crate::raw_enum::raw_enum;
use crate::sasl::SaslError;
use crate::wire::{DecodeError, FrameError, Procedure, WireError};

raw_enum! {
    /// `virErrorNumber`, those that callers tell apart.
    ErrorCode {
        /// The daemon's own fault (1).
        Internal = 1 "internal error",
        /// The driver lacks the call (3).
        NoSupport = 3 "not supported by the driver",
        /// Not a domain of this connection (7).
        InvalidDomain = 7 "invalid domain",
        /// An argument it does not take (8).
        InvalidArgument = 8 "invalid argument",
        /// The operation failed (9).
        OperationFailed = 9 "operation failed",
        /// Not on a read-only connection (29).
        OperationDenied = 29 "operation denied",
        /// An XML document it does not take (27).
        XmlError = 27 "bad XML",
        /// A system call failed (38).
        SystemError = 38 "system error",
        /// The protocol: unknown procedure, not authenticated (39).
        Rpc = 39 "RPC error",
        /// No such domain (42).
        NoDomain = 42 "no such domain",
        /// Authentication failed (45).
        AuthFailed = 45 "authentication failed",
        /// Not in this state (55).
        OperationInvalid = 55 "invalid in this state",
        /// The host cannot do it (67).
        ConfigUnsupported = 67 "unsupported configuration",
        /// The domain was busy for too long (68).
        OperationTimeout = 68 "operation timed out",
        /// An argument this hypervisor does not take (74).
        ArgumentUnsupported = 74 "argument unsupported",
        /// Aborted by somebody (78).
        OperationAborted = 78 "operation aborted",
        /// The call exists, but not for this domain now (84): statistics on the target of a migration.
        OperationUnsupported = 84 "operation unsupported",
        /// Another job has it (87).
        ResourceBusy = 87 "resource busy",
        /// Access control said no (88).
        AccessDenied = 88 "access denied",
    }
}

/// The daemon's answer to a call it did not carry out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message} (libvirt error {})", code.raw())]
#[non_exhaustive]
pub struct RemoteError {
    /// What kind of error.
    pub code: ErrorCode,
    /// `virErrorDomain`: the part of libvirt that raised it.
    pub domain: i32,
    /// Text for people.
    pub message: String,
    /// 1 warning, 2 error.
    pub level: i32,
    /// The domain it is about.
    pub about: Option<Box<DomainRef>>,
}

impl RemoteError {
    /// The call does not exist here: an old daemon answers 39 "unknown procedure", a driver without it 3.
    pub fn is_unsupported(&self) -> bool {
        match self.code {
            ErrorCode::NoSupport => true,
            ErrorCode::Rpc => {
                let message = self.message.to_ascii_lowercase();
                message.contains("unknown procedure") || message.contains("cannot find program")
            }
            _ => false,
        }
    }

    /// There is no such domain (any more).
    pub fn is_no_domain(&self) -> bool {
        self.code == ErrorCode::NoDomain
    }

    /// The domain is not in a state for it: not running, no job.
    pub fn is_operation_invalid(&self) -> bool {
        self.code == ErrorCode::OperationInvalid
    }

    /// The domain was busy with another job for as long as the daemon waits.
    pub fn is_busy(&self) -> bool {
        matches!(self.code, ErrorCode::OperationTimeout | ErrorCode::ResourceBusy)
    }

    /// The caller may not: read-only connection or access control.
    pub fn is_denied(&self) -> bool {
        matches!(self.code, ErrorCode::OperationDenied | ErrorCode::AccessDenied | ErrorCode::AuthFailed)
    }
}

impl From<WireError> for RemoteError {
    fn from(wire: WireError) -> Self {
        let code = ErrorCode::from_raw(wire.code);
        let message = wire.message.filter(|message| !message.is_empty()).unwrap_or_else(|| code.to_string());
        Self { code, domain: wire.domain, message, level: wire.level, about: wire.about_domain.map(Box::new) }
    }
}

/// Why a call gave nothing.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum CallError {
    /// The daemon answered with an error. The connection is fine.
    #[error("{procedure} was refused")]
    Refused {
        /// The call.
        procedure: Procedure,
        /// The daemon's answer.
        #[source]
        source: RemoteError,
    },
    /// No answer in time. The connection may be fine; the daemon still works on the call.
    #[error("{procedure} got no answer within {after:?}")]
    Timeout {
        /// The call.
        procedure: Procedure,
        /// How long it was waited for.
        after: Duration,
    },
    /// The connection is closed, now or before.
    #[error("{procedure} found the connection closed")]
    Disconnected {
        /// The call.
        procedure: Procedure,
        /// Why.
        #[source]
        reason: CloseReason,
    },
    /// The answer is not what the call's answer looks like. The connection is fine.
    #[error("the answer to {procedure} is malformed")]
    Malformed {
        /// The call.
        procedure: Procedure,
        /// What is wrong with it.
        #[source]
        source: DecodeError,
    },
    /// The arguments do not fit into a frame. Nothing was sent.
    #[error("the arguments of {procedure} are too large")]
    TooLarge {
        /// The call.
        procedure: Procedure,
        /// How large.
        #[source]
        source: FrameError,
    },
}

impl CallError {
    /// The daemon's answer, if there was one.
    pub fn remote(&self) -> Option<&RemoteError> {
        match self {
            Self::Refused { source, .. } => Some(source),
            _ => None,
        }
    }

    /// See [`RemoteError::is_unsupported`].
    pub fn is_unsupported(&self) -> bool {
        self.remote().is_some_and(RemoteError::is_unsupported)
    }

    /// See [`RemoteError::is_no_domain`].
    pub fn is_no_domain(&self) -> bool {
        self.remote().is_some_and(RemoteError::is_no_domain)
    }

    /// See [`RemoteError::is_operation_invalid`].
    pub fn is_operation_invalid(&self) -> bool {
        self.remote().is_some_and(RemoteError::is_operation_invalid)
    }

    /// Whether the daemon has an answer that does not fit into a frame: to be asked for in parts.
    pub fn is_answer_too_large(&self) -> bool {
        self.remote().is_some_and(|remote| {
            remote.code == ErrorCode::Rpc
                && remote.message.to_ascii_lowercase().contains("encode message payload")
        })
    }

    /// Whether the connection is of no more use.
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected { .. })
    }
}

/// Why a connection ended.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum CloseReason {
    /// This side closed it, or dropped the last handle.
    #[error("closed by this side")]
    ByCaller,
    /// The daemon closed it between two frames.
    #[error("closed by the daemon")]
    ByPeer,
    /// The daemon closed it within a frame.
    #[error("closed by the daemon in the middle of a frame, after {0} bytes of it")]
    MidFrame(usize),
    /// Reading or writing failed.
    #[error("the connection broke")]
    Broken(#[source] Arc<io::Error>),
    /// Nothing was heard for too long, pings included.
    #[error("nothing was heard from the daemon for {0:?}, pings included")]
    Silence(Duration),
    /// A frame began and did not end.
    #[error("a frame was not complete after {0:?}")]
    SlowFrame(Duration),
    /// The daemon sent what is no frame.
    #[error("the daemon broke the protocol")]
    Protocol(#[source] FrameError),
}

/// Why a connection could not be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The peer cannot be reached.
    #[error("cannot connect to {peer}")]
    Connect {
        /// Where to.
        peer: String,
        /// Why.
        #[source]
        source: ConnectError,
    },
    /// It was not open in time.
    #[error("{peer} did not get as far as {step} within {after:?}")]
    Timeout {
        /// Where to.
        peer: String,
        /// What was being waited for.
        step: &'static str,
        /// How long.
        after: Duration,
    },
    /// The daemon wants an authentication this crate does not do.
    #[error("{peer} wants authentication by {offered}, which is not supported")]
    AuthUnsupported {
        /// Where to.
        peer: String,
        /// What it offers: `SASL (SCRAM-SHA-256, …)`.
        offered: String,
    },
    /// The daemon wants a user name and a password, and there are none to give.
    #[error("{peer} wants a user name and a password, by {offered}")]
    CredentialsMissing {
        /// Where to.
        peer: String,
        /// What it offers.
        offered: String,
    },
    /// The daemon would take the password, but others on the way could read it.
    #[error("{peer} takes the password only as it is, and the connection is not encrypted")]
    PlainExposed {
        /// Where to.
        peer: String,
    },
    /// The daemon's part of the authentication was not what it should be. It may be somebody else.
    #[error("{peer} did not authenticate itself")]
    AuthBroken {
        /// Where to.
        peer: String,
        /// What is wrong.
        #[source]
        source: SaslError,
    },
    /// The daemon did not accept the authentication.
    #[error("{peer} refused the authentication")]
    AuthRefused {
        /// Where to.
        peer: String,
        /// Its answer.
        #[source]
        source: RemoteError,
    },
    /// The daemon could not open the driver.
    #[error("{peer} could not open `{uri}`")]
    Open {
        /// Where to.
        peer: String,
        /// The driver that was asked for.
        uri: String,
        /// Its answer.
        #[source]
        source: RemoteError,
    },
    /// The connection ended, or what came made no sense, before it was open.
    #[error("{peer} failed at {step}")]
    Handshake {
        /// Where to.
        peer: String,
        /// What was being waited for.
        step: &'static str,
        /// Why.
        #[source]
        source: CallError,
    },
}

impl OpenError {
    /// Whether trust is what is missing: certificates or credentials, of either side. Trying again changes nothing until somebody
    /// mends them.
    pub fn is_denied(&self) -> bool {
        match self {
            Self::Connect { source, .. } => source.is_denied(),
            Self::AuthUnsupported { .. }
            | Self::CredentialsMissing { .. }
            | Self::PlainExposed { .. }
            | Self::AuthBroken { .. }
            | Self::AuthRefused { .. } => true,
            Self::Open { source, .. } => source.is_denied(),
            Self::Timeout { .. } | Self::Handshake { .. } => false,
        }
    }
}
