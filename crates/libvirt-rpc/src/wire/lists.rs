//! The array shapes of libvirt's protocol, each with its limit in the type.
//!
//! The limit is part of the type so that a decoder cannot be called without one.

use super::{DecodeError, Decoder, Encoder, Xdr};

/// A counted array of at most `MAX` elements.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct List<T, const MAX: usize>(pub Vec<T>);

impl<T: Xdr, const MAX: usize> Xdr for List<T, MAX> {
    fn encode(&self, to: &mut Encoder) {
        to.count(self.0.len());
        for element in &self.0 {
            element.encode(to);
        }
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let count = from.count(MAX, T::MIN_BYTES)?;
        // Not `with_capacity`: an element in memory can be several times its smallest form on the wire.
        let mut elements = Vec::new();
        for _ in 0..count {
            elements.push(T::decode(from)?);
        }
        Ok(Self(elements))
    }
}

/// Bytes, at most `MAX`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Opaque<const MAX: usize>(pub Vec<u8>);

impl<const MAX: usize> Xdr for Opaque<MAX> {
    fn encode(&self, to: &mut Encoder) {
        to.count(self.0.len());
        to.padded(&self.0);
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let count = from.count(MAX, 1)?;
        Ok(Self(from.padded(count)?.to_vec()))
    }
}

/// `char name[N]`: each character travels as a number of its own; the text ends at the first zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NumberedChars<const N: usize>(pub String);

impl<const N: usize> Xdr for NumberedChars<N> {
    const MIN_BYTES: usize = 4 * N;
    fn encode(&self, to: &mut Encoder) {
        // The last character stays zero, as C needs it.
        let bytes = self.0.bytes().take(N.saturating_sub(1)).chain(std::iter::repeat(0)).take(N);
        for byte in bytes {
            u32::from(byte).encode(to);
        }
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut bytes = Vec::with_capacity(N);
        for _ in 0..N {
            // A char sign-extends; its low byte is the character.
            let [.., low] = u32::decode(from)?.to_be_bytes();
            bytes.push(low);
        }
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(Self(String::from_utf8_lossy(text).into_owned()))
    }
}

/// `unsigned char` and `unsigned short`: they travel as four bytes; what does not fit is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SmallInt<T>(pub T);

impl<T: Copy + Into<u32> + TryFrom<u32>> Xdr for SmallInt<T> {
    fn encode(&self, to: &mut Encoder) {
        self.0.into().encode(to);
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let value = u32::decode(from)?;
        let small = T::try_from(value);
        small.map(Self).map_err(|_| DecodeError::Unknown { value: value.into(), expected: "small integer" })
    }
}
