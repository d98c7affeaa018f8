//! The algebra of field sets.
//!
//! All but the recursive difference look at members only: taking `a` away from `a.b` takes nothing away.

use super::{FieldSet, Node};

impl FieldSet {
    /// What is in either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.extend(other);
        union
    }

    /// Adds all that is in the other.
    pub fn extend(&mut self, other: &Self) {
        for (element, node) in &other.nodes {
            let own = self.nodes.entry(element.clone()).or_default();
            own.member |= node.member;
            own.children.extend(&node.children);
        }
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut both = Self::new();
        for (element, node) in &self.nodes {
            let Some(theirs) = other.nodes.get(element) else { continue };
            let children = node.children.intersection(&theirs.children);
            both.put(element, Node { member: node.member && theirs.member, children });
        }
        both
    }

    /// What is in this one and not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut rest = Self::new();
        for (element, node) in &self.nodes {
            let left = match other.nodes.get(element) {
                None => node.clone(),
                Some(theirs) => Node {
                    member: node.member && !theirs.member,
                    children: node.children.difference(&theirs.children),
                },
            };
            rest.put(element, left);
        }
        rest
    }

    /// What is neither in the other nor below something that is.
    #[must_use]
    pub fn recursive_difference(&self, other: &Self) -> Self {
        let mut rest = Self::new();
        for (element, node) in &self.nodes {
            let left = match other.nodes.get(element) {
                None => node.clone(),
                Some(theirs) if theirs.member => continue,
                Some(theirs) => Node {
                    member: node.member,
                    children: node.children.recursive_difference(&theirs.children),
                },
            };
            rest.put(element, left);
        }
        rest
    }

    /// The members that have no member below them.
    #[must_use]
    pub fn leaves(&self) -> Self {
        let mut leaves = Self::new();
        for (element, node) in &self.nodes {
            let children = node.children.leaves();
            leaves.put(element, Node { member: node.member && children.is_empty(), children });
        }
        leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_and_its_child_are_different_members() {
        let parent = FieldSet::of_names(&[&["a"]]);
        let child = FieldSet::of_names(&[&["a", "b"]]);
        assert_eq!(parent.difference(&child), parent);
        assert_eq!(child.difference(&parent), child);
        assert_eq!(child.recursive_difference(&parent), FieldSet::new());
        assert_eq!(parent.recursive_difference(&child), parent);
        assert_eq!(parent.intersection(&child), FieldSet::new());
        assert_eq!(parent.union(&child).leaves(), child);
        assert_eq!(parent.union(&child).len(), 2);
    }
}
