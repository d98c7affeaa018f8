//! Laws that hold for all field sets, objects and managers.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use server_side_apply::{ApplyError, FieldSet, Manager, PathElement, Schema, apply, keep_times, update};

fn element() -> impl Strategy<Value = PathElement> {
    let scalar = || {
        prop_oneof![
            any::<i64>().prop_map(Value::from),
            ".{0,4}".prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            (-4_000_000..4_000_000_i32).prop_map(|n| Value::from(f64::from(n) / 4096.0))
        ]
    };
    prop_oneof![
        4 => "[a-c]".prop_map(PathElement::Field),
        1 => ".{0,6}".prop_map(PathElement::Field),
        1 => scalar().prop_map(PathElement::Value),
        1 => any::<i64>().prop_map(PathElement::Index),
        1 => prop::collection::btree_map("[a-c<>&\"]{1,2}", scalar(), 1..3).prop_map(|fields| PathElement::Key(fields.into_iter().collect())),
    ]
}

fn field_set() -> impl Strategy<Value = FieldSet> {
    prop::collection::vec(prop::collection::vec(element(), 1..4), 0..8).prop_map(|paths| {
        let mut set = FieldSet::new();
        paths.iter().for_each(|path| set.insert(path));
        set
    })
}

proptest! {
    #[test]
    fn a_set_that_is_written_and_read_is_the_same(set in field_set()) {
        prop_assert_eq!(&FieldSet::parse(&set.to_value()).unwrap(), &set);
        let text: Value = serde_json::from_str(&set.to_json()).unwrap();
        prop_assert_eq!(&text, &set.to_value());
    }

    #[test]
    fn sets_are_sets(a in field_set(), b in field_set(), c in field_set()) {
        prop_assert_eq!(a.union(&b), b.union(&a));
        prop_assert_eq!(a.union(&b).union(&c), a.union(&b.union(&c)));
        prop_assert_eq!(a.union(&a), a.clone());
        prop_assert_eq!(a.intersection(&b), b.intersection(&a));
        prop_assert_eq!(a.difference(&a), FieldSet::new());
        prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)), a.clone());
        prop_assert_eq!(a.difference(&b).intersection(&b), FieldSet::new());
        prop_assert_eq!(a.union(&b).difference(&c), a.difference(&c).union(&b.difference(&c)));
        prop_assert_eq!(a.union(&b).len() + a.intersection(&b).len(), a.len() + b.len());
        prop_assert!(a.recursive_difference(&b).difference(&a.difference(&b)).is_empty());
        prop_assert!(a.leaves().difference(&a).is_empty());
        prop_assert_eq!(a.leaves().leaves(), a.leaves());
    }
}

/// The schema of the recordings, without defaults: these laws are about merging alone.
fn schema() -> Schema {
    let mut schema: Value = serde_json::from_str(include_str!("../data/schema.json")).unwrap();
    schema["properties"]["spec"]["properties"]["evacuate"] = json!({"type": "boolean"});
    Schema::new(&schema).unwrap().with_kind("Host").with_reset("", &[&["status"]])
}

