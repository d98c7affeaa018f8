//! Bulk statistics read in place: for whoever follows thousands of hosts and wants a few numbers of each domain.
//!
//! A reply about a hundred domains has thousands of named values. [`DomainStats`](crate::DomainStats) makes a string of
//! each name; here names and texts are slices of the reply, and nothing is allocated but the reply itself.

use std::borrow::Cow;

use uuid::Uuid;

use crate::typed_params::TypedValue;
use crate::wire::{DecodeError, Decoder, Encoder, Xdr};

/// Most domains in one reply.
const DOMAINS_MAX: usize = 16_384;
/// Most parameters of one domain's statistics.
const PARAMS_MAX: usize = 262_144;
/// Fewest bytes of a record: an empty name, a UUID, an id, a count.
const RECORD_BYTES: usize = 28;
/// Fewest bytes of a parameter: an empty name, a type, a value.
const PARAM_BYTES: usize = 12;

/// The reply to [`Connection::domain_stats`](crate::Connection::domain_stats).
#[derive(Debug, Clone)]
pub struct BulkStats {
    bytes: Vec<u8>,
}

/// One domain's record.
#[derive(Debug, Clone)]
pub struct BulkRecord<'a> {
    /// libvirt name; bytes that are no UTF-8 are replaced.
    pub name: Cow<'a, str>,
    /// UUID.
    pub uuid: Uuid,
    /// Run-time id; `None` while it is not active.
    pub id: Option<i32>,
    params: Decoder<'a>,
    count: usize,
}

/// A value of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum BulkValue<'a> {
    /// Anything but text.
    Number(TypedValue),
    /// Text; bytes that are no UTF-8 are replaced.
    Text(Cow<'a, str>),
}

impl BulkStats {
    /// The reply's records, in the daemon's order.
    ///
    /// # Errors
    /// When the bytes are no such reply.
    pub fn records(&self) -> Result<BulkRecords<'_>, DecodeError> {
        let mut rest = Decoder::new(&self.bytes);
        let left = rest.count(DOMAINS_MAX, RECORD_BYTES)?;
        Ok(BulkRecords { rest, left })
    }
}

impl Xdr for BulkStats {
    fn encode(&self, to: &mut Encoder) {
        to.padded(&self.bytes);
    }
    /// Takes all there is; it is read by [`BulkStats::records`].
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let left = from.left();
        Ok(Self { bytes: from.take(left)?.to_vec() })
    }
}

/// Iterates over the records of a reply; after an error there is no more.
#[derive(Debug, Clone)]
pub struct BulkRecords<'a> {
    rest: Decoder<'a>,
    left: usize,
}

impl<'a> Iterator for BulkRecords<'a> {
    type Item = Result<BulkRecord<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let record = record(&mut self.rest);
        if record.is_err() {
            self.left = 0;
        }
        Some(record)
    }
}

impl<'a> BulkRecord<'a> {
    /// Names and values, in the daemon's order.
    pub fn params(&self) -> impl Iterator<Item = (Cow<'a, str>, BulkValue<'a>)> + use<'a> {
        let mut rest = self.params.clone();
        // The bytes were walked when the record was read: none of these fails.
        (0..self.count).map_while(move |_| Some((text(&mut rest).ok()?, value(&mut rest).ok()?)))
    }
}

impl BulkValue<'_> {
    /// The value as a count: any number that is not negative and whole.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            Self::Text(_) => None,
        }
    }

    /// The value as text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Number(_) => None,
            Self::Text(text) => Some(text),
        }
    }
}

fn record<'a>(from: &mut Decoder<'a>) -> Result<BulkRecord<'a>, DecodeError> {
    let name = text(from)?;
    let uuid = Uuid::decode(from)?;
    let id = Some(i32::decode(from)?).filter(|id| *id >= 0);
    let count = from.count(PARAMS_MAX, PARAM_BYTES)?;
    let params = from.clone();
    for _ in 0..count {
        text(from)?;
        value(from)?;
    }
    Ok(BulkRecord { name, uuid, id, params, count })
}

fn text<'a>(from: &mut Decoder<'a>) -> Result<Cow<'a, str>, DecodeError> {
    let length = from.count(crate::wire::STRING_MAX, 1)?;
    let bytes = from.take(length)?;
    from.take(length.next_multiple_of(4) - length)?;
    Ok(String::from_utf8_lossy(bytes))
}

fn value<'a>(from: &mut Decoder<'a>) -> Result<BulkValue<'a>, DecodeError> {
    const TEXT: i32 = 7;
    let mut ahead = from.clone();
    if i32::decode(&mut ahead)? == TEXT {
        *from = ahead;
        return text(from).map(BulkValue::Text);
    }
    TypedValue::decode(from).map(BulkValue::Number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::DomainRef;
    use crate::wire::{List, encode};

    type Record = (DomainRef, List<(String, TypedValue), PARAMS_MAX>);

    fn reply(records: Vec<Record>) -> BulkStats {
        BulkStats { bytes: encode(&List::<Record, DOMAINS_MAX>(records)) }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let domain = DomainRef { name: "one".to_owned(), uuid: Uuid::from_u128(1), id: Some(7) };
        let params = vec![
            ("state.state".to_owned(), TypedValue::Int(1)),
            ("net.0.name".to_owned(), TypedValue::Text("tap0".to_owned())),
        ];
        let reply = reply(vec![(domain.clone(), List(params)), (domain, List(Vec::new()))]);
        let records: Vec<_> = reply.records().unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!((records[0].name.as_ref(), records[0].id), ("one", Some(7)));
        let params: Vec<_> = records[0].params().collect();
        assert_eq!((params[0].0.as_ref(), params[0].1.as_u64()), ("state.state", Some(1)));
        assert_eq!((params[1].0.as_ref(), params[1].1.as_str()), ("net.0.name", Some("tap0")));
        assert_eq!(records[1].params().count(), 0);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let reply = BulkStats { bytes };
            if let Ok(records) = reply.records() {
                for record in records.flatten() {
                    prop_assert!(record.params().count() <= 300 / PARAM_BYTES);
                }
            }
        }

        #[test]
        fn a_reply_that_is_cut_short_is_refused(cut in 1_usize..40) {
            let domain = DomainRef { name: "one".to_owned(), uuid: Uuid::from_u128(1), id: None };
            let params = List(vec![("cpu.time".to_owned(), TypedValue::Ulong(5))]);
            let mut reply = reply(vec![(domain, params)]);
            reply.bytes.truncate(reply.bytes.len() - cut);
            let read = reply.records().and_then(|records| records.collect::<Result<Vec<_>, _>>());
            prop_assert!(read.is_err());
        }
    }
}
