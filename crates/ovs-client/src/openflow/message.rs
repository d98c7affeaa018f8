//! Messages as bytes: header, HELLO, error, multipart. Pure.

use super::bytes::Reader;
use super::{Version, Versions};

/// Length of the header.
pub(super) const HEADER: usize = 8;

pub(super) const HELLO: u8 = 0;
pub(super) const ERROR: u8 = 1;
pub(super) const ECHO_REQUEST: u8 = 2;
pub(super) const ECHO_REPLY: u8 = 3;

/// The first eight bytes of every message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Version number on the wire.
    pub version: u8,
    /// Type of message.
    pub kind: u8,
    /// Length of the whole message.
    pub length: u16,
    /// Pairs an answer with its request.
    pub xid: u32,
}

/// What a multipart message asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MultipartKind {
    /// Sums over flows.
    Aggregate,
    /// Counters of tables.
    Table,
}

/// A multipart request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multipart {
    /// What it asks for.
    pub kind: MultipartKind,
    /// In which version.
    pub version: Version,
}

/// One part of a multipart reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// Type number of the statistics.
    pub kind: u16,
    /// Whether more parts follow.
    pub more: bool,
    /// Its share of the body.
    pub body: &'a [u8],
}

impl Header {
    /// Reads a header; `None` when there are fewer than eight bytes or the length is impossible.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let header =
            Self { version: reader.u8()?, kind: reader.u8()?, length: reader.u16()?, xid: reader.u32()? };
        (usize::from(header.length) >= HEADER).then_some(header)
    }

    /// Length of what follows the header.
    pub fn body_length(&self) -> usize {
        usize::from(self.length).saturating_sub(HEADER)
    }
}