fn maybe(value: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Option<Value>> {
    prop_oneof![2 => Just(None), 3 => value.prop_map(Some)]
}

fn word() -> impl Strategy<Value = Value> {
    prop::sample::select(vec!["a", "b", "c"]).prop_map(Value::from)
}

fn words() -> impl Strategy<Value = Value> {
    prop::collection::btree_set(prop::sample::select(vec!["x", "y", "z"]), 0..4).prop_shuffle_list()
}

trait Shuffled {
    fn prop_shuffle_list(self) -> BoxedStrategy<Value>;
}

impl<S: Strategy<Value = std::collections::BTreeSet<&'static str>> + 'static> Shuffled for S {
    fn prop_shuffle_list(self) -> BoxedStrategy<Value> {
        self.prop_map(|set| set.into_iter().collect::<Vec<_>>())
            .prop_shuffle()
            .prop_map(|list| json!(list))
            .boxed()
    }
}

fn object(fields: Vec<(&'static str, Option<Value>)>) -> Value {
    Value::Object(
        fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect::<Map<_, _>>(),
    )
}

fn taints() -> impl Strategy<Value = Value> {
    let taint = (maybe(word()), maybe(words()));
    prop::collection::btree_map(prop::sample::select(vec!["k1", "k2", "k3"]), taint, 0..4)
        .prop_map(|taints| taints.into_iter().collect::<Vec<_>>())
        .prop_shuffle()
        .prop_map(|taints| {
            let taint = |(key, (value, tags))| {
                object(vec![("key", Some(json!(key))), ("value", value), ("tags", tags)])
            };
            taints.into_iter().map(taint).collect()
        })
}

/// What somebody may apply.
pub(crate) fn spec() -> impl Strategy<Value = Value> {
    let numbers = prop::collection::btree_map("[p-r]", 0..3_i64, 0..3).prop_map(|map| json!(map));
    let window = (maybe(word()), maybe((0..3_i64).prop_map(Value::from)));
    let window = window.prop_map(|(start, minutes)| object(vec![("start", start), ("minutes", minutes)]));
    let maintenance = (maybe(word()), maybe(window));
    let maintenance =
        maintenance.prop_map(|(reason, window)| object(vec![("reason", reason), ("window", window)]));
    let extra = prop::collection::btree_map(
        "[m-n]",
        prop_oneof![word(), words(), Just(json!({"deep": 1})), Just(json!({}))],
        0..3,
    );
    let extra = extra.prop_map(|map| json!(map));
    let pinned = prop::collection::btree_map("[s-t]", word(), 0..2).prop_map(|map| json!(map));
    (
        (maybe(word()), maybe((0..3_i64).prop_map(Value::from)), maybe(words()), maybe(words())),
        (maybe(numbers), maybe(maintenance), maybe(taints()), maybe(extra), maybe(pinned)),
    )
        .prop_map(
            |((note, priority, traits, aggregates), (overcommit, maintenance, taints, extra, pinned))| {
                object(vec![
                    ("note", note),
                    ("priority", priority),
                    ("traits", traits),
                    ("aggregates", aggregates),
                    ("overcommit", overcommit),
                    ("maintenance", maintenance),
                    ("taints", taints),
                    ("extra", extra),
                    ("pinned", pinned),
                ])
            },
        )
}

pub(crate) fn host(spec: &Value) -> Value {
    json!({"apiVersion": "ssa.example.com/v1", "kind": "Host", "metadata": {"name": "h"}, "spec": spec})
}

pub(crate) fn manager(name: &str) -> Manager {
    Manager { name: name.into(), subresource: String::new(), api_version: "ssa.example.com/v1".into() }
}

fn at(second: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_780_000_000 + second).unwrap()
}

fn owned(object: &Value, name: &str, operation: &str) -> FieldSet {
    let entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let entry = entries.iter().find(|entry| entry["manager"] == name && entry["operation"] == operation);
    entry.map_or_else(FieldSet::new, |entry| FieldSet::parse(&entry["fieldsV1"]).unwrap())
}

/// A history: who applies or updates what.
fn history() -> impl Strategy<Value = Vec<(usize, bool, Value)>> {
    prop::collection::vec((0..3_usize, prop::bool::weighted(0.3), spec()), 1..5)
}

fn live(history: &[(usize, bool, Value)]) -> Option<Value> {
    let schema = schema();
    let mut live: Option<Value> = None;
    for (second, (who, updates, spec)) in history.iter().enumerate() {
        let now = at(i64::try_from(second).unwrap());
        let who = manager(["one", "two", "three"][*who]);
        live = Some(if *updates {
            update(&schema, live.as_ref(), &host(spec), &who, now)
        } else {
            apply(&schema, live.as_ref(), &host(spec), &who, true, now).unwrap().object
        });
    }
    live
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn applying_twice_is_applying_once(history in history(), spec in spec()) {
        let schema = schema();
        let me = manager("me");
        let once = apply(&schema, live(&history).as_ref(), &host(&spec), &me, true, at(100)).unwrap().object;
        let twice = apply(&schema, Some(&once), &host(&spec), &me, false, at(200)).unwrap();
        prop_assert!(!twice.changed, "{once}\n{}", twice.object);
        let mut settled = twice.object;
        keep_times(&once, &mut settled);
        prop_assert_eq!(serde_json::to_string(&settled).unwrap(), serde_json::to_string(&once).unwrap());
    }

    #[test]
    fn what_is_applied_is_there_and_owned(history in history(), spec in spec()) {
        let schema = schema();
        let after = apply(&schema, live(&history).as_ref(), &host(&spec), &manager("me"), true, at(100)).unwrap().object;
        let mine = owned(&after, "me", "Apply");
        // Applying what is mine, alone, on nothing gives me the same set: the set says all that I said.
        let part = schema.extract(&after, &mine);
        let again = apply(&schema, None, &part, &manager("me"), false, at(0)).unwrap().object;
        prop_assert_eq!(owned(&again, "me", "Apply"), mine);
    }

    #[test]
    fn giving_up_all_leaves_nothing_of_mine(history in history(), spec in spec()) {
        let schema = schema();
        let me = manager("me");
        let bare = json!({"apiVersion": "ssa.example.com/v1", "kind": "Host", "metadata": {"name": "h"}});
        let with = apply(&schema, live(&history).as_ref(), &host(&spec), &me, true, at(100)).unwrap().object;
        let others = ["one", "two", "three"].iter().flat_map(|name| [owned(&with, name, "Apply"), owned(&with, name, "Update")]);
        let others = others.fold(FieldSet::new(), |all, set| all.union(&set));
        let mine = owned(&with, "me", "Apply").difference(&others);
        let without = apply(&schema, Some(&with), &bare, &me, false, at(200)).unwrap().object;
        prop_assert!(owned(&without, "me", "Apply").is_empty());
        // Of leaves that were mine alone none is left, and what others own still is.
        let left = apply(&schema, None, &managed_fields_removed(&without), &manager("probe"), false, at(0)).unwrap().object;
        let left = owned(&left, "probe", "Apply");
        for path in mine.leaves().paths() {
            let filled_by_others = others.paths().iter().any(|other| other.starts_with(&path));
            prop_assert!(filled_by_others || !left.contains(&path) , "{} is left of {with}\nin {without}", server_side_apply::path_text(&path));
        }
    }

    #[test]
    fn an_unforced_apply_conflicts_or_takes_nothing(history in history(), spec in spec()) {
        let schema = schema();
        let Some(live) = live(&history) else { return Ok(()) };
        match apply(&schema, Some(&live), &host(&spec), &manager("me"), false, at(100)) {
            Ok(applied) => for name in ["one", "two", "three"] {
                for operation in ["Apply", "Update"] {
                    prop_assert_eq!(owned(&applied.object, name, operation), owned(&live, name, operation));
                }
            },
            Err(ApplyError::Conflicts(conflicts)) => prop_assert!(!conflicts.list().is_empty()),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn an_update_owns_what_it_changed_and_nothing_else(history in history(), spec in spec()) {
        let schema = schema();
        let Some(live) = live(&history) else { return Ok(()) };
        let same = update(&schema, Some(&live), &live, &manager("me"), at(100));
        prop_assert_eq!(serde_json::to_string(&same).unwrap(), serde_json::to_string(&live).unwrap());
        if live["metadata"].get("managedFields").is_none() {
            return Ok(());
        }
        let mut changed = live.clone();
        changed["spec"] = spec;
        let after = update(&schema, Some(&live), &changed, &manager("me"), at(100));
        let taken = owned(&after, "me", "Update");
        for name in ["one", "two", "three"] {
            for operation in ["Apply", "Update"] {
                let theirs = owned(&after, name, operation);
                prop_assert!(theirs.intersection(&taken).is_empty());
                prop_assert!(theirs.difference(&owned(&live, name, operation)).is_empty());
            }
        }
    }
}

fn managed_fields_removed(object: &Value) -> Value {
    let mut object = object.clone();
    object["metadata"].as_object_mut().unwrap().remove("managedFields");
    object
}
