//! Disks and interfaces of a domain: sizes and counters. A number that the hypervisor does not count is absent, never 0.

use crate::wire::{DecodeError, Decoder, Encoder, Xdr};
use crate::{DomainStats, TypedParams};

/// `virDomainGetBlockInfo`: sizes of a disk in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockInfo {
    /// Highest byte in use.
    pub allocation: u64,
    /// What the guest sees.
    pub capacity: u64,
    /// What it takes on the host.
    pub physical: u64,
}

impl Xdr for BlockInfo {
    const MIN_BYTES: usize = 24;
    fn encode(&self, to: &mut Encoder) {
        (self.allocation, self.capacity, self.physical).encode(to);
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let (allocation, capacity, physical) = Xdr::decode(from)?;
        Ok(Self { allocation, capacity, physical })
    }
}

/// A disk whose error stopped its domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskError {
    /// Its name in the guest, `vda`.
    pub disk: String,
    /// `virDomainDiskErrorCode`: 1 unspecified, 2 no space.
    pub error: i32,
}

impl Xdr for DiskError {
    const MIN_BYTES: usize = 8;
    fn encode(&self, to: &mut Encoder) {
        self.disk.encode(to);
        self.error.encode(to);
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let (disk, error) = Xdr::decode(from)?;
        Ok(Self { disk, error })
    }
}

macro_rules! counters {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident $key:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[expect(missing_docs, reason = "the names say it")]
        pub struct $name {
            $($(#[$field_meta])* pub $field: Option<u64>,)*
        }

        /// As a call of its own carries it: signed numbers, -1 for what is not counted.
        impl Xdr for $name {
            const MIN_BYTES: usize = 0 $(+ { let _ = $key; 8 })*;
            fn encode(&self, to: &mut Encoder) {
                $(self.$field.and_then(|value| i64::try_from(value).ok()).unwrap_or(-1).encode(to);)*
            }
            fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
                Ok(Self { $($field: i64::decode(from)?.try_into().ok(),)* })
            }
        }

        impl $name {
            /// From the fields of a device in bulk statistics.
            fn from_params(params: &TypedParams, device: &str) -> Self {
                Self { $($field: params.get_u64(&format!("{device}.{}", $key)),)* }
            }
        }
    };
}

counters! {
    /// `virDomainBlockStats`: what went through a disk.
    BlockStats {
        read_requests "rd.reqs",
        read_bytes "rd.bytes",
        write_requests "wr.reqs",
        write_bytes "wr.bytes",
        errors "errors",
    }
}

counters! {
    /// `virDomainInterfaceStats`: what went through an interface; received is what the guest received.
    InterfaceStats {
        received_bytes "rx.bytes",
        received_packets "rx.pkts",
        received_errors "rx.errs",
        received_dropped "rx.drop",
        sent_bytes "tx.bytes",
        sent_packets "tx.pkts",
        sent_errors "tx.errs",
        sent_dropped "tx.drop",
    }
}

impl DomainStats {
    /// Disks by name in the guest, where the `block` group was asked for. One without a name is left out.
    pub fn blocks(&self) -> Vec<(&str, BlockStats)> {
        self.devices("block", BlockStats::from_params)
    }

    /// Interfaces by name on the host, where the `net` group was asked for. One without a name is left out.
    pub fn interfaces(&self) -> Vec<(&str, InterfaceStats)> {
        self.devices("net", InterfaceStats::from_params)
    }

    /// Numbers can have holes, so names are looked for, not counted.
    fn devices<T>(&self, group: &str, read: impl Fn(&TypedParams, &str) -> T) -> Vec<(&str, T)> {
        let params = self.params.0.iter();
        let named = params.filter_map(|(field, value)| {
            let device = field.strip_suffix(".name")?;
            let number = device.strip_prefix(group)?.strip_prefix('.')?;
            number.parse::<u32>().ok()?;
            Some((value.as_str()?, read(&self.params, device)))
        });
        named.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{decode, encode};
    use crate::{DomainRef, TypedValue};

    #[test]
    fn devices_are_found_by_their_names_holes_or_not() {
        let text = |text: &str| TypedValue::Text(text.to_owned());
        let params = TypedParams::from_iter([
            ("net.count", TypedValue::Uint(3)),
            ("net.0.name", text("tap0")),
            ("net.0.rx.bytes", TypedValue::Ulong(7)),
            ("net.2.name", text("tap2")),
            ("net.2.tx.drop", TypedValue::Ulong(1)),
            ("block.0.name", text("vda")),
            ("block.0.rd.bytes", TypedValue::Ulong(512)),
            ("block.0.backing.name", text("not a device")),
        ]);
        let stats = DomainStats::new(DomainRef::from(uuid::Uuid::nil()), params);
        let tap0 = InterfaceStats { received_bytes: Some(7), ..InterfaceStats::default() };
        let tap2 = InterfaceStats { sent_dropped: Some(1), ..InterfaceStats::default() };
        assert_eq!(stats.interfaces(), [("tap0", tap0), ("tap2", tap2)]);
        let vda = BlockStats { read_bytes: Some(512), ..BlockStats::default() };
        assert_eq!(stats.blocks(), [("vda", vda)]);
    }

    #[test]
    fn what_is_not_counted_is_absent() {
        let bytes = encode(&(1_i64, 2_i64, 3_i64, 4_i64, -1_i64));
        let stats: BlockStats = decode(&bytes).unwrap();
        assert_eq!((stats.read_requests, stats.write_bytes, stats.errors), (Some(1), Some(4), None));
        assert_eq!(encode(&stats), bytes);
    }
}
