//! Adds to a set the named fields on the way to its members.
//!
//! An applier's set has `spec.mode` but not `spec`. Whether `spec` itself goes when its contents do is decided with it in the set. Keys of maps and items of
//! lists are not named fields: they are in a set on their own account or not at all.

use crate::field_set::{FieldSet, Node, PathElement};
use crate::schema::{Type, step};

/// The set with those fields.
pub(crate) fn with_named_fields(kind: Option<&Type>, set: &FieldSet) -> FieldSet {
    let atom = kind.map(Type::atom);
    let nodes = set.nodes.iter().map(|(element, node)| {
        let named = match (element, atom.and_then(|atom| atom.map.as_ref())) {
            (PathElement::Field(name), Some(map)) => map.is_named(name),
            _ => false,
        };
        let below = atom.and_then(|atom| step(atom, element));
        let children = with_named_fields(below, &node.children);
        (element.clone(), Node { member: node.member || (named && !children.is_empty()), children })
    });
    FieldSet { nodes: nodes.collect() }
}
