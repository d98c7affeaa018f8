//! The bytes of an authentication as the protocol carries them: characters, each a number of its own, with a flag for "none".

use super::{DecodeError, Decoder, Encoder, Xdr};

/// Most bytes in one message of an authentication.
pub const SASL_DATA_MAX: usize = 65_536;

/// Bytes of an authentication; none is something else than an empty message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SaslData(pub Option<Vec<u8>>);

impl Xdr for SaslData {
    const MIN_BYTES: usize = 8;
    fn encode(&self, to: &mut Encoder) {
        i32::from(self.0.is_none()).encode(to);
        let bytes = self.0.as_deref().unwrap_or_default();
        to.count(bytes.len());
        for byte in bytes {
            u32::from(*byte).encode(to);
        }
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let none = i32::decode(from)? != 0;
        let count = from.count(SASL_DATA_MAX, 4)?;
        let mut bytes = Vec::with_capacity(count);
        for _ in 0..count {
            // A char sign-extends; its low byte is the character.
            let [.., low] = u32::decode(from)?.to_be_bytes();
            bytes.push(low);
        }
        Ok(Self((!none).then_some(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode, encode};
    use super::*;

    #[test]
    fn none_is_not_empty() {
        let forms = [SaslData(None), SaslData(Some(Vec::new())), SaslData(Some(b"n,,\xff".to_vec()))];
        let sizes = [8, 8, 24];
        for (form, size) in forms.into_iter().zip(sizes) {
            let bytes = encode(&form);
            assert_eq!(bytes.len(), size);
            assert_eq!(decode::<SaslData>(&bytes).unwrap(), form);
        }
        assert_eq!(
            decode::<SaslData>(b"\0\0\0\0\0\0\0\x01\xff\xff\xff\xc3").unwrap(),
            SaslData(Some(vec![0xc3]))
        );
    }
}
