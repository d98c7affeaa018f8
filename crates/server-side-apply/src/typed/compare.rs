//! What differs between two objects: fields added, modified and removed.
//!
//! A container that is on one side only is itself added or removed, besides what is in it. Order of items does not count.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{all_keys, as_list, as_map, list_item};
use crate::field_set::{FieldSet, PathElement};
use crate::json::ordering;
use crate::schema::{List, ListKind, Map, Shape, Type, shape};

/// The difference between an old and a new object. No field is in more than one of the sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// In the new one only.
    pub added: FieldSet,
    /// In both, with different values.
    pub modified: FieldSet,
    /// In the old one only.
    pub removed: FieldSet,
}

impl Comparison {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.added.is_empty() && self.modified.is_empty() && self.removed.is_empty()
    }

    /// Without some fields and all below them.
    pub(crate) fn without(self, ignored: Option<&FieldSet>) -> Self {
        let Some(ignored) = ignored else { return self };
        Self {
            added: self.added.recursive_difference(ignored),
            modified: self.modified.recursive_difference(ignored),
            removed: self.removed.recursive_difference(ignored),
        }
    }

    /// All that differs.
    pub(crate) fn all(&self) -> FieldSet {
        self.added.union(&self.modified).union(&self.removed)
    }
}

pub(crate) fn compare(kind: &Type, old: &Value, new: &Value) -> Comparison {
    let mut walk = Walk { path: Vec::new(), found: Comparison::default() };
    walk.pair(kind, Some(old), Some(new));
    walk.found
}

struct Walk {
    path: Vec<PathElement>,
    found: Comparison,
}

impl Walk {
    fn pair(&mut self, kind: &Type, old: Option<&Value>, new: Option<&Value>) {
        let atom = kind.atom();
        let by_old = shape(atom, old.filter(|value| !value.is_null()).or(new));
        let by_new = shape(atom, new.filter(|value| !value.is_null()).or(old));
        let mut leaf = false;
        if !same_shape(by_old, by_new) {
            self.shaped(by_old, old, new);
        }
        leaf |= self.shaped(by_new, old, new);
        if !leaf && old.is_none() {
            self.found.added.insert(&self.path);
        } else if !leaf && new.is_none() {
            self.found.removed.insert(&self.path);
        }
    }

    /// Compares as values of one shape; answers whether that was a comparison as a whole.
    fn shaped(&mut self, shape: Shape<'_>, old: Option<&Value>, new: Option<&Value>) -> bool {
        match shape {
            Shape::Map(map) => {
                let (left, right) = (as_map(old), as_map(new));
                let hollow =
                    left.is_none_or(serde_json::Map::is_empty) && right.is_none_or(serde_json::Map::is_empty);
                if map.atomic || hollow {
                    return self.whole(old, new);
                }
                self.maps(map, left, right);
                false
            }
            Shape::List(list) => {
                let (left, right) = (as_list(old), as_list(new));
                let hollow = left.is_none_or(Vec::is_empty) && right.is_none_or(Vec::is_empty);
                if list.kind == ListKind::Atomic || hollow {
                    return self.whole(old, new);
                }
                self.lists(list, left, right);
                false
            }
            Shape::Scalar(_) | Shape::Nothing => self.whole(old, new),
        }
    }

    fn whole(&mut self, old: Option<&Value>, new: Option<&Value>) -> bool {
        match (old, new) {
            (None, Some(_)) => self.found.added.insert(&self.path),
            (Some(_), None) => self.found.removed.insert(&self.path),
            (Some(old), Some(new)) if !ordering::equal(old, new) => self.found.modified.insert(&self.path),
            _ => {}
        }
        true
    }

    fn maps(
        &mut self,
        map: &Map,
        old: Option<&serde_json::Map<String, Value>>,
        new: Option<&serde_json::Map<String, Value>>,
    ) {
        for key in all_keys(old, new) {
            let Some(kind) = map.kind_of(key) else { continue };
            let (old, new) = (old.and_then(|old| old.get(key)), new.and_then(|new| new.get(key)));
            self.below(PathElement::Field(key.clone()), kind, old, new);
        }
    }

    fn below(&mut self, element: PathElement, kind: &Type, old: Option<&Value>, new: Option<&Value>) {
        self.path.push(element);
        self.pair(kind, old, new);
        self.path.pop();
    }

    fn lists(&mut self, list: &List, old: Option<&Vec<Value>>, new: Option<&Vec<Value>>) {
        let mut items: BTreeMap<PathElement, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for item in old.into_iter().flatten() {
            if let Ok(element) = list_item::element(list, item) {
                items.entry(element).or_default().0.push(item);
            }
        }
        for item in new.into_iter().flatten() {
            if let Ok(element) = list_item::element(list, item) {
                items.entry(element).or_default().1.push(item);
            }
        }
        for (element, (old, new)) in items {
            self.items(list, element, &old, &new);
        }
    }

    /// Items of one identity. Duplicates are one field together: which of them is which nobody can say.
    fn items(&mut self, list: &List, element: PathElement, old: &[&Value], new: &[&Value]) {
        match (old, new) {
            ([] | [_], [] | [_]) => {
                self.below(element, &list.items, old.first().copied(), new.first().copied())
            }
            ([_, _, ..], [_, _, ..]) => {
                let same =
                    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| ordering::equal(old, new));
                if !same {
                    self.mark(element, |found| &mut found.modified);
                }
            }
            ([_, _, ..], rest) => {
                if let Some(new) = rest.first() {
                    self.below(element.clone(), &list.items, None, Some(new));
                }
                self.mark(element, |found| &mut found.removed);
            }
            (rest, [_, _, ..]) => {
                if let Some(old) = rest.first() {
                    self.below(element.clone(), &list.items, Some(old), None);
                }
                self.mark(element, |found| &mut found.added);
            }
        }
    }

    fn mark(&mut self, element: PathElement, set: impl Fn(&mut Comparison) -> &mut FieldSet) {
        self.path.push(element);
        set(&mut self.found).insert(&self.path);
        self.path.pop();
    }
}

fn same_shape(left: Shape<'_>, right: Shape<'_>) -> bool {
    std::mem::discriminant(&left) == std::mem::discriminant(&right)
}
