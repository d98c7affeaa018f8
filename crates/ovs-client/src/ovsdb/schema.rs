//! The schema of a database: which tables and columns this server has, and of what type.
//!
//! One unknown column fails a whole monitor, and servers of all ages are out there, so nothing is asked for that the
//! schema does not list.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

/// A database schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Name of the database.
    pub name: String,
    /// Its version, e.g. `8.3.1`.
    pub version: String,
    /// Tables by name.
    pub tables: BTreeMap<String, TableSchema>,
}

/// The schema of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableSchema {
    /// Columns by name.
    pub columns: BTreeMap<String, ColumnType>,
    /// Whether its rows live without being referred to.
    pub is_root: bool,
}

/// The type of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnType {
    /// Type of its elements, or of its keys.
    pub key: AtomType,
    /// Type of its values, for a map.
    pub value: Option<AtomType>,
    /// 0 or 1.
    pub min: u64,
    /// `None` is unlimited.
    pub max: Option<u64>,
}

/// The type of an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names of RFC 7047 say all")]
pub enum AtomType {
    Integer,
    Real,
    Boolean,
    String,
    Uuid,
}

/// Why a schema cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The JSON does not have the form of a schema.
    #[error("not a database schema")]
    Syntax(#[source] serde_json::Error),
}

impl Schema {
    /// Reads the answer to `get_schema`.
    pub fn from_json(json: &Json) -> Result<Self, SchemaError> {
        let raw = RawSchema::deserialize(json).map_err(SchemaError::Syntax)?;
        let column = |column: RawColumn| match column.r#type {
            RawType::Plain(key) => ColumnType { key, value: None, min: 1, max: Some(1) },
            RawType::Full { key, value, min, max } => ColumnType {
                key: key.atom(),
                value: value.map(|value| value.atom()),
                min: min.unwrap_or(1),
                max: match max {
                    None => Some(1),
                    Some(RawMax::Number(max)) => Some(max),
                    Some(RawMax::Text(_)) => None,
                },
            },
        };
        let table = |table: RawTable| TableSchema {
            columns: table.columns.into_iter().map(|(name, raw)| (name, column(raw))).collect(),
            is_root: table.is_root,
        };
        let tables = raw.tables.into_iter().map(|(name, raw)| (name, table(raw))).collect();
        Ok(Self { name: raw.name, version: raw.version, tables })
    }

    /// Reads a schema from text.
    pub fn parse(bytes: &[u8]) -> Result<Self, SchemaError> {
        serde_json::from_slice(bytes)
            .map_err(SchemaError::Syntax)
            .and_then(|json: Json| Self::from_json(&json))
    }

    /// Whether the table has the column.
    pub fn has(&self, table: &str, column: &str) -> bool {
        self.tables.get(table).is_some_and(|table| table.columns.contains_key(column))
    }
}

#[derive(Deserialize)]
struct RawSchema {
    name: String,
    version: String,
    tables: BTreeMap<String, RawTable>,
}

#[derive(Deserialize)]
struct RawTable {
    columns: BTreeMap<String, RawColumn>,
    #[serde(default, rename = "isRoot")]
    is_root: bool,
}

#[derive(Deserialize)]
struct RawColumn {
    r#type: RawType,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawType {
    Plain(AtomType),
    Full { key: RawAtom, value: Option<RawAtom>, min: Option<u64>, max: Option<RawMax> },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawAtom {
    Plain(AtomType),
    Full { r#type: AtomType },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawMax {
    Number(u64),
    Text(#[expect(dead_code, reason = "only \"unlimited\" is ever written here")] String),
}

impl RawAtom {
    fn atom(&self) -> AtomType {
        match self {
            Self::Plain(atom) | Self::Full { r#type: atom } => *atom,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_optional_set_and_map_types_are_told_apart() {
        let text = br#"{"name":"Open_vSwitch","version":"8.3.1","cksum":"1 2","tables":{"Port":{"columns":{
            "name":{"type":"string","mutable":false},
            "tag":{"type":{"key":{"type":"integer","minInteger":0,"maxInteger":4095},"min":0,"max":1}},
            "interfaces":{"type":{"key":{"type":"uuid","refTable":"Interface"},"min":1,"max":"unlimited"}},
            "external_ids":{"type":{"key":"string","value":"string","min":0,"max":"unlimited"}}},"indexes":[["name"]]}}}"#;
        let schema = Schema::parse(text).unwrap();
        let column = |name: &str| schema.tables["Port"].columns[name].clone();
        assert_eq!(column("name"), ColumnType { key: AtomType::String, value: None, min: 1, max: Some(1) });
        assert_eq!(column("tag"), ColumnType { key: AtomType::Integer, value: None, min: 0, max: Some(1) });
        assert_eq!(column("interfaces"), ColumnType { key: AtomType::Uuid, value: None, min: 1, max: None });
        assert_eq!(column("external_ids").value, Some(AtomType::String));
        assert!(schema.has("Port", "tag") && !schema.has("Port", "nope") && !schema.has("Nope", "tag"));
    }

    #[test]
    fn what_is_no_schema_is_an_error() {
        assert!(Schema::parse(b"{}").is_err());
        assert!(
            Schema::parse(br#"{"name":"a","version":"1","tables":{"T":{"columns":{"c":{"type":7}}}}}"#)
                .is_err()
        );
    }
}
