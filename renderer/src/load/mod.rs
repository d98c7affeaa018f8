//! Load: YAML text to a typed topology whose every field still knows its line.
//!
//! Three passes, so that one run shows all mistakes of a kind: syntax, then shape (unknown, missing and mistyped fields, all of them),
//! then types. Several files may declare one topology; their control planes are put together.

mod merge;
mod node;
mod shape;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use c5c3_api::topology::Topology;

use crate::finding::{Finding, Findings, Position};
use node::{Content, Node, Place, key_path};

pub use shape::topology_schema;

/// The text of one file and the name to call it by in messages.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name of the file.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Source {
    /// Takes text that is already in memory.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A finding (rule `file-readable`) that names the file, when it cannot be read or is not UTF-8.
    pub fn read(path: &Path) -> Result<Self, Findings> {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(Self { name, text }),
            Err(error) => Err(Findings(vec![Finding {
                rule: "file-readable",
                position: None,
                field: name,
                message: format!("cannot read this file: {error}"),
                hint: None,
            }])),
        }
    }
}

/// A typed topology and the places of its fields.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The topology as declared.
    pub topology: Topology,
    pub(crate) positions: Arc<Positions>,
}

impl Loaded {
    /// Where a field stands, or the nearest field around it that was written down.
    #[must_use]
    pub fn position(&self, field: &str) -> Option<Position> {
        self.positions.of(field)
    }
}

/// Places by field path.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Positions {
    files: Vec<String>,
    places: BTreeMap<String, Place>,
}

impl Positions {
    pub(crate) fn of(&self, field: &str) -> Option<Position> {
        let mut path = field;
        loop {
            if let Some(place) = self.places.get(path) {
                return self.position(*place);
            }
            let cut = path.rfind(['.', '[', ':'])?;
            path = path.get(..cut)?;
        }
    }

    fn of_key(&self, field: &str) -> Option<Position> {
        self.places.get(&key_path(field)).and_then(|place| self.position(*place)).or_else(|| self.of(field))
    }

    fn position(&self, place: Place) -> Option<Position> {
        let file = self.files.get(place.source)?.clone();
        Some(Position { file, line: place.line, column: place.column })
    }
}

/// Loads one topology from one or several files.
///
/// # Errors
/// Every finding of the first pass that has any: syntax (`yaml-syntax`), shape (`field-*`), types (`field-type`).
///
/// # Examples
/// ```
/// let text = "apiVersion: topology.c5c3.io/v1alpha1\nkind: Topology\nmetadata: {name: lab}\nspec: {controlPlane: []}\n";
/// let findings = c5c3_renderer::load(&[c5c3_renderer::Source::new("lab.yaml", text)]).unwrap_err();
/// assert!(findings.to_string().contains("lab.yaml:4:8: error[field-unknown]: spec.controlPlane:"));
/// ```
pub fn load(sources: &[Source]) -> Result<Loaded, Findings> {
    let documents = parse(sources)?;
    let files = sources.iter().map(|source| source.name.clone()).collect();
    let mut positions = Positions { files, places: BTreeMap::new() };
    let tree = merge::merge(documents, &positions)?;
    tree.index("", &mut positions.places);
    let value = tree.to_json();
    shape::check(&value, &positions).into_result()?;
    match serde_json::from_value(value) {
        Ok(topology) => Ok(Loaded { topology, positions: Arc::new(positions) }),
        Err(error) => Err(Findings(vec![Finding {
            rule: "field-type",
            position: positions.of(""),
            field: "(document)".to_owned(),
            message: error.to_string(),
            hint: None,
        }])),
    }
}

/// A topology is ten levels deep; a parser that followed a stranger's ten thousand would run out of stack.
const MAXIMUM_DEPTH: usize = 24;

/// Parses every document of every source; empty documents do not count.
fn parse(sources: &[Source]) -> Result<Vec<Node>, Findings> {
    let mut documents = Vec::new();
    let mut findings = Findings::default();
    for (index, source) in sources.iter().enumerate() {
        let options = serde_saphyr::options! {
            strict_booleans: true,
            leading_zero_numbers_as_strings: true,
            underscored_numbers_as_strings: true,
            budget: serde_saphyr::budget! { max_depth: MAXIMUM_DEPTH },
        };
        match serde_saphyr::from_multiple_with_options::<Node>(&source.text, options) {
            Ok(nodes) => documents.extend(nodes.into_iter().filter_map(|mut node| {
                node.set_source(index);
                (!matches!(node.content, Content::Null)).then_some(node)
            })),
            Err(error) => findings.0.push(syntax_finding(source, &error)),
        }
    }
    if findings.is_empty() && documents.is_empty() {
        findings.0.push(Finding {
            rule: "document-present",
            position: sources.first().map(|source| Position {
                file: source.name.clone(),
                line: 1,
                column: 1,
            }),
            field: "(document)".to_owned(),
            message: "there is no topology document".to_owned(),
            hint: Some("start with `apiVersion: topology.c5c3.io/v1alpha1`".to_owned()),
        });
    }
    findings.into_result()?;
    Ok(documents)
}

fn syntax_finding(source: &Source, error: &serde_saphyr::Error) -> Finding {
    let location = error.location();
    Finding {
        rule: "yaml-syntax",
        position: Some(Position {
            file: source.name.clone(),
            line: location.map_or(1, |location| location.line().max(1)),
            column: location.map_or(1, |location| location.column().max(1)),
        }),
        field: "(document)".to_owned(),
        message: first_line(&error.without_snippet().to_string()),
        hint: None,
    }
}

/// The parser draws the source below its message; the position says the same in one line.
fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}
