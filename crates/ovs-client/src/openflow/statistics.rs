//! Bodies of multipart replies as numbers, in each version's own layout. Pure.
//!
//! A body that does not fit its layout is an error as a whole: a count that is half right would be believed.

use super::Version;
use super::bytes::Reader;

/// Counters of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableStatistics {
    /// Number of the table.
    pub table: u8,
    /// Flows in it.
    pub active: u32,
    /// Packets looked up in it. Not a sum over its present flows.
    pub lookups: u64,
    /// Packets that found a flow.
    pub matched: u64,
}

/// Sums over all flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Aggregate {
    /// Packets, if the switch counts them.
    pub packets: Option<u64>,
    /// Bytes, if the switch counts them.
    pub bytes: Option<u64>,
    /// Flows.
    pub flows: Option<u32>,
}

impl TableStatistics {
    /// Reads the joined body of a TABLE reply.
    pub fn parse(body: &[u8], version: Version) -> Option<Vec<Self>> {
        let mut reader = Reader::new(body);
        let mut tables = Vec::with_capacity(body.len() / 24);
        while !reader.is_empty() {
            let table = reader.u8()?;
            // 1.0 adds a name, wildcards and a maximum; later versions moved them elsewhere.
            reader.skip(if version == Version::V1_0 { 3 + 32 + 4 + 4 } else { 3 })?;
            tables.push(Self {
                table,
                active: reader.u32()?,
                lookups: reader.u64()?,
                matched: reader.u64()?,
            });
        }
        Some(tables)
    }
}

impl Aggregate {
    /// Reads the body of an AGGREGATE reply.
    pub fn parse(body: &[u8], version: Version) -> Option<Self> {
        let mut reader = Reader::new(body);
        if version == Version::V1_5 {
            return Self::parse_oxs(reader);
        }
        let (packets, bytes, flows) = (reader.u64()?, reader.u64()?, reader.u32()?);
        reader.skip(4)?;
        reader.is_empty().then_some(Self {
            packets: counted(packets),
            bytes: counted(bytes),
            flows: Some(flows),
        })
    }

    /// 1.5 sends a list of fields, any of which may be missing.
    fn parse_oxs(mut reader: Reader<'_>) -> Option<Self> {
        const BASIC: u16 = 0x8002;
        reader.skip(2)?;
        let length = usize::from(reader.u16()?);
        let mut fields = Reader::new(reader.take(length.checked_sub(4)?)?);
        let mut sums = Self::default();
        while !fields.is_empty() {
            let (class, field, length) = (fields.u16()?, fields.u8()? >> 1, fields.u8()?);
            let mut value = Reader::new(fields.take(usize::from(length))?);
            match (class, field) {
                (BASIC, 3) => sums.flows = Some(value.u32()?),
                (BASIC, 4) => sums.packets = counted(value.u64()?),
                (BASIC, 5) => sums.bytes = counted(value.u64()?),
                _ => {}
            }
        }
        Some(sums)
    }
}

/// All ones means that the switch does not count this.
fn counted(count: u64) -> Option<u64> {
    (count != u64::MAX).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    #[test]
    fn replies_of_a_real_switch_are_read_in_every_version() {
        let sums = Aggregate { packets: Some(1), bytes: Some(54), flows: Some(2502) };
        let old = bytes("00000000000000010000000000000036000009c600000000");
        assert_eq!(Aggregate::parse(&old, Version::V1_0), Some(sums));
        assert_eq!(Aggregate::parse(&old, Version::V1_3), Some(sums));
        let oxs = bytes("0000002480020808000000000000000180020a08000000000000003680020604000009c600000000");
        assert_eq!(Aggregate::parse(&oxs, Version::V1_5), Some(sums));

        let table = bytes("000000000000000100000000000000110000000000000011");
        let expected = vec![TableStatistics { table: 0, active: 1, lookups: 17, matched: 17 }];
        assert_eq!(TableStatistics::parse(&table, Version::V1_3), Some(expected));
    }

    #[test]
    fn half_an_entry_is_no_statistics() {
        assert_eq!(TableStatistics::parse(&[0; 25], Version::V1_3), None);
        assert_eq!(TableStatistics::parse(&[0; 63], Version::V1_0), None);
        assert_eq!(Aggregate::parse(&[0; 23], Version::V1_3), None);
        assert_eq!(TableStatistics::parse(&[], Version::V1_3), Some(Vec::new()));
    }

    #[test]
    fn all_ones_is_not_a_count() {
        assert_eq!(Aggregate::parse(&[0xff; 24], Version::V1_3).unwrap().packets, None);
    }

    proptest! {
        #![proptest_config(crate::property::few(128))]

        #[test]
        fn no_bytes_make_it_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
            for version in Version::ALL {
                if let Some(tables) = TableStatistics::parse(&body, version) {
                    prop_assert!(tables.len() * 24 <= body.len());
                }
                let _ = Aggregate::parse(&body, version);
            }
        }
    }
}
