//! Values of OVSDB columns, decoded by their shape.
//!
//! On the wire a set of exactly one element is a bare atom, whatever the column allows, so the shape alone does not
//! tell a scalar from a set. Here both are a [`Value::Set`], and [`Value::atoms`] gives every set the same form.

use serde_json::{Value as Json, json};
use uuid::Uuid;

/// One scalar.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Atom {
    /// An integer.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A truth value.
    Boolean(bool),
    /// A text.
    String(String),
    /// The identity of a row.
    Uuid(Uuid),
    /// The name of a row that the same transaction inserts; only ever sent.
    NamedUuid(String),
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Any number of atoms; a scalar is a set of one, an absent optional a set of none.
    Set(Vec<Atom>),
    /// Pairs.
    Map(Vec<(Atom, Atom)>),
}

/// A JSON value that is no OVSDB value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an OVSDB value: {0}")]
pub struct ValueError(String);

impl Atom {
    /// Reads one atom.
    pub fn from_json(json: &Json) -> Result<Self, ValueError> {
        match json {
            Json::String(text) => Ok(Self::String(text.clone())),
            Json::Bool(truth) => Ok(Self::Boolean(*truth)),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => Ok(Self::Integer(integer)),
                (None, Some(real)) => Ok(Self::Real(real)),
                (None, None) => Err(wrong(json)),
            },
            Json::Array(pair) => match pair.as_slice() {
                [Json::String(tag), Json::String(uuid)] if tag == "uuid" => {
                    Uuid::try_parse(uuid).map(Self::Uuid).map_err(|_| wrong(json))
                }
                [Json::String(tag), Json::String(name)] if tag == "named-uuid" => {
                    Ok(Self::NamedUuid(name.clone()))
                }
                _ => Err(wrong(json)),
            },
            Json::Null | Json::Object(_) => Err(wrong(json)),
        }
    }

    /// Writes one atom.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Integer(integer) => json!(integer),
            Self::Real(real) => json!(real),
            Self::Boolean(truth) => json!(truth),
            Self::String(text) => json!(text),
            Self::Uuid(uuid) => json!(["uuid", uuid.to_string()]),
            Self::NamedUuid(name) => json!(["named-uuid", name]),
        }
    }
}

impl Value {
    /// Reads one value.
    ///
    /// ```
    /// use ovs_client::ovsdb::{Atom, Value};
    ///
    /// let bare = Value::from_json(&serde_json::json!("netdev"))?;
    /// let set = Value::from_json(&serde_json::json!(["set", ["netdev"]]))?;
    /// assert_eq!(bare, set);
    /// assert_eq!(bare.atoms(), [Atom::String("netdev".to_owned())]);
    /// # Ok::<(), ovs_client::ovsdb::ValueError>(())
    /// ```
    pub fn from_json(json: &Json) -> Result<Self, ValueError> {
        if let Json::Array(pair) = json {
            match pair.as_slice() {
                [Json::String(tag), Json::Array(atoms)] if tag == "set" => {
                    return atoms.iter().map(Atom::from_json).collect::<Result<_, _>>().map(Self::Set);
                }
                [Json::String(tag), Json::Array(pairs)] if tag == "map" => {
                    return pairs.iter().map(pair_from_json).collect::<Result<_, _>>().map(Self::Map);
                }
                _ => {}
            }
        }
        Atom::from_json(json).map(|atom| Self::Set(vec![atom]))
    }

    /// Reads one value from text.
    pub fn parse(bytes: &[u8]) -> Result<Self, ValueError> {
        let json: Json = serde_json::from_slice(bytes).map_err(|error| ValueError(error.to_string()))?;
        Self::from_json(&json)
    }

