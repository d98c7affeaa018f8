//! Fits a set that was written earlier to the schema of today.
//!
//! Where a container has become one field since, a set that reaches below it is cut to the field. The other way round nothing is done: who owned the
//! whole owns the whole until the next write.

use crate::field_set::{FieldSet, Node};
use crate::schema::{Atom, ListKind, Scalar, Type, step};

/// The set as this type would have it.
pub(crate) fn reconcile(kind: &Type, set: &FieldSet) -> FieldSet {
    let atom = kind.atom();
    if is_deduced(kind, atom) {
        return set.clone();
    }
    let nodes = set.nodes.iter().map(|(element, node)| {
        let reconciled = match step(atom, element) {
            Some(below) if !node.children.is_empty() && is_one_field(below) => {
                Node { member: true, children: FieldSet::new() }
            }
            Some(below) => Node { member: node.member, children: reconcile(below, &node.children) },
            None => node.clone(),
        };
        (element.clone(), reconciled)
    });
    FieldSet { nodes: nodes.collect() }
}

fn is_one_field(kind: &Type) -> bool {
    let atom = kind.atom();
    match (&atom.map, atom.scalar, &atom.list) {
        (Some(map), _, _) => map.atomic && !is_deduced(kind, atom),
        (None, Some(_), _) => false,
        (None, None, Some(list)) => list.kind == ListKind::Atomic,
        (None, None, None) => false,
    }
}

/// A place about which the schema says nothing but that it may be there.
fn is_deduced(kind: &Type, atom: &Atom) -> bool {
    let free = |others: &Type| {
        matches!(others, Type::Deduced)
            || matches!(others, Type::Given(atom) if atom.scalar == Some(Scalar::Untyped))
    };
    matches!(kind, Type::Deduced)
        || atom.map.as_ref().is_some_and(|map| map.fields.is_empty() && map.others.as_ref().is_some_and(free))
}
