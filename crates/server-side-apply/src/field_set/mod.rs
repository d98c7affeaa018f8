//! A set of fields of an object: what a manager owns, or what a change touched.
//!
//! A trie of path elements. A node may be a member itself, have members below it, or both; there is never a node that is neither.
//! `a` being a member says nothing of `a.b`, and the other way round.

mod element;
mod operations;
mod serial;

use std::collections::BTreeMap;

pub use element::PathElement;
pub use serial::FieldSetError;

/// A set of fields, ordered as Kubernetes orders them.
///
/// ```
/// use server_side_apply::FieldSet;
///
/// let set = FieldSet::parse(&serde_json::json!({"f:spec": {"f:taints": {"k:{\"key\":\"a\"}": {".": {}, "f:value": {}}}}}))?;
/// let paths: Vec<String> = set.paths().iter().map(|path| server_side_apply::path_text(path)).collect();
/// assert_eq!(paths, [".spec.taints[key=\"a\"]", ".spec.taints[key=\"a\"].value"]);
/// # Ok::<(), server_side_apply::FieldSetError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FieldSet {
    pub(crate) nodes: BTreeMap<PathElement, Node>,
}

/// One element below a path: is it in the set, and what is in the set below it.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) member: bool,
    pub(crate) children: FieldSet,
}

impl Node {
    fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }
}

impl FieldSet {
    /// The empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A set of paths of plain field names, as `&[&["spec", "mode"]]`.
    #[must_use]
    pub fn of_names(paths: &[&[&str]]) -> Self {
        let mut set = Self::new();
        for path in paths {
            let path: Vec<PathElement> =
                path.iter().map(|name| PathElement::Field((*name).to_owned())).collect();
            set.insert(&path);
        }
        set
    }

    /// Adds one path. The empty path is not a field and is not added.
    pub fn insert(&mut self, path: &[PathElement]) {
        let Some((first, rest)) = path.split_first() else { return };
        let node = self.nodes.entry(first.clone()).or_default();
        if rest.is_empty() {
            node.member = true;
        } else {
            node.children.insert(rest);
        }
    }

    /// Whether the path itself is a member.
    #[must_use]
    pub fn contains(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.has(last),
            [first, rest @ ..] => self.below(first).is_some_and(|set| set.contains(rest)),
        }
    }

    /// Whether nothing is a member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.values().map(|node| usize::from(node.member) + node.children.len()).sum()
    }

    /// All members, those of a level before those below it: the order in which conflicts are listed.
    #[must_use]
    pub fn paths(&self) -> Vec<Vec<PathElement>> {
        let mut paths = Vec::new();
        self.collect(&mut Vec::new(), &mut paths);
        paths
    }

    fn collect(&self, prefix: &mut Vec<PathElement>, paths: &mut Vec<Vec<PathElement>>) {
        for (element, _) in self.nodes.iter().filter(|(_, node)| node.member) {
            prefix.push(element.clone());
            paths.push(prefix.clone());
            prefix.pop();
        }
        for (element, node) in &self.nodes {
            prefix.push(element.clone());
            node.children.collect(prefix, paths);
            prefix.pop();
        }
    }

    pub(crate) fn has(&self, element: &PathElement) -> bool {
        self.nodes.get(element).is_some_and(|node| node.member)
    }

    /// What is in the set below an element; `None` when nothing is.
    pub(crate) fn below(&self, element: &PathElement) -> Option<&Self> {
        self.nodes.get(element).map(|node| &node.children).filter(|set| !set.is_empty())
    }

    /// Puts a node in its place, unless it is empty.
    fn put(&mut self, element: &PathElement, node: Node) {
        if !node.is_empty() {
            self.nodes.insert(element.clone(), node);
        }
    }
}

impl std::fmt::Debug for FieldSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.paths().iter().map(|path| path_text(path))).finish()
    }
}

/// A path as kube-apiserver writes it in conflicts: `.spec.taints[key="a"].value`.
#[must_use]
pub fn path_text(path: &[PathElement]) -> String {
    path.iter().map(PathElement::to_string).collect()
}
