//! Named values whose type travels with them, libvirt's way to grow an answer without a new call.
//!
//! Daemons of different versions send the same field with different integer types, so numbers are read by value: any
//! integer type (or a whole double) that fits is taken, anything else is as good as absent.

use crate::wire::{DecodeError, Decoder, Encoder, Xdr};

/// A value with its type.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TypedValue {
    /// 32-bit signed.
    Int(i32),
    /// 32-bit unsigned.
    Uint(u32),
    /// 64-bit signed.
    Long(i64),
    /// 64-bit unsigned.
    Ulong(u64),
    /// Floating point.
    Double(f64),
    /// True or false.
    Boolean(bool),
    /// Text.
    Text(String),
}

impl TypedValue {
    /// The value as a count: any number that is not negative and whole.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Self::Int(value) => value.try_into().ok(),
            Self::Uint(value) => Some(value.into()),
            Self::Long(value) => value.try_into().ok(),
            Self::Ulong(value) => Some(value),
            // 2^53: above it a double no longer holds every whole number.
            Self::Double(value)
                if value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value) =>
            {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "checked to be whole and in range"
                )]
                Some(value as u64)
            }
            Self::Double(_) | Self::Boolean(_) | Self::Text(_) => None,
        }
    }

    /// The value as a signed number.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::Int(value) => Some(value.into()),
            Self::Long(value) => Some(value),
            _ => self.as_u64().and_then(|value| value.try_into().ok()),
        }
    }

    /// The value as true or false; a number is true when it is not zero.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            _ => self.as_i64().map(|value| value != 0),
        }
    }

    /// The value as text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(value) => Some(value),
            _ => None,
        }
    }
}

impl Xdr for TypedValue {
    const MIN_BYTES: usize = 8;
    fn encode(&self, to: &mut Encoder) {
        match self {
            Self::Int(value) => (1, *value).encode(to),
            Self::Uint(value) => (2, *value).encode(to),
            Self::Long(value) => (3, *value).encode(to),
            Self::Ulong(value) => (4, *value).encode(to),
            Self::Double(value) => (5, *value).encode(to),
            Self::Boolean(value) => (6, i32::from(*value)).encode(to),
            Self::Text(value) => {
                7.encode(to);
                value.encode(to);
            }
        }
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        match i32::decode(from)? {
            1 => Xdr::decode(from).map(Self::Int),
            2 => Xdr::decode(from).map(Self::Uint),
            3 => Xdr::decode(from).map(Self::Long),
            4 => Xdr::decode(from).map(Self::Ulong),
            5 => Xdr::decode(from).map(Self::Double),
            6 => i32::decode(from).map(|value| Self::Boolean(value != 0)),
            7 => Xdr::decode(from).map(Self::Text),
            value => Err(DecodeError::Unknown { value: value.into(), expected: "type of a typed parameter" }),
        }
    }
}

/// Named typed values in the order they came.
///
/// ```
/// use libvirt_rpc::{TypedParams, TypedValue};
/// let params = TypedParams::from_iter([("vcpu.current", TypedValue::Int(2)), ("balloon.current", TypedValue::Long(-1))]);
/// assert_eq!(params.get_u64("vcpu.current"), Some(2));
/// assert_eq!(params.get_u64("balloon.current"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TypedParams(pub Vec<(String, TypedValue)>);

impl TypedParams {
    /// The first value of that name.
    pub fn get(&self, name: &str) -> Option<&TypedValue> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// The first value of that name as a count.
    pub fn get_u64(&self, name: &str) -> Option<u64> {
        self.get(name)?.as_u64()
    }

    /// The first value of that name as text.
    pub fn get_str(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// The first value of that name as true or false.
    pub fn get_bool(&self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }
}

impl<N: Into<String>> FromIterator<(N, TypedValue)> for TypedParams {
    fn from_iter<I: IntoIterator<Item = (N, TypedValue)>>(params: I) -> Self {
        Self(params.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire;

    #[test]
    fn the_same_number_is_read_whatever_type_it_came_as() {
        let forms = [
            TypedValue::Int(50),
            TypedValue::Uint(50),
            TypedValue::Long(50),
            TypedValue::Ulong(50),
            TypedValue::Double(50.0),
        ];
        for form in forms {
            assert_eq!(form.as_u64(), Some(50), "{form:?}");
            assert_eq!(form.as_i64(), Some(50), "{form:?}");
        }
    }

    #[test]
    fn negative_fractional_and_textual_numbers_are_absent() {
        let forms = [
            TypedValue::Int(-1),
            TypedValue::Long(i64::MIN),
            TypedValue::Double(0.5),
            TypedValue::Double(f64::NAN),
            TypedValue::Double(-1.0),
            TypedValue::Text("50".to_owned()),
            TypedValue::Boolean(true),
        ];
        for form in forms {
            assert_eq!(form.as_u64(), None, "{form:?}");
        }
    }

    #[test]
    fn an_unknown_type_fails_the_value_and_nothing_else() {
        let mut bytes = wire::encode(&9_i32);
        bytes.extend(wire::encode(&0_u64));
        assert!(matches!(wire::decode::<TypedValue>(&bytes), Err(DecodeError::Unknown { value: 9, .. })));
    }

    proptest! {
        #[test]
        fn values_survive_the_wire(value in prop_oneof![
            any::<i32>().prop_map(TypedValue::Int),
            any::<u32>().prop_map(TypedValue::Uint),
            any::<i64>().prop_map(TypedValue::Long),
            any::<u64>().prop_map(TypedValue::Ulong),
            (-1e9..1e9).prop_map(TypedValue::Double),
            any::<bool>().prop_map(TypedValue::Boolean),
            ".{0,20}".prop_map(TypedValue::Text),
        ]) {
            prop_assert_eq!(wire::decode::<TypedValue>(&wire::encode(&value)).unwrap(), value);
        }
    }
}
