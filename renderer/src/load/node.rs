//! YAML as a tree in which every node knows where it was written.
//!
//! Typed deserialisation stops at the first mistake and forgets positions. This tree keeps both: it is checked as a whole against the
//! schema, and every later rule asks it where a field stands.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;

/// Where a node begins: index of the source, line, column.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Place {
    pub(crate) source: usize,
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// A node and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) content: Content,
}

/// What a node is.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    /// Keys have places of their own, since an unknown field is best shown where it is named.
    Mapping(Vec<(String, Place, Node)>),
}

impl Node {
    /// Marks every node as coming from the given source.
    pub(crate) fn set_source(&mut self, source: usize) {
        self.place.source = source;
        match &mut self.content {
            Content::List(items) => items.iter_mut().for_each(|item| item.set_source(source)),
            Content::Mapping(entries) => {
                for (_, place, value) in entries {
                    place.source = source;
                    value.set_source(source);
                }
            }
            Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) => {}
        }
    }

    /// The tree as JSON, without places.
    pub(crate) fn to_json(&self) -> Value {
        match &self.content {
            Content::Null => Value::Null,
            Content::Bool(value) => Value::Bool(*value),
            Content::Number(value) => Value::Number(value.clone()),
            Content::Text(value) => Value::String(value.clone()),
            Content::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Content::Mapping(entries) => Value::Object(
                entries.iter().map(|(key, _, value)| (key.clone(), value.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// Adds the place of every node below this one to an index by field path.
    pub(crate) fn index(&self, path: &str, places: &mut BTreeMap<String, Place>) {
        places.insert(path.to_owned(), self.place);
        match &self.content {
            Content::List(items) => {
                for (position, item) in items.iter().enumerate() {
                    item.index(&format!("{path}[{position}]"), places);
                }
            }
            Content::Mapping(entries) => {
                for (key, place, value) in entries {
                    let child = join(path, key);
                    value.index(&child, places);
                    // A scalar is shown where its value stands, a block where its name stands.
                    if matches!(value.content, Content::List(_) | Content::Mapping(_) | Content::Null) {
                        places.insert(child.clone(), *place);
                    }
                    places.insert(key_path(&child), *place);
                }
            }
            Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) => {}
        }
    }
}

/// The field `key` of `path`.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The place of a key rather than of its value.
pub(crate) fn key_path(path: &str) -> String {
    format!("{path}:")
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Content>::deserialize(deserializer)?;
        let place = place_of(&spanned.referenced);
        Ok(Self { place, content: spanned.value })
    }
}

fn place_of(location: &serde_saphyr::Location) -> Place {
    Place { source: 0, line: location.line().max(1), column: location.column().max(1) }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::Null)
    }

    fn visit_none<E>(self) -> Result<Content, E> {
        Ok(Content::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Content, D::Error> {
        Content::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Content, E> {
        Ok(Content::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Content, E> {
        Ok(Content::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Content, E> {
        Ok(Content::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Content, E> {
        // Infinity and NaN are YAML but not JSON; as text they fail wherever a number is asked for.
        Ok(Number::from_f64(value).map_or_else(|| Content::Text(value.to_string()), Content::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Content, E> {
        Ok(Content::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Content, E> {
        Ok(Content::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Content, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element::<Node>()? {
            items.push(item);
        }
        Ok(Content::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Content, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = access.next_key::<Spanned<String>>()? {
            let value = access.next_value::<Node>()?;
            entries.push((key.value, place_of(&key.referenced), value));
        }
        Ok(Content::Mapping(entries))
    }
}
