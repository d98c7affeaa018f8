//! Order: layers sorted so that each comes after those it depends on, and the waves in which Flux can apply them.

use std::collections::{BTreeMap, BTreeSet};

use super::Layer;

/// Sorts by dependency; what may come in any order keeps the order of planning. Members of a circle come last, for `verify` to name.
pub(super) fn sort(layers: Vec<Layer>) -> Vec<Layer> {
    let names: BTreeSet<String> = layers.iter().map(|layer| layer.name.clone()).collect();
    let mut placed: BTreeSet<String> = BTreeSet::new();
    let mut waiting: Vec<Option<Layer>> = layers.into_iter().map(Some).collect();
    let mut sorted = Vec::with_capacity(waiting.len());
    loop {
        let before = sorted.len();
        for slot in &mut waiting {
            let ready = slot.as_ref().is_some_and(|layer| {
                layer.depends_on.iter().all(|name| placed.contains(name) || !names.contains(name))
            });
            if let (true, Some(layer)) = (ready, slot.take_if(|_| ready)) {
                placed.insert(layer.name.clone());
                sorted.push(layer);
            }
        }
        if sorted.len() == before {
            break;
        }
    }
    sorted.extend(waiting.into_iter().flatten());
    sorted
}

/// Layers by wave: the first waits for nothing, each later one only for earlier ones.
#[must_use]
pub(super) fn waves(layers: &[Layer]) -> Vec<Vec<&Layer>> {
    let mut wave_of: BTreeMap<&str, usize> = BTreeMap::new();
    let mut waves: Vec<Vec<&Layer>> = Vec::new();
    for layer in layers {
        let after = layer.depends_on.iter().filter_map(|name| wave_of.get(name.as_str()));
        let wave = after.max().map_or(0, |wave| wave + 1);
        wave_of.insert(&layer.name, wave);
        while waves.len() <= wave {
            waves.push(Vec::new());
        }
        if let Some(members) = waves.get_mut(wave) {
            members.push(layer);
        }
    }
    waves
}
