//! Field selectors: `metadata.name=a,spec.host!=b`, on the fields that the definition names.

use crate::collection::{Collection, PublishedObject};

/// All conditions must hold; none always does.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FieldSelector {
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, PartialEq)]
struct Condition {
    field: Field,
    value: String,
    equal: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Field {
    Name,
    Namespace,
    Selectable(usize),
}

/// Why a field selector cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FieldSelectorError {
    #[error("invalid field selector {0:?}: expected FIELD=VALUE or FIELD!=VALUE")]
    Syntax(String),
    #[error("a field selector may have at most {0} conditions")]
    TooMany(usize),
    #[error("{field:?} is not a known field selector: only {supported}")]
    Unknown { field: String, supported: String },
}

impl FieldSelector {
    pub(crate) fn parse(text: &str, collection: &Collection) -> Result<Self, FieldSelectorError> {
        let mut conditions = Vec::new();
        for term in split_terms(text) {
            if term.is_empty() {
                continue;
            }
            let syntax = || FieldSelectorError::Syntax(term.to_owned());
            let (name, value, equal) = split_condition(term).ok_or_else(syntax)?;
            let value = unescape(value).ok_or_else(syntax)?;
            let field = field(name.trim(), collection)?;
            if conditions.len() >= super::MOST_CONDITIONS {
                return Err(FieldSelectorError::TooMany(super::MOST_CONDITIONS));
            }
            conditions.push(Condition { field, value, equal });
        }
        Ok(Self { conditions })
    }

    pub(crate) fn matches(&self, object: &PublishedObject) -> bool {
        self.conditions.iter().all(|condition| {
            let value = match condition.field {
                Field::Name => &object.key().name,
                Field::Namespace => object.key().namespace.as_deref().unwrap_or_default(),
                Field::Selectable(index) => object.fields().get(index).map_or("", String::as_str),
            };
            (value == condition.value) == condition.equal
        })
    }

    /// The one name that can match, if the selector says so.
    pub(crate) fn name(&self) -> Option<&str> {
        self.equals(Field::Name)
    }

    fn equals(&self, field: Field) -> Option<&str> {
        let mut conditions = self.conditions.iter();
        conditions.find(|c| c.field == field && c.equal).map(|c| c.value.as_str())
    }

    /// The same selector with a condition on the name.
    pub(crate) fn and_name(mut self, name: &str) -> Self {
        self.conditions.push(Condition { field: Field::Name, value: name.to_owned(), equal: true });
        self
    }
}

/// The one name that a selector allows, before it is known for which resource it is.
pub(crate) fn name_in(text: &str) -> Option<String> {
    split_terms(text).into_iter().find_map(|term| match split_condition(term) {
        Some((name, value, true)) if name.trim() == "metadata.name" => unescape(value),
        _ => None,
    })
}

fn field(name: &str, collection: &Collection) -> Result<Field, FieldSelectorError> {
    let fields = &collection.paths().fields;
    match name {
        "metadata.name" => Ok(Field::Name),
        "metadata.namespace" => Ok(Field::Namespace),
        _ => match fields.iter().position(|(known, _)| known == name) {
            Some(index) => Ok(Field::Selectable(index)),
            None => {
                let known = ["metadata.name", "metadata.namespace"].into_iter();
                let known = known.chain(fields.iter().map(|(name, _)| name.as_str()));
                let supported = known.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
                Err(FieldSelectorError::Unknown { field: name.to_owned(), supported })
            }
        },
    }
}

/// Splits at commas that are not escaped.
fn split_terms(text: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let mut start = 0;
    let mut escaped = false;
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b',' => {
                terms.extend(text.get(start..offset));
                start = offset + 1;
            }
            _ => {}
        }
    }
    terms.extend(text.get(start..));
    terms
}

/// Field, value, and whether they shall be equal.
fn split_condition(term: &str) -> Option<(&str, &str, bool)> {
    let at = term.find(['=', '!'])?;
    let (field, rest) = term.split_at_checked(at)?;
    if let Some(value) = rest.strip_prefix("!=") {
        return Some((field, value, false));
    }
    let value = rest.strip_prefix("==").or_else(|| rest.strip_prefix('='))?;
    Some((field, value, true))
}

/// Undoes `\\`, `\,` and `\=`; any other escape, and a bare `,` or `=`, is a fault.
fn unescape(value: &str) -> Option<String> {
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => out.push(escaped),
                _ => return None,
            },
            ',' | '=' => return None,
            other => out.push(other),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::testing;

    fn matches(selector: &str) -> bool {
        let collection = testing::collection();
        collection.publish(testing::station("a", &json!({"spec": {"region": "north,east"}}))).unwrap();
        let snapshot = collection.list(None);
        FieldSelector::parse(selector, &collection).unwrap().matches(&snapshot.objects[0])
    }

    #[test]
    fn conditions_select() {
        for selector in [
            "",
            "metadata.name=a",
            "metadata.name==a",
            "metadata.name!=b",
            "metadata.namespace=",
            "spec.region=north\\,east",
            "metadata.name=a,spec.region!=x",
            "metadata.namespace!=x",
        ] {
            assert!(matches(selector), "{selector:?}");
        }
        for selector in [
            "metadata.name=b",
            "metadata.name!=a",
            "metadata.namespace=x",
            "spec.region=",
            "metadata.name=a,spec.region=x",
        ] {
            assert!(!matches(selector), "{selector:?}");
        }
    }

    #[test]
    fn conditions_are_counted() {
        let conditions = |count| vec!["metadata.name!=b"; count].join(",");
        assert!(matches(&conditions(200)));
        assert!(FieldSelector::parse(&conditions(201), &testing::collection()).is_err());
        assert!(super::super::LabelSelector::parse(&vec!["!b"; 200].join(",")).is_ok());
        assert!(super::super::LabelSelector::parse(&vec!["!b"; 201].join(",")).is_err());
    }

    // covers: C24 L4
    #[test]
    fn unknown_fields_are_refused_with_the_known_ones() {
        let error = FieldSelector::parse("spec.color=red", &testing::collection()).unwrap_err();
        assert_eq!(
            error.to_string(),
            r#""spec.color" is not a known field selector: only "metadata.name", "metadata.namespace", "spec.region""#
        );
        for broken in ["metadata.name", "metadata.name=a=b", "metadata.name=a\\", "metadata.name!a"] {
            assert!(FieldSelector::parse(broken, &testing::collection()).is_err(), "{broken:?}");
        }
    }

    proptest! {
        #[test]
        fn parsing_is_total(text in "(metadata\\.name)?[a-b!=,\\\\ ]{0,12}") {
            let collection = testing::collection();
            let parsed = FieldSelector::parse(&text, &collection);
            name_in(&text);
            if let Ok(selector) = parsed {
                collection.publish(testing::station("a", &json!({}))).unwrap();
                selector.matches(&collection.list(None).objects[0]);
            }
        }
    }
}
