//! What a daemon tells without being asked.
//!
//! Messages this crate does not know are skipped and counted; a known message that cannot be decoded, or for which there
//! was no room, becomes [`Event::Lost`], so that a follower lists again instead of trusting a picture with holes.

use crate::job::JOB_PARAMS_MAX;
use crate::raw_enum::raw_enum;
use crate::wire::{DecodeError, Decoder, Procedure, Xdr};
use crate::{DomainRef, JobKind, JobStats, LifecycleEvent, TypedParams};

raw_enum! {
    /// `virDomainEventID`: what can be asked for with [`Connection::register_event`](crate::Connection::register_event).
    EventKind {
        /// [`Event::Lifecycle`].
        Lifecycle = 0 "lifecycle",
        /// [`Event::Reboot`].
        Reboot = 1 "reboot",
        /// [`Event::Watchdog`].
        Watchdog = 3 "watchdog",
        /// [`Event::IoError`] without a reason.
        IoError = 4 "io-error",
        /// [`Event::IoError`] with a reason.
        IoErrorReason = 6 "io-error-reason",
        /// [`Event::ControlError`].
        ControlError = 7 "control-error",
        /// [`Event::DeviceRemoved`].
        DeviceRemoved = 15 "device-removed",
        /// [`Event::AgentLifecycle`].
        AgentLifecycle = 18 "agent-lifecycle",
        /// [`Event::MigrationIteration`].
        MigrationIteration = 20 "migration-iteration",
        /// [`Event::JobCompleted`].
        JobCompleted = 21 "job-completed",
    }
}

raw_enum! {
    /// What the hypervisor did about an I/O error.
    IoErrorAction {
        /// Nothing; the guest saw the error.
        None = 0 "none",
        /// It paused the guest.
        Paused = 1 "paused",
        /// It told the guest.
        Reported = 2 "reported",
    }
}

