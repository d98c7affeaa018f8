//! Lays an applied configuration over a live object.
//!
//! Where both have a leaf, the configuration's wins, also when it is null. A null or an empty container does not clear one that is filled: taking
//! away is the business of pruning, which knows who owns what. Items of sets and lists of type map keep the live order, except that
//! the order of the configuration rules among the items both have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{all_keys, as_list, as_map, list_item};
use crate::field_set::PathElement;
use crate::schema::{List, ListKind, Map, Shape, Type, shape};

/// The merged value, or nothing where both sides have nothing in a container.
pub(crate) fn merge(kind: &Type, live: Option<&Value>, config: Option<&Value>) -> Option<Value> {
    let decisive = config.filter(|value| !value.is_null()).or(live);
    let leaf = || config.or(live).cloned();
    match shape(kind.atom(), decisive) {
        Shape::Scalar(_) | Shape::Nothing => leaf(),
        Shape::Map(map) => {
            let (left, right) = (as_map(live), as_map(config));
            let hollow =
                left.is_none_or(serde_json::Map::is_empty) && right.is_none_or(serde_json::Map::is_empty);
            if map.atomic || hollow { leaf() } else { merge_maps(map, left, right) }
        }
        Shape::List(list) => {
            let (left, right) = (as_list(live), as_list(config));
            let hollow = left.is_none_or(Vec::is_empty) && right.is_none_or(Vec::is_empty);
            if list.kind == ListKind::Atomic || hollow { leaf() } else { merge_lists(list, left, right) }
        }
    }
}

fn merge_maps(
    map: &Map,
    live: Option<&serde_json::Map<String, Value>>,
    config: Option<&serde_json::Map<String, Value>>,
) -> Option<Value> {
    let mut merged = serde_json::Map::new();
    for key in all_keys(live, config) {
        let Some(kind) = map.kind_of(key) else { continue };
        let (live, config) = (live.and_then(|live| live.get(key)), config.and_then(|config| config.get(key)));
        if let Some(value) = merge(kind, live, config) {
            merged.insert(key.clone(), value);
        }
    }
    (!merged.is_empty()).then_some(Value::Object(merged))
}

/// The items of a list by what tells them apart, in order.
struct Side<'a> {
    items: Vec<(PathElement, &'a Value)>,
    /// `None` for an element that is there more than once: it is replaced, not merged.
    unique: BTreeMap<PathElement, Option<&'a Value>>,
}

impl<'a> Side<'a> {
    fn new(list: &List, items: Option<&'a Vec<Value>>) -> Self {
        let mut side = Self { items: Vec::new(), unique: BTreeMap::new() };
        for item in items.into_iter().flatten() {
            let Ok(element) = list_item::element(list, item) else { continue };
            side.unique.entry(element.clone()).and_modify(|twice| *twice = None).or_insert(Some(item));
            side.items.push((element, item));
        }
        side
    }

    fn has(&self, element: &PathElement) -> bool {
        self.unique.contains_key(element)
    }
}

fn merge_lists(list: &List, live: Option<&Vec<Value>>, config: Option<&Vec<Value>>) -> Option<Value> {
    let (live, config) = (Side::new(list, live), Side::new(list, config));
    let mut shared = config.items.iter().map(|(element, _)| element).filter(|element| live.has(element));
    let mut next_shared = shared.next();
    let mut taken: BTreeSet<&PathElement> = BTreeSet::new();
    let mut merged = Vec::new();
    let with_twin = |element: &PathElement, item: &Value| {
        merge(&list.items, live.unique.get(element).copied().flatten(), Some(item))
    };
    let (mut l, mut r) = (0, 0);
    loop {
        let (left, right) = (live.items.get(l), config.items.get(r));
        if let (Some((ours, _)), Some((theirs, item))) = (left, right) {
            if ours == theirs {
                taken.insert(theirs);
                merged.extend(with_twin(theirs, item));
                (l, r, next_shared) = (l + 1, r + 1, shared.next());
                continue;
            }
            if config.has(ours) && next_shared.is_some_and(|next| next != ours) {
                // Shared, but not what the configuration wants next: it comes when the configuration's order has it.
                l += 1;
                continue;
            }
        }
        match left {
            Some((ours, item)) if !config.has(ours) => {
                merged.push((*item).clone());
                l += 1;
                continue;
            }
            Some((ours, _)) if taken.contains(ours) => l += 1,
            _ => {}
        }
        match right {
            Some((theirs, item)) => {
                taken.insert(theirs);
                merged.extend(with_twin(theirs, item));
                r += 1;
                if next_shared == Some(theirs) {
                    next_shared = shared.next();
                }
            }
            // What is left of the live items was taken with the configuration's.
            None if live.items.get(l).is_none() => break,
            None => {}
        }
    }
    (!merged.is_empty()).then_some(Value::Array(merged))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::schema::Schema;

    fn set(live: &[&str], config: &[&str]) -> String {
        let schema = Schema::new(&json!({"type": "object", "properties": {"s": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}})).unwrap();
        let merged =
            super::merge(&schema.root, Some(&json!({"s": live})), Some(&json!({"s": config}))).unwrap();
        merged["s"].as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
    }

    #[test]
    fn the_configuration_orders_what_both_have() {
        assert_eq!(set(&["a", "b", "c"], &["c", "a"]), "bca");
        assert_eq!(set(&["b", "a", "c"], &["a", "c", "b"]), "acb");
        assert_eq!(set(&["a"], &["x", "a", "y"]), "xay");
        assert_eq!(set(&["a", "b"], &["c"]), "abc");
        assert_eq!(set(&["a", "a", "b"], &["b"]), "aab");
        assert_eq!(set(&["a", "a", "b"], &["a"]), "ab");
        assert_eq!(set(&[], &["a"]), "a");
    }
}
