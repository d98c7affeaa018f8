//! What calls say about a host.

use crate::wire::{DecodeError, Decoder, Encoder, NumberedChars, Xdr};

/// `virNodeGetInfo`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeInfo {
    /// CPU model: the architecture, e.g. `x86_64`.
    pub model: String,
    /// Memory in KiB.
    pub memory_kib: u64,
    /// Active CPUs.
    pub cpus: i32,
    /// CPU frequency in MHz, 0 where unknown.
    pub mhz: i32,
    /// NUMA cells, 1 for uniform memory.
    pub nodes: i32,
    /// Sockets per cell.
    pub sockets: i32,
    /// Cores per socket.
    pub cores: i32,
    /// Threads per core.
    pub threads: i32,
}

impl Xdr for NodeInfo {
    const MIN_BYTES: usize = 128 + 8 + 24;
    fn encode(&self, to: &mut Encoder) {
        NumberedChars::<32>(self.model.clone()).encode(to);
        self.memory_kib.encode(to);
        for number in [self.cpus, self.mhz, self.nodes, self.sockets, self.cores, self.threads] {
            number.encode(to);
        }
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            model: NumberedChars::<32>::decode(from)?.0,
            memory_kib: Xdr::decode(from)?,
            cpus: Xdr::decode(from)?,
            mhz: Xdr::decode(from)?,
            nodes: Xdr::decode(from)?,
            sockets: Xdr::decode(from)?,
            cores: Xdr::decode(from)?,
            threads: Xdr::decode(from)?,
        })
    }
}