raw_enum! {
    /// Whether the agent in a guest is there.
    AgentState {
        /// It is.
        Connected = 1 "connected",
        /// It is not.
        Disconnected = 2 "disconnected",
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A domain was defined, started, paused, stopped …
    Lifecycle {
        /// The domain.
        domain: DomainRef,
        /// What happened to it.
        event: LifecycleEvent,
    },
    /// A guest rebooted.
    Reboot {
        /// The domain.
        domain: DomainRef,
    },
    /// A watchdog fired.
    Watchdog {
        /// The domain.
        domain: DomainRef,
        /// `virDomainEventWatchdogAction`.
        action: i32,
    },
    /// A disk failed.
    IoError {
        /// The domain.
        domain: DomainRef,
        /// Path of the image.
        path: String,
        /// Alias of the device.
        device: String,
        /// What the hypervisor did.
        action: IoErrorAction,
        /// `enospc`, `eio` …; empty where unknown, `None` where only [`EventKind::IoError`] was asked for.
        reason: Option<String>,
    },
    /// The monitor of a domain broke: it runs, out of control.
    ControlError {
        /// The domain.
        domain: DomainRef,
    },
    /// A device is gone.
    DeviceRemoved {
        /// The domain.
        domain: DomainRef,
        /// Alias of the device.
        device: String,
    },
    /// The agent in a guest came or went.
    AgentLifecycle {
        /// The domain.
        domain: DomainRef,
        /// Whether it is there.
        state: AgentState,
        /// `virConnectDomainEventAgentLifecycleReason`.
        reason: i32,
    },
    /// A migration began another pass over memory.
    MigrationIteration {
        /// The domain.
        domain: DomainRef,
        /// The pass, from 1.
        iteration: i32,
    },
    /// A job ended. The message does not carry its kind: it is `Failed` where the daemon gives an error message or says
    /// that it had no success, else `Completed`.
    JobCompleted {
        /// The domain.
        domain: DomainRef,
        /// Its last numbers.
        job: JobStats,
    },
    /// The daemon lost the hypervisor and is about to close (`virConnectCloseReason`).
    ConnectionClosing {
        /// Why.
        reason: i32,
    },
    /// Events are missing here: list again.
    Lost {
        /// How many.
        count: u64,
    },
}

impl Event {
    /// Reads the payload of a message; `None` for a message this crate does not know. Never [`Event::Lost`].
    ///
    /// # Errors
    /// When the payload is not what the procedure says.
    pub fn parse(procedure: i32, payload: &[u8]) -> Result<Option<Self>, DecodeError> {
        let mut from = Decoder::new(payload);
        let procedure = Procedure::from_raw(procedure);
        if procedure == Procedure::EventConnectionClosed {
            let reason = Xdr::decode(&mut from)?;
            return from.finish().map(|()| Some(Self::ConnectionClosing { reason }));
        }
        if !Self::is_known(procedure) {
            return Ok(None);
        }
        // One registration per kind, so the callback id says nothing that the procedure does not.
        let (_callback, domain): (i32, DomainRef) = Xdr::decode(&mut from)?;
        let event = Self::parse_body(procedure, domain, &mut from)?;
        from.finish().map(|()| event)
    }

    fn is_known(procedure: Procedure) -> bool {
        matches!(
            procedure,
            Procedure::EventLifecycle
                | Procedure::EventReboot
                | Procedure::EventWatchdog
                | Procedure::EventIoError
                | Procedure::EventIoErrorReason
                | Procedure::EventControlError
                | Procedure::EventDeviceRemoved
                | Procedure::EventAgentLifecycle
                | Procedure::EventMigrationIteration
                | Procedure::EventJobCompleted
        )
    }

    fn parse_body(
        procedure: Procedure,
        domain: DomainRef,
        from: &mut Decoder<'_>,
    ) -> Result<Option<Self>, DecodeError> {
        let event = match procedure {
            Procedure::EventLifecycle => {
                let (event, detail) = Xdr::decode(from)?;
                Self::Lifecycle { domain, event: LifecycleEvent::from_raw(event, detail) }
            }
            Procedure::EventReboot => Self::Reboot { domain },
            Procedure::EventWatchdog => Self::Watchdog { domain, action: Xdr::decode(from)? },
            Procedure::EventIoError | Procedure::EventIoErrorReason => {
                let (path, device, action) = Xdr::decode(from)?;
                let reason = match procedure {
                    Procedure::EventIoErrorReason => Some(Xdr::decode(from)?),
                    _ => None,
                };
                Self::IoError { domain, path, device, action: IoErrorAction::from_raw(action), reason }
            }
            Procedure::EventControlError => Self::ControlError { domain },
            Procedure::EventDeviceRemoved => Self::DeviceRemoved { domain, device: Xdr::decode(from)? },
            Procedure::EventAgentLifecycle => {
                let (state, reason) = Xdr::decode(from)?;
                Self::AgentLifecycle { domain, state: AgentState::from_raw(state), reason }
            }
            Procedure::EventMigrationIteration => {
                Self::MigrationIteration { domain, iteration: Xdr::decode(from)? }
            }
            Procedure::EventJobCompleted => {
                let params = TypedParams::decode_as::<JOB_PARAMS_MAX>(from)?;
                Self::JobCompleted { domain, job: ended_job(params) }
            }
            _ => return Ok(None),
        };
        Ok(Some(event))
    }

    /// The domain it is about.
    pub fn domain(&self) -> Option<&DomainRef> {
        match self {
            Self::Lifecycle { domain, .. }
            | Self::Reboot { domain }
            | Self::Watchdog { domain, .. }
            | Self::IoError { domain, .. }
            | Self::ControlError { domain }
            | Self::DeviceRemoved { domain, .. }
            | Self::AgentLifecycle { domain, .. }
            | Self::MigrationIteration { domain, .. }
            | Self::JobCompleted { domain, .. } => Some(domain),
            Self::ConnectionClosing { .. } | Self::Lost { .. } => None,
        }
    }
}

fn ended_job(params: TypedParams) -> JobStats {
    let failed = params.get_str("errmsg").is_some() || params.get_bool("success") == Some(false);
    JobStats::new(if failed { JobKind::Failed } else { JobKind::Completed }, params)
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