    /// Writes the value as a server would.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Set(atoms) => match atoms.as_slice() {
                [atom] => atom.to_json(),
                atoms => json!(["set", atoms.iter().map(Atom::to_json).collect::<Vec<_>>()]),
            },
            Self::Map(pairs) => {
                let pairs: Vec<_> =
                    pairs.iter().map(|(key, value)| json!([key.to_json(), value.to_json()])).collect();
                json!(["map", pairs])
            }
        }
    }

    /// The atoms of a set; none for a map.
    pub fn atoms(&self) -> &[Atom] {
        match self {
            Self::Set(atoms) => atoms,
            Self::Map(_) => &[],
        }
    }

    /// The pairs of a map; none for a set.
    pub fn pairs(&self) -> &[(Atom, Atom)] {
        match self {
            Self::Set(_) => &[],
            Self::Map(pairs) => pairs,
        }
    }

    /// A map of texts.
    pub fn map<K: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        let text = |(key, value): (K, V)| (Atom::String(key.into()), Atom::String(value.into()));
        Self::Map(pairs.into_iter().map(text).collect())
    }
}

impl From<Atom> for Value {
    fn from(atom: Atom) -> Self {
        Self::Set(vec![atom])
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Atom::String(text.to_owned()).into()
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Atom::String(text).into()
    }
}

impl From<i64> for Value {
    fn from(integer: i64) -> Self {
        Atom::Integer(integer).into()
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Atom::Boolean(truth).into()
    }
}

impl From<Uuid> for Value {
    fn from(uuid: Uuid) -> Self {
        Atom::Uuid(uuid).into()
    }
}

fn pair_from_json(json: &Json) -> Result<(Atom, Atom), ValueError> {
    match json.as_array().map(Vec::as_slice) {
        Some([key, value]) => Ok((Atom::from_json(key)?, Atom::from_json(value)?)),
        _ => Err(wrong(json)),
    }
}

/// The error for `json`, with the beginning of its text.
fn wrong(json: &Json) -> ValueError {
    ValueError(json.to_string().chars().take(80).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_shape_the_server_sends_is_read() {
        let read = |json: Json| Value::from_json(&json).unwrap();
        let uuid = Uuid::from_u128(7);
        assert_eq!(read(json!(["set", []])).atoms(), []);
        assert_eq!(read(json!(["uuid", uuid])), uuid.into());
        assert_eq!(read(json!(["set", [["uuid", uuid], ["uuid", uuid]]])).atoms().len(), 2);
        assert_eq!(read(json!(-1)), (-1).into());
        assert_eq!(read(json!(1.5)), Atom::Real(1.5).into());
        assert_eq!(
            read(json!(18_446_744_073_709_551_615_u64)),
            Atom::Real(18_446_744_073_709_551_615.0).into()
        );
        assert_eq!(read(json!(["map", [["a", "1"]]])), Value::map([("a", "1")]));
    }

    #[test]
    fn what_is_no_value_is_an_error_that_shows_it() {
        for json in [
            json!(null),
            json!({}),
            json!([]),
            json!(["set", 1]),
            json!(["uuid", "x"]),
            json!(["map", [[1]]]),
        ] {
            let error = Value::from_json(&json).unwrap_err().to_string();
            assert!(error.starts_with("not an OVSDB value: "), "{error}");
        }
    }

    fn atom() -> impl Strategy<Value = Atom> {
        prop_oneof![
            any::<i64>().prop_map(Atom::Integer),
            any::<bool>().prop_map(Atom::Boolean),
            ".{0,6}".prop_map(Atom::String),
            any::<u128>().prop_map(|bits| Atom::Uuid(Uuid::from_u128(bits))),
        ]
    }

    proptest! {
        #![proptest_config(crate::property::few(128))]

        #[test]
        fn what_is_written_is_read_back(atoms in prop::collection::vec(atom(), 0..5), pairs in prop::collection::vec((atom(), atom()), 0..5)) {
            for value in [Value::Set(atoms), Value::Map(pairs)] {
                prop_assert_eq!(Value::parse(value.to_json().to_string().as_bytes()), Ok(value));
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in r#"[\[\]{}",:a-z0-9\-\.]{0,60}"#) {
            let _ = Value::parse(text.as_bytes());
        }
    }
}
