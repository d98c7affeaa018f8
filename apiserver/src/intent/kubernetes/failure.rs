//! What it means that the cluster did not do what it was asked.

use std::error::Error as _;
use std::io;

use super::super::error::Cause;
use super::super::{IntentError, IntentKey, Trouble};

/// A call that failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The cluster answered: no.
    Refused(Box<kube::core::Status>),
    /// The connection failed.
    Broken(kube::Error),
    /// There was no answer in time.
    Late,
}

impl From<kube::Error> for Failure {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::Refused(status),
            error => Self::Broken(error),
        }
    }
}

impl Failure {
    pub(super) fn code(&self) -> Option<u16> {
        match self {
            Self::Refused(status) => Some(status.code),
            Self::Broken(_) | Self::Late => None,
        }
    }

    /// Whether the call may have had its effect all the same.
    pub(super) fn is_uncertain(&self) -> bool {
        match self {
            // A timeout, or an error after etcd was asked.
            Self::Refused(status) => matches!(status.code, 500 | 504),
            Self::Broken(error) => !never_sent(error),
            Self::Late => true,
        }
    }

    fn trouble(&self) -> Trouble {
        match self {
            Self::Refused(status) => match status.code {
                401 | 403 => Trouble::Forbidden,
                413 => Trouble::TooLarge,
                507 => Trouble::Full,
                500 if status.message.contains("database space exceeded") => Trouble::Full,
                500 if status.message.contains("too large") => Trouble::TooLarge,
                500 | 504 => Trouble::Unanswered,
                _ => Trouble::Unavailable,
            },
            Self::Broken(error) if never_sent(error) => Trouble::Unavailable,
            Self::Broken(_) | Self::Late => Trouble::Unanswered,
        }
    }

    pub(super) fn of_write(self, key: &IntentKey) -> IntentError {
        IntentError::Write { key: key.clone(), trouble: self.trouble(), source: self.cause() }
    }

    pub(super) fn of_read(self, what: String) -> IntentError {
        IntentError::Read { what, source: self.cause() }
    }

    pub(super) fn cause(self) -> Cause {
        match self {
            Self::Refused(status) => Box::new(kube::Error::Api(status)),
            Self::Broken(error) => Box::new(error),
            Self::Late => "no answer in time".into(),
        }
    }
}

/// Whether a request cannot have reached the cluster: there was no connection.
fn never_sent(error: &kube::Error) -> bool {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            return matches!(
                error.kind(),
                io::ErrorKind::ConnectionRefused
                    | io::ErrorKind::HostUnreachable
                    | io::ErrorKind::NetworkUnreachable
            );
        }
        source = cause.source();
    }
    false
}
