//! Asking for events.
//!
//! A registration lives as long as its connection. After opening again: register, then list, then follow; what happened
//! in between is in the list.

use super::Connection;
use crate::wire::Procedure;
use crate::{CallError, DomainRef, EventKind};

/// A registration, to take back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallbackId(i32);

impl Connection {
    /// Asks for events of that kind, of all domains. They come through [`Events`](crate::Events).
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_unsupported`] on drivers without events.
    pub async fn register_event(&self, kind: EventKind) -> Result<CallbackId, CallError> {
        let arguments = (kind.raw(), None::<DomainRef>);
        self.call(Procedure::ConnectDomainEventCallbackRegisterAny, &arguments).await.map(CallbackId)
    }

    /// Asks for events of several kinds; returns those that this daemon or driver refuses to send.
    ///
    /// # Errors
    /// See [`CallError`], but never [`CallError::Refused`].
    pub async fn register_events(&self, kinds: &[EventKind]) -> Result<Vec<EventKind>, CallError> {
        let mut refused = Vec::new();
        for kind in kinds {
            match self.register_event(*kind).await {
                Ok(_) => {}
                Err(CallError::Refused { .. }) => refused.push(*kind),
                Err(error) => return Err(error),
            }
        }
        Ok(refused)
    }

    /// Takes a registration back.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn deregister_event(&self, callback: CallbackId) -> Result<(), CallError> {
        self.call(Procedure::ConnectDomainEventCallbackDeregisterAny, &callback.0).await
    }
}
