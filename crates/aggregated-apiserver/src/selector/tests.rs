//! The law of filtered watches: a filtered list and the filtered events after it give the filtered list of now.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::collection::{Collection, ObjectKey};
use crate::testing;

#[derive(Clone, Debug)]
enum Step {
    Publish { name: u8, label: u8, region: u8, content: u8 },
    Amend { name: u8, label: u8, region: u8, content: u8 },
    Withdraw { name: u8 },
}

fn step() -> impl Strategy<Value = Step> {
    let small = 0u8..3;
    prop_oneof![
        4 => (small.clone(), small.clone(), small.clone(), small.clone())
            .prop_map(|(name, label, region, content)| Step::Publish { name, label, region, content }),
        2 => (small.clone(), small.clone(), small.clone(), small.clone())
            .prop_map(|(name, label, region, content)| Step::Amend { name, label, region, content }),
        1 => small.prop_map(|name| Step::Withdraw { name }),
    ]
}

fn apply(collection: &Collection, step: &Step) {
    let object = |name: u8, label: u8, region: u8, content: u8| {
        json!({
            "metadata": {"name": format!("n{name}"), "uid": format!("u{name}"), "labels": {"l": label.to_string()}},
            "spec": {"region": region.to_string(), "content": content},
        })
    };
    match *step {
        Step::Publish { name, label, region, content } => {
            collection.publish(object(name, label, region, content)).unwrap();
        }
        Step::Amend { name, label, region, content } => {
            collection.amend(object(name, label, region, content)).unwrap();
        }
        Step::Withdraw { name } => {
            collection.withdraw(&ObjectKey::cluster(format!("n{name}")));
        }
    }
}

/// What a client that keeps a cache has of it: which objects, under which version.
fn listed(collection: &Collection, filter: &Filter) -> BTreeMap<ObjectKey, String> {
    let objects = collection.list(None).objects;
    let matching = objects.iter().filter(|object| filter.matches(object));
    matching.map(|object| (object.key().clone(), object.version().to_string())).collect()
}

proptest! {
    #[test]
    fn a_filtered_watch_keeps_a_filtered_cache_right(
        steps in proptest::collection::vec(step(), 0..30), at in 0usize..30, label in 0u8..3, by_label: bool,
    ) {
        let collection = testing::collection();
        let filter = if by_label {
            let labels = LabelSelector::parse(&format!("l in ({label})")).unwrap();
            Filter { labels, ..Filter::default() }
        } else {
            let fields = FieldSelector::parse(&format!("spec.region={label}"), &collection).unwrap();
            Filter { fields, ..Filter::default() }
        };
        let at = at.min(steps.len());
        for step in &steps[..at] {
            apply(&collection, step);
        }
        let mut cache = listed(&collection, &filter);
        let version = collection.list(None).version;
        for step in &steps[at..] {
            apply(&collection, step);
        }
        let position = collection.position_after(version).unwrap();
        for event in collection.events_from(position, usize::MAX).unwrap() {
            let Some((kind, object)) = filter.seen(&event) else { continue };
            prop_assert!(object.version() > version);
            match kind {
                EventKind::Added => prop_assert!(
                    cache.insert(object.key().clone(), object.version().to_string()).is_none()
                ),
                EventKind::Modified => prop_assert!(
                    cache.insert(object.key().clone(), object.version().to_string()).is_some()
                ),
                EventKind::Deleted => prop_assert!(cache.remove(object.key()).is_some()),
            }
        }
        prop_assert_eq!(cache, listed(&collection, &filter));
    }
}
