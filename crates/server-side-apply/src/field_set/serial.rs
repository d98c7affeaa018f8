//! `fieldsV1`: a field set as JSON.
//!
//! A key is one path element with a letter for its kind (`f:` `k:` `v:` `i:`), its value is what lies below. `{}` at the end means a
//! member; `".": {}` beside other keys means that the element itself is a member too. What comes from outside is read
//! with an end to its depth and without a panic; an element of an unknown kind is dropped, as a later version may know it.

use serde_json::{Map, Value};

use super::{FieldSet, Node, PathElement};
use crate::MAX_DEPTH;
use crate::json::go_text;

/// Why `fieldsV1` cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldSetError {
    /// A level is not a JSON object.
    #[error("a field set must be a JSON object, got {0}")]
    NotAnObject(String),
    /// A key is no path element.
    #[error("{key:?} is not a path element: {reason}")]
    Element {
        /// The key.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It is nested deeper than any object may be.
    #[error("a field set may not be nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

impl FieldSet {
    /// Reads `fieldsV1`.
    ///
    /// # Errors
    /// When a level is no object, a key is no path element, or it is too deep.
    pub fn parse(fields: &Value) -> Result<Self, FieldSetError> {
        let (set, _) = parse_level(fields, MAX_DEPTH)?;
        Ok(set)
    }

    /// The set as `fieldsV1`. The keys of each level are in bytewise order, as kube-apiserver shows those of custom resources.
    #[must_use]
    pub fn to_value(&self) -> Value {
        Value::Object(self.level(false))
    }

    /// The set as the text of `fieldsV1`, in the order of path elements, as kube-apiserver shows those of its own types.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(false, &mut out);
        out
    }

    fn level(&self, member: bool) -> Map<String, Value> {
        let mut keys: Vec<(String, &Node)> =
            self.nodes.iter().map(|(element, node)| (serialise_element(element), node)).collect();
        keys.sort_by(|a, b| a.0.cmp(&b.0));
        let mut map = Map::new();
        if member && !self.is_empty() {
            map.insert(".".into(), Value::Object(Map::new()));
        }
        for (key, node) in keys {
            map.insert(key, Value::Object(node.children.level(node.member)));
        }
        map
    }

    fn write(&self, member: bool, out: &mut String) {
        out.push('{');
        let mut first = true;
        if member && !self.is_empty() {
            out.push_str("\".\":{}");
            first = false;
        }
        for (element, node) in &self.nodes {
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            out.push_str(&Value::from(serialise_element(element)).to_string());
            out.push(':');
            node.children.write(node.member, out);
        }
        out.push('}');
    }
}

/// The set of a level, and whether the level says that its own element is a member.
fn parse_level(fields: &Value, depth: usize) -> Result<(FieldSet, bool), FieldSetError> {
    let mut set = FieldSet::new();
    let mut member = false;
    let empty = Map::new();
    let map = match fields {
        Value::Object(map) => map,
        Value::Null => &empty,
        other => return Err(FieldSetError::NotAnObject(go_text::type_name(other).to_owned())),
    };
    let Some(depth) = depth.checked_sub(1) else { return Err(FieldSetError::TooDeep) };
    for (key, value) in map {
        if key == "." {
            member = true;
            continue;
        }
        let Some(element) = parse_element(key)? else { continue };
        let (children, member) = parse_level(value, depth)?;
        let node = set.nodes.entry(element).or_default();
        node.member |= member;
        node.children.extend(&children);
    }
    // Dropped elements of unknown kinds leave nothing behind, and then the level counts as empty.
    member |= set.is_empty();
    Ok((set, member))
}

/// One key; `None` for a kind of element that is not known.
fn parse_element(key: &str) -> Result<Option<PathElement>, FieldSetError> {
    let wrong = |reason: &str| FieldSetError::Element { key: key.to_owned(), reason: reason.to_owned() };
    if key.len() < 2 {
        return Err(wrong("shorter than two characters"));
    }
    if key.as_bytes().get(1) != Some(&b':') {
        return Err(wrong("no colon after the first letter"));
    }
    let (kind, rest) = key.split_at(2);
    let parse = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| wrong(&error.to_string()));
    Ok(Some(match kind {
        "f:" => PathElement::Field(rest.to_owned()),
        "v:" => PathElement::Value(parse(rest)?),
        "k:" => {
            let Value::Object(map) = parse(rest)? else { return Err(wrong("keys must be a JSON object")) };
            let mut fields: Vec<_> = map.into_iter().collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            PathElement::Key(fields)
        }
        "i:" => PathElement::Index(rest.parse().map_err(|_| wrong("an index must be a whole number"))?),
        _ => return Ok(None),
    }))
}

fn serialise_element(element: &PathElement) -> String {
    match element {
        PathElement::Field(name) => format!("f:{name}"),
        PathElement::Key(fields) => {
            let mut out = "k:{".to_owned();
            for (index, (name, value)) in fields.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                go_text::compact_json(value, &mut out);
            }
            out.push('}');
            out
        }
        PathElement::Value(value) => {
            let mut out = "v:".to_owned();
            go_text::compact_json(value, &mut out);
            out
        }
        PathElement::Index(index) => format!("i:{index}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_end_is_a_member() {
        let set = FieldSet::parse(&json!({"f:a": {"f:b": {}}})).unwrap();
        assert_eq!(set, FieldSet::of_names(&[&["a", "b"]]));
        let set = FieldSet::parse(&json!({"f:a": {".": {}, "f:b": {}}})).unwrap();
        assert_eq!(set, FieldSet::of_names(&[&["a"], &["a", "b"]]));
        assert_eq!(set.to_value(), json!({"f:a": {".": {}, "f:b": {}}}));
    }

    #[test]
    fn unknown_kinds_are_dropped_and_wrong_keys_are_refused() {
        assert_eq!(
            FieldSet::parse(&json!({"x:new": {"f:a": {}}, "f:a": {}})).unwrap(),
            FieldSet::of_names(&[&["a"]])
        );
        for wrong in [
            json!({"nonsense": {}}),
            json!({"f": {}}),
            json!({"": {}}),
            json!([]),
            json!({"f:a": 1}),
            json!({"v:": {}}),
            json!({"k:[]": {}}),
            json!({"i:x": {}}),
            json!({"é:": {}}),
        ] {
            assert!(FieldSet::parse(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn depth_has_an_end() {
        let mut deep = json!({});
        for _ in 0..MAX_DEPTH + 1 {
            deep = json!({"f:a": deep});
        }
        assert_eq!(FieldSet::parse(&deep), Err(FieldSetError::TooDeep));
    }

    #[test]
    fn both_orders_are_those_of_kube_apiserver() {
        let set =
            FieldSet::parse(&json!({"v:10": {}, "v:9": {}, "v:0": {}, "f:z": {}, "k:{\"a\":\"<\"}": {}}))
                .unwrap();
        assert_eq!(set.to_json(), r#"{"f:z":{},"k:{\"a\":\"\\u003c\"}":{},"v:0":{},"v:9":{},"v:10":{}}"#);
        let keys: Vec<String> = set.to_value().as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["f:z", r#"k:{"a":"\u003c"}"#, "v:0", "v:10", "v:9"]);
    }
}
