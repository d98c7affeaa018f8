//! What a failure of redb means: a full disk, a read-only one, or something worse.

use std::io;

use super::super::error::Cause;
use super::super::{IntentError, IntentKey, Trouble};

/// A failed operation.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) trouble: Trouble,
    pub(super) source: Cause,
}

impl Failure {
    pub(super) fn of(error: redb::Error) -> Self {
        Self { trouble: trouble(&error), source: Box::new(error) }
    }

    /// A write that could not even open the file.
    pub(super) fn of_open(error: IntentError, key: &IntentKey) -> IntentError {
        let trouble = match &error {
            IntentError::Open { source, .. } => source.downcast_ref().map_or(Trouble::Failed, trouble),
            _ => Trouble::Failed,
        };
        IntentError::Write { key: key.clone(), trouble, source: Box::new(error) }
    }
}

fn trouble(error: &redb::Error) -> Trouble {
    match error {
        redb::Error::Io(error) => trouble_of_io(error),
        _ => Trouble::Failed,
    }
}

fn trouble_of_io(error: &io::Error) -> Trouble {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Trouble::Full
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Trouble::ReadOnly,
        _ => Trouble::Failed,
    }
}
