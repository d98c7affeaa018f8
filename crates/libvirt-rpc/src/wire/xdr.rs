//! XDR (RFC 4506) as libvirt uses it: big-endian, four-byte alignment, counted strings and arrays.
//!
//! Hand-written because a peer's numbers decide how much is read: every count is checked against the bytes that are
//! really there before anything is allocated.

use thiserror::Error;
use uuid::Uuid;

/// Longest string a current daemon sends or takes.
pub const STRING_MAX: usize = 4_194_304;

/// Bytes that are not the value they should be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The value needs more bytes than there are.
    #[error("{needed} bytes needed, {left} left")]
    Short {
        /// Bytes the value needs at least.
        needed: usize,
        /// Bytes that are left.
        left: usize,
    },
    /// A count above what the protocol allows.
    #[error("a count of {count} is above the limit of {limit}")]
    TooMany {
        /// The count on the wire.
        count: usize,
        /// The protocol's limit.
        limit: usize,
    },
    /// A number that names no variant of what was expected.
    #[error("{value} is no {expected}")]
    Unknown {
        /// The number on the wire.
        value: i64,
        /// What it should have named.
        expected: &'static str,
    },
    /// Bytes are left over after the value.
    #[error("{0} bytes left over")]
    LeftOver(usize),
}

/// A value with an XDR form.
pub trait Xdr: Sized {
    /// Fewest bytes any value of this type takes; bounds how many elements a message can hold.
    const MIN_BYTES: usize = 4;

    /// Appends the value.
    fn encode(&self, to: &mut Encoder);

    /// Takes the value off the front.
    ///
    /// # Errors
    /// When the bytes are not such a value.
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError>;
}

/// The bytes of one value.
pub fn encode<T: Xdr>(value: &T) -> Vec<u8> {
    let mut encoder = Encoder::default();
    value.encode(&mut encoder);
    encoder.into_bytes()
}

/// Reads exactly one value.
///
/// ```
/// use libvirt_rpc::wire;
/// assert_eq!(wire::decode::<String>(b"\0\0\0\x04test").unwrap(), "test");
/// assert!(wire::decode::<String>(b"\xff\xff\xff\xfftest").is_err());
/// ```
///
/// # Errors
/// When the bytes are not such a value, or bytes are left over.
pub fn decode<T: Xdr>(bytes: &[u8]) -> Result<T, DecodeError> {
    let mut decoder = Decoder::new(bytes);
    let value = T::decode(&mut decoder)?;
    decoder.finish()?;
    Ok(value)
}

/// Collects the bytes of values.
#[derive(Debug, Default)]
pub struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    /// What was collected.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends bytes with zeros up to the next multiple of four.
    pub fn padded(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let pad = bytes.len().next_multiple_of(4) - bytes.len();
        self.bytes.extend(std::iter::repeat_n(0, pad));
    }

    /// Appends a count; one that 32 bits cannot hold becomes the largest, which every peer refuses.
    pub fn count(&mut self, count: usize) {
        u32::try_from(count).unwrap_or(u32::MAX).encode(self);
    }
}

/// Takes values off the front of bytes.
#[derive(Debug, Clone)]
pub struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// Begins at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Bytes not taken yet.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Takes `count` bytes.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(DecodeError::Short { needed: count, left: self.rest.len() }),
        }
    }

    /// Takes `count` bytes and the padding after them.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn padded(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let taken = self.take(count)?;
        self.take(count.next_multiple_of(4) - count)?;
        Ok(taken)
    }

    /// Takes a count of at most `limit` elements of at least `element` bytes each, all of which must be there.
    ///
    /// # Errors
    /// When the count is above the limit or needs more bytes than there are.
    pub fn count(&mut self, limit: usize, element: usize) -> Result<usize, DecodeError> {
        let count = u32::decode(self)? as usize;
        if count > limit {
            return Err(DecodeError::TooMany { count, limit });
        }
        let needed = count.saturating_mul(element);
        if needed > self.left() {
            return Err(DecodeError::Short { needed, left: self.left() });
        }
        Ok(count)
    }

    /// Ends; nothing may be left.
    ///
    /// # Errors
    /// When bytes are left over.
    pub fn finish(self) -> Result<(), DecodeError> {
        if self.rest.is_empty() { Ok(()) } else { Err(DecodeError::LeftOver(self.rest.len())) }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let left = self.left();
        self.take(N)?.try_into().map_err(|_| DecodeError::Short { needed: N, left })
    }
}

macro_rules! number {
    ($($type:ty),*) => {$(
        impl Xdr for $type {
            const MIN_BYTES: usize = size_of::<Self>();
            fn encode(&self, to: &mut Encoder) {
                to.bytes.extend_from_slice(&self.to_be_bytes());
            }
            fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
                Ok(Self::from_be_bytes(from.array()?))
            }
        }
    )*};
}
number!(i32, u32, i64, u64, f64);

/// Text is UTF-8 by custom, not by promise: a byte that is not becomes U+FFFD, the message stays readable.
impl Xdr for String {
    fn encode(&self, to: &mut Encoder) {
        to.count(self.len());
        to.padded(self.as_bytes());
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let count = from.count(STRING_MAX, 1)?;
        Ok(Self::from_utf8_lossy(from.padded(count)?).into_owned())
    }
}

impl<T: Xdr> Xdr for Option<T> {
    fn encode(&self, to: &mut Encoder) {
        u32::from(self.is_some()).encode(to);
        if let Some(value) = self {
            value.encode(to);
        }
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        match u32::decode(from)? {
            0 => Ok(None),
            1 => T::decode(from).map(Some),
            value => Err(DecodeError::Unknown { value: value.into(), expected: "presence flag" }),
        }
    }
}

impl Xdr for Uuid {
    const MIN_BYTES: usize = 16;
    fn encode(&self, to: &mut Encoder) {
        to.padded(self.as_bytes());
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        from.array().map(Self::from_bytes)
    }
}

impl Xdr for () {
    const MIN_BYTES: usize = 0;
    fn encode(&self, _to: &mut Encoder) {}
    fn decode(_from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(())
    }
}

macro_rules! tuple {
    ($($name:ident),+) => {
        impl<$($name: Xdr),+> Xdr for ($($name,)+) {
            const MIN_BYTES: usize = 0 $(+ $name::MIN_BYTES)+;
            fn encode(&self, to: &mut Encoder) {
                #[expect(non_snake_case, reason = "the macro names fields after their types")]
                let ($($name,)+) = self;
                $($name.encode(to);)+
            }
            fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
                Ok(($($name::decode(from)?,)+))
            }
        }
    };
}
tuple!(A);
tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);
tuple!(A, B, C, D, E);

#[cfg(test)]
#[path = "xdr_tests.rs"]
mod tests;