/// A message of any type; bodies longer than a message can be are never built here.
pub(super) fn message(version: u8, kind: u8, xid: u32, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(HEADER + body.len()).unwrap_or(u16::MAX);
    let mut bytes = vec![version, kind];
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(&xid.to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// Reads the versions that a HELLO allows.
///
/// ```
/// use ovs_client::openflow::{Version, hello};
///
/// let restricted = hello(4, &[0, 1, 0, 8, 0, 0, 0, 0x10]);
/// assert_eq!(restricted.highest(), Some(Version::V1_3));
/// assert_eq!(hello(6, &[]).highest(), Some(Version::V1_5));
/// ```
pub fn hello(version: u8, body: &[u8]) -> Versions {
    let mut elements = Reader::new(body);
    while let Some(bitmap) = next_element(&mut elements) {
        if let Some(bits) = bitmap {
            return Versions::from_bits(bits);
        }
    }
    Versions::up_to(version)
}

/// The next element of a HELLO; its bits when it is the bitmap of versions.
fn next_element(elements: &mut Reader<'_>) -> Option<Option<u32>> {
    let (kind, length) = (elements.u16()?, elements.u16()?);
    let mut content = Reader::new(elements.take(usize::from(length).checked_sub(4)?)?);
    // Elements are padded to eight bytes, the last one perhaps not.
    let padding = usize::from(length).next_multiple_of(8) - usize::from(length);
    if elements.skip(padding).is_none() {
        *elements = Reader::new(&[]);
    }
    Some(if kind == 1 { content.u32() } else { None })
}

/// A HELLO that offers `versions`.
pub(super) fn hello_request(versions: Versions, xid: u32) -> Vec<u8> {
    let mut body = vec![0, 1, 0, 8];
    body.extend_from_slice(&versions.bits().to_be_bytes());
    message(versions.highest_number().unwrap_or(1), HELLO, xid, &body)
}

/// Type, code and the rest of an error message.
pub(super) fn error(body: &[u8]) -> Option<(u16, u16, &[u8])> {
    let mut reader = Reader::new(body);
    Some((reader.u16()?, reader.u16()?, reader.rest()))
}

impl Multipart {
    /// The type number of the statistics.
    pub fn number(self) -> u16 {
        match self.kind {
            MultipartKind::Aggregate => 2,
            MultipartKind::Table => 3,
        }
    }

    /// The message type of the reply.
    pub(super) fn reply_type(self) -> u8 {
        if self.version == Version::V1_0 { 17 } else { 19 }
    }

    /// The request as bytes.
    ///
    /// ```
    /// use ovs_client::openflow::{Multipart, MultipartKind, Version};
    ///
    /// let request = Multipart { kind: MultipartKind::Table, version: Version::V1_0 };
    /// assert_eq!(request.request(10), [1, 16, 0, 12, 0, 0, 0, 10, 0, 3, 0, 0]);
    /// ```
    pub fn request(self, xid: u32) -> Vec<u8> {
        let mut body = self.number().to_be_bytes().to_vec();
        body.extend_from_slice(&[0, 0]);
        let kind = match self.version {
            Version::V1_0 => 16,
            Version::V1_3 | Version::V1_4 | Version::V1_5 => {
                body.extend_from_slice(&[0; 4]);
                18
            }
        };
        if self.kind == MultipartKind::Aggregate {
            body.extend_from_slice(&all_flows(self.version));
        }
        message(self.version.number(), kind, xid, &body)
    }

    /// Reads one part of the reply.
    pub fn part(self, body: &[u8]) -> Option<Part<'_>> {
        let mut reader = Reader::new(body);
        let (kind, flags) = (reader.u16()?, reader.u16()?);
        if self.version != Version::V1_0 {
            reader.skip(4)?;
        }
        Some(Part { kind, more: flags & 1 != 0, body: reader.rest() })
    }
}

/// The part of an AGGREGATE request that means "every flow of every table".
fn all_flows(version: Version) -> Vec<u8> {
    if version == Version::V1_0 {
        let mut body = 0x003f_ffff_u32.to_be_bytes().to_vec();
        body.resize(40, 0);
        body.extend_from_slice(&[0xff, 0, 0xff, 0xff]);
        return body;
    }
    let mut body = vec![0xff, 0, 0, 0];
    body.extend_from_slice(&[0xff; 8]);
    body.resize(32, 0);
    body.extend_from_slice(&[0, 1, 0, 4, 0, 0, 0, 0]);
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn requests_are_the_bytes_that_a_real_switch_answered() {
        let request = |kind, version, xid| hex(&Multipart { kind, version }.request(xid));
        assert_eq!(request(MultipartKind::Table, Version::V1_0, 10), "0110000c0000000a00030000");
        assert_eq!(request(MultipartKind::Table, Version::V1_3, 10), "041200100000000a0003000000000000");
        assert_eq!(
            request(MultipartKind::Aggregate, Version::V1_0, 11),
            "011000380000000b00020000003fffff000000000000000000000000000000000000000000000000000000000000000000000000ff00ffff"
        );
        assert_eq!(
            request(MultipartKind::Aggregate, Version::V1_3, 11),
            "041200380000000b0002000000000000ff000000ffffffffffffffff00000000000000000000000000000000000000000001000400000000"
        );
        let only_1_3 = Versions::from_bits(1 << 4);
        assert_eq!(hex(&hello_request(only_1_3, 1)), "04000010000000010001000800000010");
    }

    #[test]
    fn a_hello_with_elements_we_do_not_know_still_gives_its_bitmap() {
        let body = [0, 9, 0, 6, 1, 2, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0x12];
        assert_eq!(hello(4, &body), Versions::USUAL);
    }

    #[test]
    fn a_length_shorter_than_the_header_is_no_header() {
        assert_eq!(Header::parse(&[1, 0, 0, 7, 0, 0, 0, 0]), None);
        assert_eq!(Header::parse(&[1, 0, 0]), None);
    }

    proptest! {
        #![proptest_config(crate::property::few(128))]

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), version in 0_u8..9) {
            let _ = Header::parse(&bytes);
            let _ = hello(version, &bytes);
            let _ = error(&bytes);
            for version in Version::ALL {
                let _ = Multipart { kind: MultipartKind::Table, version }.part(&bytes);
            }
        }
    }
}
