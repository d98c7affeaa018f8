//! Percent-encoding, as in paths, queries and the front proxy's header names.

/// A text whose `%` escapes are broken or do not make UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid percent-encoding in {0:?}")]
pub(crate) struct DecodeError(String);

/// Replaces every `%XX`.
pub(crate) fn decode(text: &str) -> Result<String, DecodeError> {
    if !text.contains('%') {
        return Ok(text.to_owned());
    }
    let broken = || DecodeError(text.to_owned());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit =
                |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16)).ok_or_else(broken);
            let value = digit(rest.next())? * 16 + digit(rest.next())?;
            bytes.push(u8::try_from(value).map_err(|_| broken())?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).map_err(|_| broken())
}

/// The same for one side of a pair in a query, where `+` is a space.
pub(crate) fn decode_query(text: &str) -> Result<String, DecodeError> {
    if text.contains('+') { decode(&text.replace('+', " ")) } else { decode(text) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_replaced() {
        assert_eq!(decode("a%2Fb%2fc").unwrap(), "a/b/c");
        assert_eq!(decode("%C3%BC").unwrap(), "ü");
        assert_eq!(decode("a+b").unwrap(), "a+b");
        assert_eq!(decode_query("a+b%2B").unwrap(), "a b+");
        for broken in ["%", "%2", "%zz", "%ff", "%2+1"] {
            assert!(decode(broken).is_err(), "{broken}");
        }
    }

    proptest! {
        #[test]
        fn decoding_is_total_and_undoes_encoding(text in "\\PC{0,20}") {
            let encoded: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            prop_assert_eq!(decode(&encoded).unwrap(), text.clone());
            let _ = decode(&text);
        }
    }
}
