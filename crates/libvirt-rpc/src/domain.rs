//! What calls say about one domain, and how a domain is named in calls.

use std::fmt;

use uuid::Uuid;

use crate::wire::{DecodeError, Decoder, Encoder, SmallInt, Xdr};
use crate::{DomainState, TypedParams};

/// Names a domain. Daemons look it up by UUID; name and run-time id are carried along and may be out of date.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DomainRef {
    /// libvirt name.
    pub name: String,
    /// UUID; for a domain of Nova, the id of its server.
    pub uuid: Uuid,
    /// Run-time id; `None` while it is not active.
    pub id: Option<i32>,
}

impl From<Uuid> for DomainRef {
    /// A reference that is good for calls, when only the UUID is known.
    fn from(uuid: Uuid) -> Self {
        Self { name: String::new(), uuid, id: None }
    }
}

impl fmt::Display for DomainRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.name, self.uuid)
    }
}

impl Xdr for DomainRef {
    const MIN_BYTES: usize = 24;
    fn encode(&self, to: &mut Encoder) {
        self.name.encode(to);
        self.uuid.encode(to);
        self.id.unwrap_or(-1).encode(to);
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let (name, uuid, id) = Xdr::decode(from)?;
        Ok(Self { name, uuid, id: Some(id).filter(|id: &i32| *id >= 0) })
    }
}

/// `virDomainGetInfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DomainInfo {
    /// `virDomainState`, without its reason.
    pub state: i32,
    /// Most memory it may use, in KiB.
    pub max_memory_kib: u64,
    /// Memory it uses, in KiB.
    pub memory_kib: u64,
    /// Virtual CPUs.
    pub vcpus: u16,
    /// CPU time it used, in nanoseconds.
    pub cpu_time_ns: u64,
}

impl DomainInfo {
    /// Puts the numbers together, as a daemon does.
    pub fn new(state: i32, max_memory_kib: u64, memory_kib: u64, vcpus: u16, cpu_time_ns: u64) -> Self {
        Self { state, max_memory_kib, memory_kib, vcpus, cpu_time_ns }
    }
}

impl Xdr for DomainInfo {
    const MIN_BYTES: usize = 32;
    fn encode(&self, to: &mut Encoder) {
        SmallInt(u8::try_from(self.state).unwrap_or(0)).encode(to);
        self.max_memory_kib.encode(to);
        self.memory_kib.encode(to);
        SmallInt(self.vcpus).encode(to);
        self.cpu_time_ns.encode(to);
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let state: SmallInt<u8> = Xdr::decode(from)?;
        let (max_memory_kib, memory_kib, SmallInt(vcpus), cpu_time_ns) = Xdr::decode(from)?;
        Ok(Self { state: state.0.into(), max_memory_kib, memory_kib, vcpus, cpu_time_ns })
    }
}

/// One domain's record of `virConnectGetAllDomainStats`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DomainStats {
    /// The domain.
    pub domain: DomainRef,
    /// `state.state`, `cpu.time`, `balloon.current`, `vcpu.0.time`, `net.count` … What the daemon could not learn
    /// without waiting is absent.
    pub params: TypedParams,
}

impl DomainStats {
    /// A record, as a daemon makes it.
    pub fn new(domain: DomainRef, params: TypedParams) -> Self {
        Self { domain, params }
    }

    /// State and reason, where the `state` group was asked for.
    pub fn state(&self) -> Option<DomainState> {
        let number = |name| self.params.get(name)?.as_i64()?.try_into().ok();
        Some(DomainState::from_raw(number("state.state")?, number("state.reason")?))
    }

    /// Virtual CPUs, where the `vcpu` group was asked for.
    pub fn vcpus(&self) -> Option<u64> {
        self.params.get_u64("vcpu.current")
    }

    /// Memory in KiB, where the `balloon` group was asked for; absent for an inactive domain.
    pub fn memory_kib(&self) -> Option<u64> {
        self.params.get_u64("balloon.current")
    }

    /// Most memory in KiB, where the `balloon` group was asked for.
    pub fn max_memory_kib(&self) -> Option<u64> {
        self.params.get_u64("balloon.maximum")
    }

    /// CPU time in nanoseconds, where the `cpu` group was asked for; absent for an inactive domain.
    pub fn cpu_time_ns(&self) -> Option<u64> {
        self.params.get_u64("cpu.time")
    }
}
